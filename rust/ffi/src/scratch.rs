//! A request's working memory.

use ::celgate_policy::{ParamSet, Scratch};

use crate::guard::guard;
use crate::plan::ParamRefs;
use crate::raw::{self, Buffer};
use crate::status::celgate_status;

/// One request's arena, answers and results; reused from request to request. Used by one call at a time.
pub struct celgate_scratch {
    pub(crate) scratch: Scratch,
    parked: Option<celgate_status>,
    // Always empty between calls: kept for its capacity, so that a call allocates nothing.
    params: ParamRefs<'static>,
}

impl celgate_scratch {
    pub(crate) fn park(&mut self, status: celgate_status) -> celgate_status {
        self.parked = Some(status);
        celgate_status::BufferTooSmall
    }

    /// Collects the call's param sets in the kept vector.
    pub(crate) fn params<'a>(&mut self, sets: impl Iterator<Item = Option<&'a ParamSet>>) -> ParamRefs<'a> {
        let mut params: ParamRefs<'a> = std::mem::take(&mut self.params);
        params.extend(sets);
        params
    }

    /// Gives the vector back, emptied.
    pub(crate) fn recycle(&mut self, mut params: ParamRefs<'_>) {
        params.clear();
        // An empty vector has no element of the shorter lifetime; this collect reuses its allocation.
        self.params = params.into_iter().map(|_| None).collect();
    }
}

/// Makes a scratch, to be freed with `celgate_scratch_free`. Returns `CELGATE_STATUS_OK`.
///
/// # Safety
/// `scratch_out` points to one writable pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_scratch_new(scratch_out: *mut *mut celgate_scratch) -> celgate_status {
    guard(|| {
        let scratch = celgate_scratch { scratch: Scratch::new(), parked: None, params: Vec::new() };
        // SAFETY: by this function's contract.
        unsafe { raw::give(scratch_out, Some(scratch)) };
        celgate_status::Ok
    })
}

/// Ends the scratch's request, decided or abandoned, so that another can begin.
///
/// # Safety
/// `scratch` is NULL or live and used by no other call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_scratch_reset(scratch: *mut celgate_scratch) {
    guard(|| {
        // SAFETY: by this function's contract.
        if let Some(scratch) = unsafe { raw::exclusive(scratch) } {
            scratch.scratch.reset();
            scratch.parked = None;
        }
        celgate_status::Ok
    });
}

/// Copies the bytes that did not fit in the last `celgate_plan_evaluate`, and returns the status that stands behind them.
///
/// Returns `CELGATE_STATUS_BUFFER_TOO_SMALL` again when they still do not fit, `CELGATE_STATUS_INVALID` when nothing is parked.
///
/// # Safety
/// `scratch` is live and used by no other call; `out` points to `out_cap` writable bytes; `out_len_out` is writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_scratch_result(
    scratch: *mut celgate_scratch,
    out: *mut u8,
    out_cap: usize,
    out_len_out: *mut usize,
) -> celgate_status {
    guard(|| {
        // SAFETY: by this function's contract.
        let (scratch, mut out) = unsafe { (raw::exclusive(scratch), Buffer::new(out, out_cap, out_len_out)) };
        match scratch.map(|scratch| (scratch.parked, scratch)) {
            Some((Some(status), scratch)) => {
                if !out.write(scratch.scratch.output()) {
                    return celgate_status::BufferTooSmall;
                }
                scratch.parked = None;
                status
            }
            _ => celgate_status::Invalid,
        }
    })
}

/// Frees a scratch; NULL is a no-op.
///
/// # Safety
/// `scratch` came from `celgate_scratch_new`, no call on it is in progress, and it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_scratch_free(scratch: *mut celgate_scratch) {
    guard(|| {
        // SAFETY: by this function's contract.
        unsafe { raw::take(scratch) };
        celgate_status::Ok
    });
}
