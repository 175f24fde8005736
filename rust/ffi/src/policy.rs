//! Handles of compiled policies and bindings.

use std::sync::Arc;

use ::celgate_policy::{Binding, Policy};

use crate::guard::guard;
use crate::raw;
use crate::status::celgate_status;

/// A compiled ValidatingAdmissionPolicy. Immutable; any thread.
pub struct celgate_policy(pub(crate) Arc<Policy>);

/// A ValidatingAdmissionPolicyBinding with its selectors parsed. Immutable; any thread.
pub struct celgate_binding(pub(crate) Arc<Binding>);

/// Compiles a policy from the JSON of a ValidatingAdmissionPolicy (admissionregistration.k8s.io, any version; v1 if it names none).
///
/// Expressions that do not compile are not an error here: they become evaluation errors under the policy's failurePolicy.
/// Returns `CELGATE_STATUS_OK` and a handle to free with `celgate_policy_free`, or `CELGATE_STATUS_INVALID` with a text (what fits of
/// it; `*text_len_out` is its whole length) when the JSON is not a policy.
///
/// # Safety
/// `json` points to `json_len` readable bytes; `policy_out` to one writable pointer; `text` to `text_cap` writable bytes or is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_policy_new(
    json: *const u8,
    json_len: usize,
    policy_out: *mut *mut celgate_policy,
    text: *mut u8,
    text_cap: usize,
    text_len_out: *mut usize,
) -> celgate_status {
    let read = |json: &[u8]| Ok(celgate_policy(Arc::new(Policy::from_json(json)?)));
    // SAFETY: by this function's contract.
    guard(|| unsafe { raw::from_json(json, json_len, policy_out, text, text_cap, text_len_out, read) })
}

/// How often policies of this policy's name were evaluated in this process, once per request and distinct param; 0 for NULL.
///
/// # Safety
/// `policy` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_policy_evaluations(policy: *const celgate_policy) -> u64 {
    let mut evaluations = 0;
    guard(|| {
        // SAFETY: by this function's contract.
        if let Some(policy) = unsafe { raw::handle(policy) } {
            evaluations = policy.0.evaluations();
        }
        celgate_status::Ok
    });
    evaluations
}

/// Frees a policy; NULL is a no-op. Engines made from it keep what they need.
///
/// # Safety
/// `policy` came from `celgate_policy_new`, no call on it is in progress, and it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_policy_free(policy: *mut celgate_policy) {
    guard(|| {
        // SAFETY: by this function's contract.
        unsafe { raw::take(policy) };
        celgate_status::Ok
    });
}

/// Reads a binding from the JSON of a ValidatingAdmissionPolicyBinding (admissionregistration.k8s.io, any version; v1 if it names none).
///
/// Selectors that do not parse are not an error here: they become configuration errors where upstream reports them.
/// Returns as `celgate_policy_new`.
///
/// # Safety
/// As `celgate_policy_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_binding_new(
    json: *const u8,
    json_len: usize,
    binding_out: *mut *mut celgate_binding,
    text: *mut u8,
    text_cap: usize,
    text_len_out: *mut usize,
) -> celgate_status {
    let read = |json: &[u8]| Ok(celgate_binding(Arc::new(Binding::from_json(json)?)));
    // SAFETY: by this function's contract.
    guard(|| unsafe { raw::from_json(json, json_len, binding_out, text, text_cap, text_len_out, read) })
}

/// Frees a binding; NULL is a no-op. Engines made from it keep what they need.
///
/// # Safety
/// `binding` came from `celgate_binding_new`, no call on it is in progress, and it is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celgate_binding_free(binding: *mut celgate_binding) {
    guard(|| {
        // SAFETY: by this function's contract.
        unsafe { raw::take(binding) };
        celgate_status::Ok
    });
}
