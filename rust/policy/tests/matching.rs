//! Which policies and bindings a request meets, and what goes wrong on the way (upstream's `policy/matching`, `CollectParams`).
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod common;

use celgate_policy::Outcome;
use celgate_testkit::record::{Root, encode};
use common::{Run, Snapshot, pod, pod_key, validation};
use serde_json::json;

const DENIED: &str = "decision 0/0 expression 0 deny denied Invalid: failed expression: false";

#[test]
fn a_denial_and_silence() {
    assert_eq!(Snapshot::of(validation("false")).decide(&pod()), [DENIED]);
    let mut run = Run::new(Snapshot::of(validation("true")).plan(), &pod());
    assert_eq!(run.step(&[]), Outcome::Done);
    assert!(run.scratch.output().is_empty());
    assert_eq!(run.scratch.evaluations(), 1);
}

#[test]
fn plans_tell_what_they_need() {
    let empty = Snapshot::default().plan();
    assert!(empty.info_json().starts_with(r#"{"empty":true"#));
    let spec = json!({"matchConstraints": {"namespaceSelector": {"matchLabels": {"a": "b"}}, "resourceRules": [
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}]},
        "validations": [{"expression": "object.x == oldObject.x"}, {"expression": "object.list.all(e, has(e.y))"}]});
    let info: serde_json::Value = serde_json::from_str(&Snapshot::of(spec).plan().info_json()).unwrap();
    assert_eq!(
        info,
        json!({"empty": false, "versions": [{"group": "", "version": "v1", "kind": "Pod"}], "params": [],
               "needs": {"request": false, "object": true, "oldObject": true, "namespaceObject": false, "namespaceLabels": true,
                         "objectLabels": false},
               "projections": {"object": {"fields": {"x": true, "list": {"elements": {"fields": {"y": {}}}}}},
                               "oldObject": {"fields": {"x": true}}}})
    );
    let other = json!({"matchConstraints": {"resourceRules": [
        {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["*"]}]}, "validations": [{"expression": "false"}]});
    assert!(Snapshot::of(other).plan().info_json().starts_with(r#"{"empty":true"#));
}

#[test]
fn selectors_of_policies_and_bindings_intersect() {
    let constraints =
        |selector: serde_json::Value| json!({"matchResources": {"objectSelector": {"matchLabels": selector}}});
    let bindings = vec![constraints(json!({"app": "web"})), constraints(json!({"app": "db"})), json!({})];
    let report = Snapshot::default().policy("p", validation("false"), bindings).decide(&pod());
    assert_eq!(report, [DENIED, &DENIED.replace("0/0", "0/2")]);
}

#[test]
fn an_old_object_can_match_too() {
    let mut request = pod();
    request.labels = Root::Plain(json!({}));
    let bound = |request: &_| {
        let bindings = vec![json!({"matchResources": {"objectSelector": {"matchLabels": {"app": "web"}}}})];
        Snapshot::default().policy("p", validation("false"), bindings).decide(request)
    };
    assert!(bound(&request).is_empty());
    request.old_labels = Root::Plain(json!({"app": "web"}));
    assert_eq!(bound(&request), [DENIED]);
}

#[test]
fn namespace_selectors_ask_only_when_they_decide() {
    let spec = |resource: &str| {
        json!({"matchConstraints": {"namespaceSelector": {"matchLabels": {"env": "test"}}, "resourceRules": [
            {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": [resource]}]},
            "validations": [{"expression": "false"}]})
    };
    let mut request = pod();
    assert_eq!(Snapshot::of(spec("pods")).decide(&request), [DENIED]);
    request.namespace_labels = Root::Plain(json!({"env": "prod"}));
    assert!(Snapshot::of(spec("pods")).decide(&request).is_empty());
    request.namespace_labels = Root::Error("namespaces \"default\" not found".into());
    assert_eq!(
        Snapshot::of(spec("pods")).decide(&request),
        ["configuration 0/-: failed to configure policy: namespaces \"default\" not found"]
    );
    request.namespace_labels = Root::Absent;
    assert!(Snapshot::of(spec("services")).decide(&request).is_empty());
    let mut run = Run::new(Snapshot::of(spec("pods")).plan(), &request);
    assert_eq!(run.step(&[]), Outcome::NeedsInput);
    assert_eq!(run.output(), r#"[{"id":0,"kind":"namespace"}]"#);
    let namespace =
        encode(&[Root::Typed(json!({"metadata": {"name": "default"}})), Root::Plain(json!({"env": "test"}))]);
    assert_eq!(run.step(&[(0, 0, namespace)]), Outcome::Done);
    assert_eq!(run.lines(), [DENIED]);
}

#[test]
fn a_failing_look_up_of_the_namespace_ends_the_dispatch() {
    let mut request = pod();
    request.namespace = Root::Absent;
    let snapshot = Snapshot::default().policy("p", validation("false"), vec![json!({})]).policy(
        "q",
        validation("false"),
        vec![json!({})],
    );
    let mut run = Run::new(snapshot.plan(), &request);
    assert_eq!(run.step(&[]), Outcome::NeedsInput);
    assert_eq!(run.step(&[(0, 2, b"gone".to_vec())]), Outcome::Done);
    assert_eq!(run.lines(), ["namespace 0/0"]);
    // Also when the binding selects no params; not for a request about a namespace itself.
    let unbound = vec![json!({"paramRef": {"selector": {}}})];
    let spec =
        json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "validations": [{"expression": "false"}]});
    let mut run = Run::new(Snapshot::default().policy("p", spec, unbound).plan(), &request);
    assert_eq!(run.step(&[]), Outcome::NeedsInput);
    let key = json!({"resource": {"version": "v1", "resource": "namespaces"}, "operation": "UPDATE", "namespaced": true,
                     "kind": {"version": "v1", "kind": "Namespace"}});
    let mut run = Run::new(Snapshot::of(validation("false")).plan_for(&key), &request);
    assert_eq!(run.finish(), [DENIED]);
}

#[test]
fn configuration_errors_follow_the_failure_policy() {
    let bad = json!({"matchResources": {"objectSelector": {"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}}});
    let spec = |policy: &str| json!({"failurePolicy": policy, "validations": [{"expression": "true"}]});
    let report = Snapshot::default().policy("p", spec("Fail"), vec![bad.clone()]).decide(&pod());
    assert_eq!(
        report,
        [
            "configuration 0/0: failed to configure binding: Internal error occurred: \"Gt\" is not a valid label selector operator"
        ]
    );
    assert!(Snapshot::default().policy("p", spec("Ignore"), vec![bad]).decide(&pod()).is_empty());
    let broken = |policy| Snapshot::of(spec(policy)).hook(|hook| hook.error = Some("no such kind".into()));
    assert_eq!(broken("Fail").decide(&pod()), ["configuration 0/-: failed to configure policy: no such kind"]);
    assert!(broken("Ignore").decide(&pod()).is_empty());
    let mut request = pod();
    request.versions[0].1 = Root::Error("failed to convert object version: no".into());
    assert_eq!(
        Snapshot::of(validation("true")).decide(&request),
        ["configuration 0/0: failed to configure binding: failed to convert object version: no"]
    );
}

#[test]
fn a_policy_without_constraints_is_an_error() {
    let mut spec = validation("true");
    spec["matchConstraints"] = json!(null);
    assert_eq!(
        Snapshot::of(spec).decide(&pod()),
        ["configuration 0/-: failed to configure policy: policy contained no match constraints, a required field"]
    );
}

#[test]
fn equivalents_convert_and_exclude() {
    let mut key = pod_key();
    key["equivalents"] = json!([{"resource": {"group": "x", "version": "v2", "resource": "pods"}, "kind": {"group": "x", "version": "v2", "kind": "XPod"}},
                                {"resource": {"group": "y", "version": "v2", "resource": "pods"}, "kind": null}]);
    let rule =
        |group: &str| json!([{"apiGroups": [group], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]);
    let spec = |rules: serde_json::Value, exclude: serde_json::Value| json!({"matchConstraints": {"resourceRules": rules, "excludeResourceRules": exclude}, "validations": [{"expression": "false"}]});
    let plan = Snapshot::of(spec(rule("x"), json!([]))).plan_for(&key);
    let info: serde_json::Value = serde_json::from_str(&plan.info_json()).unwrap();
    assert_eq!(info["versions"], json!([{"group": "x", "version": "v2", "kind": "XPod"}]));
    assert_eq!(info["needs"]["object"], true, "a conversion can fail");
    assert_eq!(Run::new(plan, &pod()).finish(), [DENIED]);
    assert!(Snapshot::of(spec(rule("*"), rule("x"))).plan_for(&key).info_json().starts_with(r#"{"empty":true"#));
    let error = "configuration 0/-: failed to configure policy: unable to convert to y/v2, Resource=pods: unknown kind";
    assert_eq!(Run::new(Snapshot::of(spec(rule("y"), json!([]))).plan_for(&key), &pod()).finish(), [error]);
    assert_eq!(Run::new(Snapshot::of(spec(rule("*"), rule("y"))).plan_for(&key), &pod()).finish(), [error]);
}

mod params {
    use super::*;

    fn bound(param_ref: serde_json::Value) -> Snapshot {
        let spec = json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "validations": [{"expression": "params.data.ok == 'yes'", "message": "param says no"}]});
        Snapshot::default().policy("p", spec, vec![json!({"paramRef": param_ref})])
    }

    fn run(snapshot: Snapshot) -> Run {
        let config = |ok: &str| json!({"metadata": {"labels": {"ok": ok}}, "data": {"ok": ok}});
        Run::new(snapshot.plan(), &pod()).params(&[
            ("default", "a", config("no")),
            ("default", "b", config("yes")),
            ("other", "c", config("no")),
        ])
    }

    const NO: &str = "decision 0/0 expression 0 deny denied Invalid: param says no";

    #[test]
    fn by_name_and_by_selector() {
        assert_eq!(run(bound(json!({"name": "a"}))).finish(), [NO]);
        assert!(run(bound(json!({"name": "b"}))).finish().is_empty());
        assert_eq!(run(bound(json!({"name": "c", "namespace": "other"}))).finish(), [NO]);
        assert_eq!(run(bound(json!({"selector": {}}))).finish(), [NO]);
        assert!(run(bound(json!({"selector": {"matchLabels": {"ok": "yes"}}}))).finish().is_empty());
        assert!(run(bound(json!({"selector": {"matchLabels": {"ok": "maybe"}}}))).finish().is_empty());
    }

    #[test]
    fn errors() {
        for (param_ref, error) in [
            (json!({"name": "a", "selector": {}}), "paramRef.name and paramRef.selector are mutually exclusive"),
            (json!({}), "one of name or selector must be provided"),
            (
                json!({"selector": {"matchLabels": {"x": "y"}}, "parameterNotFoundAction": "Deny"}),
                "no params found for policy binding with `Deny` parameterNotFoundAction",
            ),
            (
                json!({"selector": {"matchExpressions": [{"key": "a", "operator": "Gt"}]}}),
                "\"Gt\" is not a valid label selector operator",
            ),
        ] {
            assert_eq!(
                run(bound(param_ref)).finish(),
                [format!("configuration 0/0: failed to configure binding: {error}")]
            );
        }
        let cluster = |param_ref| bound(param_ref).hook(|hook| hook.namespaced_params = false);
        assert_eq!(
            run(cluster(json!({"name": "a", "namespace": "default"}))).finish(),
            [
                "configuration 0/0: failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
            ]
        );
        assert_eq!(
            run(bound(json!({"name": "a"})).hook(|hook| hook.params = None)).finish(),
            [
                "configuration 0/0: failed to configure binding: paramKind kind `&ParamKind{APIVersion:v1,Kind:ConfigMap,}` not known"
            ]
        );
        let mut request = pod();
        request.attributes["namespace"] = json!("");
        let mut key = pod_key();
        key["namespaced"] = json!(false);
        let mut cluster_scoped = Run::new(bound(json!({"name": "a"})).plan_for(&key), &request);
        assert_eq!(
            cluster_scoped.finish(),
            [
                "configuration 0/0: failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
            ]
        );
    }

    #[test]
    fn a_missing_param_is_fetched() {
        let mut run = run(bound(json!({"name": "new", "parameterNotFoundAction": "Deny"})));
        for (status, content, report) in [
            (0, celgate_testkit::wire::param(&json!({"data": {"ok": "no"}})), NO.to_owned()),
            (
                1,
                Vec::new(),
                "configuration 0/0: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
                    .into(),
            ),
            (2, b"timeout".to_vec(), "configuration 0/0: failed to configure binding: timeout".into()),
        ] {
            assert_eq!(run.step(&[]), Outcome::NeedsInput);
            assert_eq!(run.output(), r#"[{"id":0,"kind":"param","params":0,"namespace":"default","name":"new"}]"#);
            assert_eq!(run.step(&[(0, status, content)]), Outcome::Done);
            assert_eq!(run.lines(), [report]);
            run.scratch.reset();
        }
    }

    #[test]
    fn an_unsynced_kind_is_waited_for() {
        let mut run = run(bound(json!({"selector": {}})));
        let set = run.params[0].take();
        assert_eq!(run.step(&[]), Outcome::NeedsInput);
        assert_eq!(run.output(), r#"[{"id":0,"kind":"paramSync","params":0}]"#);
        assert_eq!(run.step(&[(0, 2, Vec::new())]), Outcome::Done);
        assert_eq!(
            run.lines(),
            [
                "configuration 0/0: failed to configure binding: paramKind kind `&ParamKind{APIVersion:v1,Kind:ConfigMap,}` not yet synced to use for admission"
            ]
        );
        run.scratch.reset();
        assert_eq!(run.step(&[]), Outcome::NeedsInput);
        run.params[0] = set;
        assert_eq!(run.step(&[(0, 0, Vec::new())]), Outcome::Done);
        assert_eq!(run.lines(), [NO]);
    }

    #[test]
    fn a_named_param_of_an_unsynced_kind_is_fetched() {
        let mut run = run(bound(json!({"name": "a"})));
        run.params[0] = None;
        assert_eq!(run.step(&[]), Outcome::NeedsInput);
        assert_eq!(run.output(), r#"[{"id":0,"kind":"param","params":0,"namespace":"default","name":"a"}]"#);
        let param = celgate_testkit::wire::param(&json!({"data": {"ok": "no"}}));
        assert_eq!(run.step(&[(0, 0, param)]), Outcome::Done);
        assert_eq!(run.lines(), [NO]);
    }

    #[test]
    fn without_param_ref_params_are_null_and_evaluated_once() {
        let spec = json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "validations": [{"expression": "params == null", "message": "has params"}]});
        let bindings =
            vec![json!({}), json!({}), json!({"paramRef": {"name": "a"}}), json!({"paramRef": {"name": "a"}})];
        let mut run = run(Snapshot::default().policy("p", spec, bindings));
        let denied = |binding| format!("decision 0/{binding} expression 0 deny denied Invalid: has params");
        assert_eq!(run.finish(), [denied(2), denied(3)]);
        assert_eq!(run.scratch.evaluations(), 2);
    }
}
