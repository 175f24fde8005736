//! Which webhooks a request calls, and what goes wrong on the way (upstream's `webhook/generic`, `webhook/matchconditions`).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod common;

use std::sync::Arc;

use celgate_policy::{Engine, Outcome, Plan, Webhook};
use celgate_testkit::record::Root;
use celgate_testkit::request::Request;
use common::{Run, pod, pod_key};
use serde_json::{Value, json};

/// A webhook for all pods, as the API stores it, but for these fields.
fn webhook(fields: Value) -> Value {
    let mut webhook = json!({
        "name": "w.example.com", "namespaceSelector": {}, "objectSelector": {}, "matchPolicy": "Equivalent", "failurePolicy": "Fail",
        "clientConfig": {"url": "https://example.com"}, "sideEffects": "None", "timeoutSeconds": 10, "admissionReviewVersions": ["v1"],
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"], "scope": "*"}]
    });
    for (key, value) in fields.as_object().unwrap() {
        webhook[key] = value.clone();
    }
    webhook
}

fn condition(expression: &str) -> Value {
    json!({"matchConditions": [{"name": "c", "expression": expression}]})
}

fn plan_for(webhooks: &[Value], key: &Value) -> Plan {
    let webhooks = webhooks.iter().map(|webhook| Arc::new(Webhook::from_json(webhook.to_string().as_bytes()).unwrap()));
    Plan::new(Arc::new(Engine::of_webhooks(webhooks.collect())), key.to_string().as_bytes()).unwrap()
}

fn decide(webhooks: &[Value], request: &Request) -> Vec<String> {
    let mut run = Run::new(plan_for(webhooks, &pod_key()), request);
    assert_eq!(run.step(&[]), Outcome::Done, "{}", run.output());
    run.lines()
}

#[test]
fn those_that_match_are_called_in_order() {
    let others =
        json!({"rules": [{"apiGroups": ["apps"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]});
    let webhooks = [webhook(json!({})), webhook(others), webhook(json!({"rules": []})), webhook(json!({}))];
    assert_eq!(decide(&webhooks, &pod()), ["call 0/- match 0", "call 3/- match 0"]);
}

#[test]
fn without_a_match_the_plan_is_empty() {
    let others =
        json!({"rules": [{"apiGroups": ["apps"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]});
    let info: Value = serde_json::from_str(&plan_for(&[webhook(others)], &pod_key()).info_json()).unwrap();
    assert_eq!(info["empty"], json!(true));
    assert_eq!(info.get("matches"), None);
}

#[test]
fn a_plan_tells_what_it_calls_for() {
    let mut key = pod_key();
    key["equivalents"] = json!([{"resource": {"group": "apps", "version": "v1", "resource": "deployments"},
        "kind": {"group": "apps", "version": "v1", "kind": "Deployment"}}]);
    let others =
        json!({"rules": [{"apiGroups": ["apps"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]});
    let conditioned = condition("object.a == 'x' && request.kind.kind == 'Deployment'");
    let mut both = others.clone();
    both["matchConditions"] = conditioned["matchConditions"].clone();
    let info: Value = serde_json::from_str(&plan_for(&[webhook(both)], &key).info_json()).unwrap();
    let kind = json!({"group": "apps", "version": "v1", "kind": "Deployment"});
    assert_eq!(
        info,
        json!({"empty": false, "versions": [kind], "params": [],
               "needs": {"request": true, "object": true, "oldObject": true, "namespaceObject": false, "namespaceLabels": false,
                         "objectLabels": false},
               "projections": {"object": {"fields": {"a": true}}, "oldObject": {}},
               "matches": [{"resource": {"group": "apps", "version": "v1", "resource": "deployments"}, "kind": kind}]})
    );
    // Nothing is converted for webhooks that read nothing: whoever calls them does it.
    let info: Value = serde_json::from_str(&plan_for(&[webhook(others.clone())], &key).info_json()).unwrap();
    assert_eq!(info["needs"]["object"], json!(false));
    let mut exact = others;
    exact["matchPolicy"] = json!("Exact");
    let info: Value = serde_json::from_str(&plan_for(&[webhook(exact)], &key).info_json()).unwrap();
    assert_eq!(info["empty"], json!(true));
}

#[test]
fn an_unknown_kind_is_an_error() {
    let mut key = pod_key();
    key["equivalents"] =
        json!([{"resource": {"group": "apps", "version": "v1", "resource": "deployments"}, "kind": null}]);
    let others =
        json!({"rules": [{"apiGroups": ["apps"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]});
    let mut run = Run::new(plan_for(&[webhook(others), webhook(json!({}))], &key), &pod());
    assert_eq!(run.step(&[]), Outcome::Done);
    assert_eq!(run.lines(), ["configuration 0/-: unable to convert to apps/v1, Resource=deployments: unknown kind"]);
}

#[test]
fn conditions_decide() {
    let webhooks = |policy: &str, expressions: &[&str]| {
        let conditions: Vec<Value> = expressions.iter().map(|e| json!({"name": "c", "expression": e})).collect();
        [webhook(json!({"matchConditions": conditions, "failurePolicy": policy})), webhook(json!({}))]
    };
    let called = "call 1/- match 0";
    assert_eq!(
        decide(&webhooks("Fail", &["true", "object.spec.hostNetwork == true"]), &pod()),
        ["call 0/- match 0", called]
    );
    assert_eq!(
        decide(&webhooks("Fail", &["object.none == 1", "false"]), &pod()),
        ["conditions 0/- excluded, 1 errors, observed 1", called]
    );
    assert_eq!(
        decide(&webhooks("Ignore", &["object.none == 1", "true"]), &pod()),
        ["conditions 0/- failed and ignored, 1 errors, observed 1", called]
    );
    // An error under Fail ends it: the second webhook is not looked at.
    assert_eq!(
        decide(&webhooks("Fail", &["object.none == 1"]), &pod()),
        [
            "conditions 0/- failed, 1 errors, observed 1",
            "decision 0/- expression 0 deny error : expression 'object.none == 1' resulted in error: no such key: none"
        ]
    );
}

#[test]
fn conditions_see_no_variables_params_or_namespace() {
    for (expression, name) in [("variables.a", "variables"), ("params.a == 1", "params")] {
        let report = decide(&[webhook(condition(expression))], &pod());
        assert!(report[1].contains(&format!("undeclared reference to '{name}'")), "{report:?}");
    }
    assert_eq!(decide(&[webhook(condition("namespaceObject == null"))], &pod()), ["call 0/- match 0"]);
}

#[test]
fn conditions_ask_the_authorizer() {
    let expression = "authorizer.group('').resource('pods').namespace('n').check('get').allowed()";
    let mut run = Run::new(plan_for(&[webhook(condition(expression))], &pod_key()), &pod());
    assert_eq!(run.step(&[]), Outcome::NeedsInput);
    let answer = br#"{"decision": "allow", "reason": "", "error": null}"#.to_vec();
    let questions: Value = serde_json::from_str(&run.output()).unwrap();
    let id = questions[0]["id"].as_u64().unwrap() as u32;
    assert_eq!(run.step(&[(id, 0, answer)]), Outcome::Done);
    assert_eq!(run.lines(), ["call 0/- match 0"]);
}

#[test]
fn a_failed_conversion_matters_only_to_conditions() {
    let mut request = pod();
    request.versions = vec![(Root::Error("cannot".into()), Root::Error("cannot".into()))];
    let webhooks = [webhook(json!({})), webhook(condition("true")), webhook(json!({}))];
    assert_eq!(decide(&webhooks, &request), ["call 0/- match 0", "not converted 1/- match 0"]);
}

#[test]
fn selectors_and_their_errors() {
    let namespace = |selector: Value| webhook(json!({"namespaceSelector": selector}));
    let object = |selector: Value| webhook(json!({"objectSelector": selector}));
    let called = "call 0/- match 0";
    assert_eq!(decide(&[namespace(json!({"matchLabels": {"env": "test"}}))], &pod()), [called]);
    assert!(decide(&[namespace(json!({"matchLabels": {"env": "prod"}}))], &pod()).is_empty());
    assert_eq!(decide(&[object(json!({"matchLabels": {"app": "web"}}))], &pod()), [called]);
    assert!(decide(&[object(json!({"matchLabels": {"app": "db"}}))], &pod()).is_empty());
    assert!(decide(&[namespace(Value::Null)], &pod()).is_empty(), "no selector selects nothing");
    assert!(decide(&[object(Value::Null)], &pod()).is_empty());

    let wrong = json!({"matchExpressions": [{"key": "a", "operator": "Like"}]});
    let error = r#"configuration 0/-: "Like" is not a valid label selector operator"#;
    assert_eq!(decide(&[namespace(wrong.clone()), webhook(json!({}))], &pod()), [error]);
    assert_eq!(decide(&[object(wrong.clone())], &pod()), [error]);
    let unmatched = json!({"namespaceSelector": wrong, "rules": [{"apiGroups": ["x"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]});
    assert!(decide(&[webhook(unmatched)], &pod()).is_empty());

    let mut request = pod();
    request.namespace_labels = Root::Error("namespaces \"default\" not found".into());
    assert_eq!(
        decide(&[webhook(json!({})), namespace(json!({"matchLabels": {"env": "test"}}))], &request),
        [called, "namespace 1/-"]
    );
}

#[test]
fn what_upstream_makes_of_nil() {
    let mut bare = webhook(json!({}));
    bare.as_object_mut().unwrap().remove("matchPolicy");
    let mut key = pod_key();
    key["equivalents"] = json!([{"resource": {"group": "", "version": "v2", "resource": "pods"}, "kind": {"group": "", "version": "v2", "kind": "Pod"}}]);
    bare["rules"][0]["apiVersions"] = json!(["v2"]);
    let info: Value = serde_json::from_str(&plan_for(&[bare], &key).info_json()).unwrap();
    assert_eq!(info["empty"], json!(true), "no matchPolicy is Exact");
}

#[test]
fn what_is_no_webhook_is_refused() {
    let refused = |json: &str| Webhook::from_json(json.as_bytes()).unwrap_err();
    assert_eq!(
        refused(r#"{"name": "w", "rules": [{"operations": 1}]}"#),
        r#"ValidatingWebhook "w": rules[0].operations: expected array, got number"#
    );
    assert_eq!(refused("[]"), "ValidatingWebhook: expected object, got array");
}

#[test]
fn nothing_is_kept_between_requests() {
    let plan = plan_for(&[webhook(condition("object.metadata.name == 'web'"))], &pod_key());
    let mut run = Run::new(plan, &pod());
    assert_eq!(run.finish(), ["call 0/- match 0"]);
    run.scratch.reset();
    let mut other = pod();
    other.versions = vec![(Root::Typed(json!({"metadata": {"name": "db"}})), Root::Plain(Value::Null))];
    run.request = other.encode();
    assert_eq!(run.finish(), ["conditions 0/- excluded, 0 errors, observed 1"]);
}

#[test]
fn long_conditions_yield() {
    let tens = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
    let nested =
        ["a", "b", "c", "d", "e"].iter().rfold("true".to_owned(), |inner, name| format!("{tens}.all({name}, {inner})"));
    let webhooks: Vec<Value> = (0..9).map(|_| webhook(condition(&nested))).collect();
    let mut run = Run::new(plan_for(&webhooks, &pod_key()), &pod());
    assert_eq!(run.step(&[]), Outcome::Yield);
    let called: Vec<String> = (0..9).map(|i| format!("call {i}/- match 0")).collect();
    assert_eq!(run.finish(), called);
}
