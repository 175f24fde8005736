//! Handles of param sets.

use ::celgate_policy::ParamSet;

use crate::guard::guard;
use crate::raw::{self, Buffer};
use crate::status::celgate_status;

/// The params of one paramKind at one moment. Immutable; any thread.
pub struct celgate_params(pub(crate) ParamSet);

/// Makes a param set from a previous one (NULL: none) and a batch of changes (docs/abi.md, "Param batches"). What did not change is shared.
///
/// Returns `CELGATE_STATUS_OK` and a handle to free with `celgate_params_free`, or `CELGATE_STATUS_INVALID` with a text when the batch
/// is malformed.
///
/// # Safety
/// `previous` is NULL or live; `batch` points to `batch_len` readable bytes; `params_out` to one writable pointer; `text` to
/// `text_cap` writable bytes or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_params_new(
    previous: *const celgate_params,
    batch: *const u8,
    batch_len: usize,
    params_out: *mut *mut celgate_params,
    text: *mut u8,
    text_cap: usize,
    text_len_out: *mut usize,
) -> celgate_status {
    guard(|| {
        // SAFETY: by this function's contract.
        let (previous, batch, mut text) = unsafe {
            raw::give::<celgate_params>(params_out, None);
            (raw::handle(previous), raw::bytes(batch, batch_len), Buffer::new(text, text_cap, text_len_out))
        };
        let batch = batch.ok_or_else(|| "batch is NULL".to_owned());
        let made = batch.and_then(|batch| match previous {
            Some(previous) => previous.0.apply(batch),
            None => ParamSet::empty().apply(batch),
        });
        let made = made.map(celgate_params);
        // SAFETY: by this function's contract.
        unsafe { raw::finish(params_out, &mut text, made) }
    })
}

/// Frees a param set; NULL is a no-op.
///
/// # Safety
/// `params` came from `celgate_params_new`, no call on it is in progress, and it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_params_free(params: *mut celgate_params) {
    guard(|| {
        // SAFETY: by this function's contract.
        unsafe { raw::take(params) };
        celgate_status::Ok
    });
}
