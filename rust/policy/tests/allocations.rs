//! On the way to "allowed", nothing is allocated once buffers have grown.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use celgate_policy::{Outcome, ParamSet, Scratch};
use celgate_testkit::wire;
use common::{Snapshot, pod};
use serde_json::json;

#[test]
fn none_on_the_way_to_allowed() {
    let spec = json!({
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"namespaceSelector": {"matchLabels": {"env": "test"}}, "objectSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
            "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}]},
        "matchConditions": [{"name": "c", "expression": "request.operation == 'CREATE' && request.kind.kind == 'Pod'"}],
        "variables": [{"name": "images", "expression": "object.spec.containers.map(c, c.image)"}],
        "validations": [
            {"expression": "variables.images.all(i, i.startsWith('nginx') || i.matches('^b[a-z]+$'))", "messageExpression": "'bad ' + variables.images[0]"},
            {"expression": "!has(object.spec.hostPID) && object.metadata.name.size() < 10 && params.data.ok == 'yes'", "message": "no"},
            {"expression": "namespaceObject.metadata.name == 'default' && quantity('1Mi').isGreaterThan(quantity('1Ki'))"}
        ],
        "auditAnnotations": [{"key": "k", "valueExpression": "object.spec.hostNetwork == false ? 'x' : ''"}]
    });
    let mut snapshot = Snapshot::default();
    for name in ["a", "b", "c"] {
        let bindings = vec![json!({"paramRef": {"name": "p"}}), json!({"paramRef": {"selector": {}}})];
        snapshot = snapshot.policy(name, spec.clone(), bindings);
    }
    let plan = snapshot.plan();
    let params =
        ParamSet::empty().apply(&wire::batch(&[("default", "p", Some(json!({"data": {"ok": "yes"}})))])).unwrap();
    let request = pod().encode();
    let mut scratch = Scratch::new();
    for round in 0..6 {
        let mut outcome = None;
        let counted = allocation_counter::measure(|| {
            outcome = Some(plan.evaluate(&mut scratch, &request, &[Some(&params)], &[]))
        });
        assert_eq!(outcome, Some(Ok(Outcome::Done)));
        assert!(scratch.output().is_empty(), "{:?}", celgate_testkit::report::lines(scratch.output()));
        assert!(round < 3 || counted.count_total == 0, "{} allocations in round {round}", counted.count_total);
        scratch.reset();
    }
}
