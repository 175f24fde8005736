//! How long a plan of many policies takes to decide about a Pod that all allow, and one of webhooks that it calls none: `cargo bench -p
//! celgate-policy`.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    reason = "a benchmark that cannot go on has failed; criterion makes functions"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::sync::Arc;

use celgate_policy::{Engine, Outcome, Plan, Scratch, Webhook};
use celgate_testkit::request::Request;
use common::{Snapshot, pod_key};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::json;

/// What policies check; `{}` is a number, so that no two are the same.
const CHECKS: [(&str, &str); 3] = [
    ("constant", "true"),
    ("fields", "object.metadata.name != 'bad-{}' && !has(object.spec.hostPID)"),
    (
        "containers",
        "object.spec.containers.all(c, has(c.securityContext) && !c.securityContext.privileged && c.image.startsWith('registry.example.com/')) || object.metadata.name == 'exempt-{}'",
    ),
];

fn plan(policies: usize, bindings: usize, check: &str, selector: bool) -> Plan {
    let binding = |number: usize| match selector {
        true => json!({"matchResources": {"namespaceSelector": {"matchExpressions": [
            {"key": "env", "operator": "In", "values": ["test", format!("e{number}")]}]}}}),
        false => json!({}),
    };
    let policy = |snapshot: Snapshot, number: usize| {
        let spec = json!({"validations": [{"expression": check.replace("{}", &number.to_string())}]});
        snapshot.policy(&format!("policy-{number}"), spec, (0..bindings).map(binding).collect())
    };
    (0..policies).fold(Snapshot::default(), policy).plan()
}

fn request() -> Vec<u8> {
    let container = |name: &str| json!({"name": name, "image": format!("registry.example.com/team/{name}:v1"), "securityContext": {"privileged": false, "runAsUser": 1000}});
    Request::create(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1", "namespace": "default", "labels": {"app": "web"}},
        "spec": {"serviceAccountName": "sa", "containers": [container("server"), container("sidecar")]},
    }))
    .encode()
}

/// `told` is the size of the report.
fn measure(c: &mut Criterion, name: &str, count: usize, plan: &Plan, told: usize) {
    let request = request();
    let mut scratch = Scratch::new();
    let mut group = c.benchmark_group("plan");
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function(BenchmarkId::new(name, count), |b| {
        b.iter(|| {
            let outcome = plan.evaluate(&mut scratch, &request, &[], &[]);
            assert_eq!(outcome, Ok(Outcome::Done));
            assert_eq!(scratch.output().len(), told, "the Pod is denied, or calls a webhook");
            scratch.reset();
        });
    });
    group.finish();
}

fn policies(c: &mut Criterion) {
    for (name, check) in CHECKS {
        for count in [1, 100] {
            measure(c, name, count, &plan(count, 1, check, false), 0);
        }
    }
}

fn bindings(c: &mut Criterion) {
    measure(c, "bindings", 1000, &plan(1, 1000, "true", true), 0);
}

/// Webhooks with the conditions of Kubernetes' documentation, and one that is false.
fn webhooks(c: &mut Criterion) {
    let webhook = |number: usize| {
        let conditions = [
            format!(
                "!(request.resource.group == 'coordination-{number}.k8s.io' && request.resource.resource == 'leases')"
            ),
            format!("!('system:nodes-{number}' in request.userInfo.groups)"),
            format!("request.resource.group != 'rbac-{number}.authorization.k8s.io'"),
            format!("has(object.metadata.labels) && 'guarded-by-{number}' in object.metadata.labels"),
        ];
        let conditions: Vec<_> = conditions.iter().map(|text| json!({"name": "c", "expression": text})).collect();
        let webhook = json!({
            "namespaceSelector": {"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["system", format!("e{number}")]}]},
            "objectSelector": {}, "matchPolicy": "Equivalent", "matchConditions": conditions,
            "rules": [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": ["pods"]}],
        });
        Arc::new(Webhook::from_json(webhook.to_string().as_bytes()).unwrap())
    };
    let engine = Engine::of_webhooks((0..50).map(webhook).collect());
    let plan = Plan::new(Arc::new(engine), pod_key().to_string().as_bytes()).unwrap();
    measure(c, "webhooks", 50, &plan, 50 * 6 * 4);
}

criterion_group!(plans, policies, bindings, webhooks);
criterion_main!(plans);
