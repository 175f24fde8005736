//! Cases whose answers upstream gave: `cases/upstream.json` holds policies, objects, and what `validating.NewValidator` of
//! k8s.io/apiserver v0.37.2 decides about them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod common;

use celgate_policy::Outcome;
use celgate_testkit::record::Root;
use celgate_testkit::request::Request;
use common::{Run, Snapshot};
use serde_json::{Value, json};

#[test]
fn decide_as_upstream() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("cases/upstream.json")).unwrap();
    let mut failures = Vec::new();
    for mut case in cases {
        expand(&mut case);
        let expected: Vec<&str> = case["expect"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let got = decide(&case);
        if got != expected {
            failures.push(format!("{}\n  expected {expected:#?}\n  got {got:#?}", case["name"]));
        }
    }
    assert!(failures.is_empty(), "{} cases differ:\n{}", failures.len(), failures.join("\n"));
}

/// `@repeat:a:9000` is nine thousand times `a`.
fn expand(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((what, times)) = text.strip_prefix("@repeat:").and_then(|rest| rest.split_once(':')) {
                *text = what.repeat(times.parse().unwrap());
            }
        }
        Value::Array(values) => values.iter_mut().for_each(expand),
        Value::Object(fields) => fields.values_mut().for_each(expand),
        _ => {}
    }
}

fn decide(case: &Value) -> Vec<String> {
    let mut request = Request::create(case["object"].clone());
    request.namespace = Root::Typed(json!({
        "metadata": {"name": "default", "labels": {"env": "test"}, "managedFields": [{"manager": "m"}]}, "spec": {}, "status": {}
    }));
    let typed = case["typed"] == json!(true);
    let root = |object: &Value| if typed { Root::Typed(object.clone()) } else { Root::Plain(object.clone()) };
    request.versions = vec![(root(&case["object"]), root(&case["oldObject"]))];
    let binding = if case["params"].is_null() { json!({}) } else { json!({"paramRef": {"name": "param"}}) };
    let snapshot = Snapshot::default().policy("p", case["spec"].clone(), vec![binding]);
    let mut run = Run::new(snapshot.plan(), &request).params(&[("default", "param", case["params"].clone())]);
    let mut answers = Vec::new();
    loop {
        match run.step(&answers) {
            Outcome::Done => break,
            Outcome::Yield => answers.clear(),
            Outcome::NeedsInput => answers = authorize(&run.output()),
        }
    }
    let relevant = run.lines().into_iter().filter(|line| !line.starts_with("conditions "));
    relevant.map(|line| line.replacen("0/0 ", "", 1).replacen("decision expression ", "decision ", 1)).collect()
}

/// Everybody may do anything but `deny`.
fn authorize(questions: &str) -> Vec<(u32, u32, Vec<u8>)> {
    let questions: Vec<Value> = serde_json::from_str(questions).unwrap();
    let answer = |question: &Value| {
        assert_eq!(question["kind"], "authorize");
        let answer = match question["verb"].as_str() {
            Some("deny") => json!({"decision": "deny", "reason": "because", "error": null}),
            _ => json!({"decision": "allow", "reason": "", "error": null}),
        };
        (question["id"].as_u64().unwrap() as u32, 0, answer.to_string().into_bytes())
    };
    questions.iter().map(answer).collect()
}
