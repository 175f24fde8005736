//! The C ABI with one hostile part: the first byte says which, the others are that part's bytes.
#![expect(unsafe_code, reason = "the C ABI is called as C calls it")]

use std::ptr::{null, null_mut};

use celgate::celgate_status::{self, Invalid, NeedsInput, Ok as Done, Panic, Yield};
use celgate::{
    CELGATE_HOOK_NAMESPACED_PARAMS, celgate_binding, celgate_binding_free, celgate_binding_new, celgate_engine,
    celgate_engine_free, celgate_engine_new, celgate_engine_of_webhooks, celgate_hook, celgate_params,
    celgate_params_free, celgate_params_new, celgate_plan, celgate_plan_evaluate, celgate_plan_free, celgate_plan_new,
    celgate_policy, celgate_policy_free, celgate_policy_new, celgate_result, celgate_scratch_free, celgate_scratch_new,
    celgate_webhook, celgate_webhook_free, celgate_webhook_new,
};
use celgate_testkit::request::Request;
use celgate_testkit::wire;
use serde_json::json;

/// The parts of a call, in the order of the first byte's values.
pub const PARTS: [&str; 7] = ["policy", "binding", "batch", "key", "request", "answers", "webhook"];

/// What a panic in the core becomes; the fuzzer sees the panic itself.
const PANICKED: &[u8] = b"evaluation panicked";

/// A policy that uses most of what there is: params, authorizer, variables, all kinds of expressions.
const POLICY: &str = r#"{"metadata": {"name": "p"}, "spec": {"failurePolicy": "Fail",
    "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
    "matchConstraints": {"resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}],
        "namespaceSelector": {"matchExpressions": [{"key": "env", "operator": "Exists"}]}},
    "matchConditions": [{"name": "c", "expression": "object.metadata.name != 'skipped'"}],
    "variables": [{"name": "n", "expression": "params.data.size()"}],
    "validations": [{"expression": "variables.n > 1", "messageExpression": "'n is ' + string(variables.n)"},
        {"expression": "authorizer.group('').resource('pods').check('create').allowed()"}],
    "auditAnnotations": [{"key": "k", "valueExpression": "namespaceObject.metadata.name + object.spec.containers[0].image"}]}}"#;
const BINDING: &str = r#"{"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny", "Audit"],
    "paramRef": {"selector": {}, "parameterNotFoundAction": "Deny"}}}"#;
/// A webhook that asks the authorizer.
const WEBHOOK: &str = r#"{"name": "w", "failurePolicy": "Fail", "matchPolicy": "Equivalent", "namespaceSelector": {"matchExpressions": [{"key": "env", "operator": "Exists"}]},
    "objectSelector": {"matchLabels": {"app": "web"}}, "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"], "scope": "*"}],
    "matchConditions": [{"name": "k", "expression": "request.kind.kind == 'Pod'"}, {"name": "c", "expression": "object.spec.containers.all(c, c.image != '')"},
        {"name": "a", "expression": "authorizer.group('').resource('pods').check('create').allowed()"}]}"#;
const KEY: &str = r#"{"resource": {"group": "", "version": "v1", "resource": "pods"}, "subresource": "", "operation": "CREATE",
    "namespaced": true, "kind": {"group": "", "version": "v1", "kind": "Pod"}, "equivalents": []}"#;

/// No part of a call can bring down the process: it is refused with a text, or the request is decided.
pub fn run(data: &[u8]) {
    let Some((part, bytes)) = data.split_first() else { return };
    let object = json!({"kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {"containers": [{"image": "i"}]}});
    let parts: [Vec<u8>; 7] = [
        POLICY.into(),
        BINDING.into(),
        wire::batch(&[("default", "a", Some(json!({"data": {"k": "v"}}))), ("default", "b", Some(json!({})))]),
        KEY.into(),
        Request::create(object).encode(),
        wire::answers(&[(0, 0, br#"{"decision":"noOpinion"}"#.to_vec())]),
        WEBHOOK.into(),
    ];
    let mut parts = parts.each_ref().map(Vec::as_slice);
    let hostile = usize::from(*part) % parts.len();
    parts[hostile] = bytes;
    let [policy, binding, batch, key, request, answers, webhook] = parts;
    // SAFETY: each pointer comes from a live slice or buffer; each handle is NULL or live, and freed once, after its last use.
    unsafe {
        let policy = make(|out, text, cap, len| celgate_policy_new(policy.as_ptr(), policy.len(), out, text, cap, len));
        let binding =
            make(|out, text, cap, len| celgate_binding_new(binding.as_ptr(), binding.len(), out, text, cap, len));
        let params =
            make(|out, text, cap, len| celgate_params_new(null(), batch.as_ptr(), batch.len(), out, text, cap, len));
        let webhook =
            make(|out, text, cap, len| celgate_webhook_new(webhook.as_ptr(), webhook.len(), out, text, cap, len));
        for engine in [engine(policy, binding), engine_of_webhooks(webhook)] {
            let plan =
                make(|out, text, cap, len| celgate_plan_new(engine, key.as_ptr(), key.len(), out, text, cap, len));
            if !plan.is_null() {
                decide(plan, request, params, answers);
            }
            celgate_plan_free(plan);
            celgate_engine_free(engine);
        }
        celgate_webhook_free(webhook);
        celgate_params_free(params);
        celgate_binding_free(binding);
        celgate_policy_free(policy);
    }
}

/// Calls what makes a handle: it gives one, or says why not.
fn make<T>(new: impl FnOnce(*mut *mut T, *mut u8, usize, *mut usize) -> celgate_status) -> *mut T {
    let (mut handle, mut text, mut len) = (null_mut(), vec![0_u8; 1 << 16], 0_usize);
    let status = new(&raw mut handle, text.as_mut_ptr(), text.len(), &raw mut len);
    assert!(status != Panic, "panicked");
    assert_eq!(status == Done, !handle.is_null(), "handle and status disagree");
    assert!(status != Invalid || len > 0, "refused without a text");
    handle
}

/// # Safety
/// The handles are NULL or live.
unsafe fn engine(policy: *const celgate_policy, binding: *const celgate_binding) -> *mut celgate_engine {
    let hook = celgate_hook {
        policy,
        first_binding: 0,
        bindings: 1,
        params: 0,
        error_offset: 0,
        error_len: 0,
        flags: CELGATE_HOOK_NAMESPACED_PARAMS,
    };
    let bindings = [binding];
    make(|out, text, cap, len| {
        // SAFETY: by this function's contract; the arrays are live.
        unsafe { celgate_engine_new(&raw const hook, 1, bindings.as_ptr(), 1, null(), 0, out, text, cap, len) }
    })
}

/// # Safety
/// The handle is NULL or live.
unsafe fn engine_of_webhooks(webhook: *const celgate_webhook) -> *mut celgate_engine {
    let webhooks = [webhook];
    make(|out, text, cap, len| {
        // SAFETY: by this function's contract; the array is live.
        unsafe { celgate_engine_of_webhooks(webhooks.as_ptr(), 1, out, text, cap, len) }
    })
}

/// Calls until the request is decided or refused; the first questions get the answers.
///
/// # Safety
/// The handles are live, or NULL in the case of `params`.
unsafe fn decide(plan: *const celgate_plan, request: &[u8], params: *const celgate_params, answers: &[u8]) {
    let mut scratch = null_mut();
    // SAFETY: the pointer is to a local.
    unsafe { celgate_scratch_new(&raw mut scratch) };
    let mut out = vec![0_u8; 1 << 16];
    let mut given: &[u8] = &[];
    for _ in 0..8 {
        let mut result = celgate_result::default();
        // SAFETY: by this function's contract; the scratch is live and the slices are.
        let status = unsafe {
            celgate_plan_evaluate(
                plan,
                scratch,
                request.as_ptr(),
                request.len(),
                &raw const params,
                1,
                given.as_ptr(),
                given.len(),
                out.as_mut_ptr(),
                out.len(),
                &raw mut result,
            )
        };
        assert!(status != Panic, "panicked");
        let written = out.get(..result.len as usize).unwrap_or_default();
        assert!(!written.windows(PANICKED.len()).any(|part| part == PANICKED), "an evaluation panicked");
        match status {
            NeedsInput => given = answers,
            Yield => given = &[],
            _ => break,
        }
    }
    // SAFETY: made above and not used again.
    unsafe { celgate_scratch_free(scratch) };
}
