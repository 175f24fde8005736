//! Stopping and going on: questions, yields, panics, malformed input, and what must not be allocated.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod common;

use celgate_policy::{Outcome, ParamSet};
use celgate_testkit::record::Root;
use celgate_testkit::wire;
use common::{Run, Snapshot, pod, validation};
use serde_json::{Value, json};

fn check(path: &str) -> String {
    format!("authorizer.path('{path}').check('get').allowed()")
}

fn allow(id: u32, decision: &str) -> (u32, u32, Vec<u8>) {
    (id, 0, json!({"decision": decision, "reason": "", "error": null}).to_string().into_bytes())
}

/// Policies with checks between ones that warn: each question stops the walk once, and nothing is reported twice.
#[test]
fn questions_stop_and_resume() {
    let snapshot = || {
        Snapshot::default()
            .policy("a", validation("false"), vec![json!({})])
            .policy("b", validation(&format!("{} && {}", check("/1"), check("/2"))), vec![json!({}), json!({})])
            .policy("c", validation(&format!("{} || {}", check("/2"), check("/3"))), vec![json!({})])
    };
    let mut run = Run::new(snapshot().plan(), &pod());
    assert_eq!(run.step(&[]), Outcome::NeedsInput);
    assert_eq!(run.output(), r#"[{"id":0,"kind":"authorize","verb":"get","path":"/1"}]"#);
    assert_eq!(run.scratch.evaluations(), 2, "a, and b as far as its first check");
    assert_eq!(run.step(&[allow(0, "allow")]), Outcome::NeedsInput);
    assert_eq!(run.output(), r#"[{"id":1,"kind":"authorize","verb":"get","path":"/2"}]"#);
    assert_eq!(run.step(&[allow(1, "deny")]), Outcome::NeedsInput);
    assert_eq!(run.output(), r#"[{"id":2,"kind":"authorize","verb":"get","path":"/3"}]"#);
    assert_eq!(run.step(&[allow(2, "noOpinion")]), Outcome::Done);
    let lines = run.lines();
    let denied: Vec<&str> = lines.iter().filter_map(|line| line.split(" expression").next()).collect();
    assert_eq!(denied, ["decision 0/0", "decision 1/1", "decision 1/2", "decision 2/3"]);
    // The next request with the same scratch starts anew.
    assert_eq!(run.step(&[]), Outcome::NeedsInput);
}

#[test]
fn an_abandoned_request_leaves_nothing() {
    let mut run = Run::new(Snapshot::of(validation(&check("/x"))).plan(), &pod());
    assert_eq!(run.step(&[]), Outcome::NeedsInput);
    run.scratch.reset();
    assert!(run.scratch.output().is_empty());
    assert_eq!(run.step(&[]), Outcome::NeedsInput);
    // An unanswered question is asked again.
    assert_eq!(run.step(&[]), Outcome::NeedsInput);
    assert_eq!(run.step(&[allow(1, "allow")]), Outcome::Done);
    assert!(run.scratch.output().is_empty());
}

/// Params of a selector stay the same from call to call, even if the caller has newer ones.
#[test]
fn a_request_sees_one_version_of_the_params() {
    let spec = json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "validations": [{"expression": format!("{} && params.data.ok == 'yes'", check("/x"))}]});
    let bindings = vec![json!({"paramRef": {"selector": {}}})];
    let config = |ok: &str| json!({"data": {"ok": ok}});
    let mut run = Run::new(Snapshot::default().policy("p", spec, bindings).plan(), &pod())
        .params(&[("default", "b", config("no")), ("default", "c", config("yes"))]);
    assert_eq!(run.step(&[]), Outcome::NeedsInput);
    let newer = run.params[0]
        .as_ref()
        .unwrap()
        .apply(&wire::batch(&[("default", "a", Some(config("no"))), ("default", "b", None)]));
    run.params[0] = Some(newer.unwrap());
    assert_eq!(run.step(&[allow(0, "allow")]), Outcome::Done);
    assert_eq!(run.lines().len(), 1, "{:?}", run.lines());
    assert_eq!(run.scratch.evaluations(), 2);
}

/// Much work is done in several calls, and the report is the same as if it were one.
#[test]
fn heavy_work_yields() {
    let mut request = pod();
    request.versions = vec![(Root::Plain(json!({"big": "a".repeat(9000)})), Root::Plain(Value::Null))];
    let heavy = json!({"validations": [{"expression": "!object.big.contains(object.big)", "message": "heavy"}]});
    let mut snapshot = Snapshot::default();
    for i in 0..10 {
        snapshot = snapshot.policy(&format!("p{i}"), heavy.clone(), vec![json!({}), json!({})]);
    }
    let mut run = Run::new(snapshot.plan(), &request);
    let (mut yields, mut evaluations) = (0, 0);
    loop {
        let outcome = run.step(&[]);
        evaluations += run.scratch.evaluations();
        match outcome {
            Outcome::Yield => yields += 1,
            Outcome::Done => break,
            Outcome::NeedsInput => panic!("asks {}", run.output()),
        }
        assert!(run.scratch.output().is_empty());
    }
    assert!((2..10).contains(&yields), "{yields}");
    assert_eq!(evaluations, 10);
    let expected: Vec<String> =
        (0..20).map(|i| format!("decision {}/{i} expression 0 deny denied Invalid: heavy", i / 2)).collect();
    assert_eq!(run.lines(), expected);
}

#[test]
fn malformed_calls_are_refused() {
    let plan = Snapshot::of(validation("object.spec.replicas == 3")).plan();
    let request = pod().encode();
    let mut scratch = celgate_policy::Scratch::new();
    for len in 0..request.len() {
        assert!(plan.evaluate(&mut scratch, &request[..len], &[], &[]).is_err(), "{len}");
        scratch.reset();
    }
    assert!(plan.evaluate(&mut scratch, &request, &[], &[1, 2, 3]).is_err());
    scratch.reset();
    // Every byte of the record may be anything.
    for i in 0..request.len() {
        for byte in [0, 1, 9, 0x7f, 0xff] {
            let mut broken = request.clone();
            broken[i] = byte;
            let _ = plan.evaluate(&mut scratch, &broken, &[], &[]);
            scratch.reset();
        }
    }
}

/// A variable that reads itself kills upstream's process.
#[test]
fn variables_that_read_themselves_are_errors() {
    let spec = json!({"variables": [{"name": "x", "expression": "1"}, {"name": "x", "expression": "variables.x + 1"},
        {"name": "y", "expression": "dyn(variables).z"}, {"name": "z", "expression": "dyn(variables).y"}],
        "validations": [{"expression": "variables.x == 2"}, {"expression": "variables.y == 2"}]});
    let lines = Snapshot::of(spec).decide(&pod());
    assert_eq!(lines.len(), 2);
    assert!(lines[0].contains("composited variable \"x\" fails to evaluate: it reads itself"), "{}", lines[0]);
    assert!(lines[1].contains("it reads itself"), "{}", lines[1]);
}

/// A long chain of variables does not use up the stack.
#[test]
fn variables_may_read_each_other_deeply() {
    let variable = |i: usize| match i {
        0 => json!({"name": "v0", "expression": "1"}),
        i => json!({"name": format!("v{i}"), "expression": format!("variables.v{} + 1", i - 1)}),
    };
    let chain = |n: usize| {
        let variables: Vec<Value> = (0..=n).map(variable).collect();
        let last = format!("variables.v{n} == {}", n + 1);
        Snapshot::of(json!({"variables": variables, "validations": [{"expression": last}]})).decide(&pod())
    };
    assert!(chain(500).is_empty());
    let lines = chain(5000);
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("too deeply"));
}

#[cfg(feature = "fault-injection")]
#[test]
fn a_panic_is_an_error_of_its_policy() {
    use std::sync::Arc;

    let policy = |failure: &str| {
        let policy = json!({"metadata": {"name": "bad", "annotations": {"celgate.dev/inject": "panic"}},
            "spec": {"failurePolicy": failure, "matchConstraints": {"resourceRules": [
                {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]},
                "validations": [{"expression": "true"}]}});
        Arc::new(celgate_policy::Policy::from_json(policy.to_string().as_bytes()).unwrap())
    };
    for (failure, action) in [("Fail", "deny"), ("Ignore", "admit")] {
        let snapshot = Snapshot::default()
            .policy("bad", validation("true"), vec![json!({}), json!({})])
            .hook(|hook| hook.policy = policy(failure))
            .policy("good", validation("false"), vec![json!({})]);
        let error =
            |binding| format!("decision 0/{binding} expression 0 {action} error : internal error: evaluation panicked");
        assert_eq!(
            snapshot.decide(&pod()),
            [error(0), error(1), "decision 1/2 expression 0 deny denied Invalid: failed expression: false".to_owned()]
        );
    }
}

#[test]
fn sets_are_optional() {
    let plan = Snapshot::of(validation("true")).plan();
    let mut scratch = celgate_policy::Scratch::new();
    assert_eq!(plan.evaluate(&mut scratch, &pod().encode(), &[None::<&ParamSet>], &[]).unwrap(), Outcome::Done);
    assert_eq!(plan.evaluate(&mut scratch, &pod().encode(), &[], &[]).unwrap(), Outcome::Done);
}
