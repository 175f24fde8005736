//! Type checking of policies.

use ::celgate_policy::typecheck::type_check;

use crate::guard::guard;
use crate::raw::{self, Buffer};
use crate::status::celgate_status;

/// Checks a policy's expressions against the types that it is about. `json` and what is written to `out` are JSON (docs/abi.md,
/// "Type checking").
///
/// Returns `CELGATE_STATUS_OK` with the warnings; `CELGATE_STATUS_BUFFER_TOO_SMALL` when `out` is too small for `*out_len_out` bytes, to
/// be called again; `CELGATE_STATUS_INVALID` with a text in `out` when the JSON is not as it must be.
///
/// # Safety
/// `json` points to `json_len` readable bytes; `out` to `out_cap` writable bytes or is NULL; `out_len_out` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_type_check(
    json: *const u8,
    json_len: usize,
    out: *mut u8,
    out_cap: usize,
    out_len_out: *mut usize,
) -> celgate_status {
    guard(|| {
        // SAFETY: by this function's contract.
        let (json, mut out) = unsafe { (raw::bytes(json, json_len), Buffer::new(out, out_cap, out_len_out)) };
        out.answer(json.ok_or_else(|| "json is NULL".to_owned()).and_then(type_check))
    })
}
