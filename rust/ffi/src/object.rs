//! What is read from an object's JSON (`CELGATE_EXPRESSIONS`), for tools and tests.

use ::celgate_policy::api::read::show;

use crate::guard::guard;
use crate::raw::{self, Buffer};
use crate::status::celgate_status;

/// Reads a ValidatingAdmissionPolicy or its binding, of any version of the API, and shows what was read as JSON (docs/abi.md, "Objects").
///
/// Returns `CELGATE_STATUS_OK` with it; `CELGATE_STATUS_BUFFER_TOO_SMALL` when `out` is too small for `*out_len_out` bytes, to be called
/// again; `CELGATE_STATUS_INVALID` with a text in `out` (what fits of it; `*out_len_out` is its whole length) when the JSON is no such object.
///
/// # Safety
/// `json` points to `json_len` readable bytes; `out` to `out_cap` writable bytes or is NULL; `out_len_out` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_object_read(
    json: *const u8,
    json_len: usize,
    out: *mut u8,
    out_cap: usize,
    out_len_out: *mut usize,
) -> celgate_status {
    guard(|| {
        // SAFETY: by this function's contract.
        let (json, mut out) = unsafe { (raw::bytes(json, json_len), Buffer::new(out, out_cap, out_len_out)) };
        out.answer(json.ok_or_else(|| "json is NULL".to_owned()).and_then(show))
    })
}
