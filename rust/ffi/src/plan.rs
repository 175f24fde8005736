//! Plans, and the one call per request.

use std::sync::Arc;

use ::celgate_policy::{Outcome, ParamSet, Plan};

use crate::engine::celgate_engine;
use crate::guard::guard;
use crate::params::celgate_params;
use crate::raw::{self, Buffer};
use crate::scratch::celgate_scratch;
use crate::status::celgate_status;

/// The part of an engine that can match one kind of request. Immutable; any thread.
pub struct celgate_plan(Plan);

const _: () = {
    const fn assert_shared<T: Send + Sync>() {}
    assert_shared::<celgate_plan>();
    assert_shared::<celgate_engine>();
    assert_shared::<celgate_params>();
    assert_shared::<crate::policy::celgate_policy>();
    assert_shared::<crate::policy::celgate_binding>();
    assert_shared::<crate::webhook::celgate_webhook>();
};

/// What one evaluation gave besides its status.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct celgate_result {
    /// Bytes of the report, questions or reason.
    pub len: u64,
    /// Policies evaluated in this call, counted once per distinct param.
    pub evaluations: u64,
}

/// Makes the plan for one kind of request. `key` and what is written to `info` are JSON (docs/abi.md, "Plan").
///
/// Returns `CELGATE_STATUS_OK` with a handle to free with `celgate_plan_free`; `CELGATE_STATUS_BUFFER_TOO_SMALL` without a handle when
/// `info` is too small for `*info_len_out` bytes; `CELGATE_STATUS_INVALID` with a text in `info` when the key is malformed.
///
/// # Safety
/// `engine` is live; `key` points to `key_len` readable bytes; `plan_out` to one writable pointer; `info` to `info_cap` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_plan_new(
    engine: *const celgate_engine,
    key: *const u8,
    key_len: usize,
    plan_out: *mut *mut celgate_plan,
    info: *mut u8,
    info_cap: usize,
    info_len_out: *mut usize,
) -> celgate_status {
    guard(|| {
        // SAFETY: by this function's contract.
        let (engine, key, mut info) = unsafe {
            raw::give::<celgate_plan>(plan_out, None);
            (raw::handle(engine), raw::bytes(key, key_len), Buffer::new(info, info_cap, info_len_out))
        };
        let made = match (engine, key) {
            (Some(engine), Some(key)) => Plan::new(Arc::clone(&engine.0), key),
            _ => Err("engine or key is NULL".to_owned()),
        };
        match made {
            Ok(plan) => {
                if !info.write(plan.info_json().as_bytes()) {
                    return celgate_status::BufferTooSmall;
                }
                // SAFETY: by this function's contract.
                unsafe { raw::give(plan_out, Some(celgate_plan(plan))) };
                celgate_status::Ok
            }
            Err(reason) => {
                info.write(reason.as_bytes());
                celgate_status::Invalid
            }
        }
    })
}

/// Frees a plan; NULL is a no-op.
///
/// # Safety
/// `plan` came from `celgate_plan_new`, no call on it is in progress, and it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_plan_free(plan: *mut celgate_plan) {
    guard(|| {
        // SAFETY: by this function's contract.
        unsafe { raw::take(plan) };
        celgate_status::Ok
    });
}

/// Decides one request, or goes on deciding it with answers (docs/abi.md, "Evaluate"). Statuses: all but none.
///
/// `params[i]` is the current param set of number i, NULL when it has not synced. `result_out->len` is the length of what belongs in
/// `out`, also when it did not fit.
///
/// # Safety
/// `plan` is live; `scratch` is live and used by no other call; `request` and `answers` point to as many readable bytes as said;
/// `params` to `params_len` pointers, each NULL or live; `out` to `out_cap` writable bytes; `result_out` to one writable result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_plan_evaluate(
    plan: *const celgate_plan,
    scratch: *mut celgate_scratch,
    request: *const u8,
    request_len: usize,
    params: *const *const celgate_params,
    params_len: usize,
    answers: *const u8,
    answers_len: usize,
    out: *mut u8,
    out_cap: usize,
    result_out: *mut celgate_result,
) -> celgate_status {
    guard(|| {
        let mut len = 0_usize;
        // SAFETY: by this function's contract; `len` outlives the buffer.
        let (plan, scratch, request, params, answers, mut out) = unsafe {
            raw::put(result_out, celgate_result::default());
            (
                raw::handle(plan),
                raw::exclusive(scratch),
                raw::bytes(request, request_len),
                raw::slice(params, params_len),
                raw::bytes(answers, answers_len),
                Buffer::new(out, out_cap, &raw mut len),
            )
        };
        let (Some(plan), Some(scratch), Some(request), Some(params), Some(answers)) =
            (plan, scratch, request, params, answers)
        else {
            return celgate_status::Invalid;
        };
        // SAFETY: each is NULL or live by this function's contract, for the whole call.
        let params = scratch.params(params.iter().map(|&set| unsafe { raw::handle(set) }.map(|set| &set.0)));
        let status = match plan.0.evaluate(&mut scratch.scratch, request, &params, answers) {
            Ok(Outcome::Done) => celgate_status::Ok,
            Ok(Outcome::NeedsInput) => celgate_status::NeedsInput,
            Ok(Outcome::Yield) => celgate_status::Yield,
            Err(reason) => {
                let reason = reason.to_string();
                out.write(reason.as_bytes());
                // SAFETY: by this function's contract.
                unsafe { raw::put(result_out, celgate_result { len: len as u64, evaluations: 0 }) };
                return celgate_status::Invalid;
            }
        };
        scratch.recycle(params);
        let fits = out.write(scratch.scratch.output());
        let result = celgate_result { len: len as u64, evaluations: scratch.scratch.evaluations() };
        // SAFETY: by this function's contract.
        unsafe { raw::put(result_out, result) };
        if fits { status } else { scratch.park(status) }
    })
}

/// The params of one call, by number.
pub(crate) type ParamRefs<'a> = Vec<Option<&'a ParamSet>>;
