//! How long a plan of many policies takes to decide about a Pod that all allow: `cargo bench -p celgate-policy`.
#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a benchmark that cannot go on has failed; criterion makes functions"
)]

use std::sync::Arc;

use celgate_policy::{Binding, Engine, Hook, Outcome, Plan, Policy, Scratch};
use celgate_testkit::request::Request;
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
    let mut hooks = Vec::new();
    let mut all = Vec::new();
    for number in 0..policies {
        let name = format!("policy-{number}");
        let policy = json!({"metadata": {"name": name}, "spec": {
            "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}]},
            "validations": [{"expression": check.replace("{}", &number.to_string())}]}});
        let first = all.len() as u32;
        for binding in 0..bindings {
            let mut spec = json!({"policyName": name});
            if selector {
                spec["matchResources"] = json!({"namespaceSelector": {"matchExpressions": [
                    {"key": "env", "operator": "In", "values": ["test", format!("e{binding}")]}]}});
            }
            let binding = json!({"metadata": {"name": format!("{name}-{binding}")}, "spec": spec});
            all.push(Arc::new(Binding::from_json(binding.to_string().as_bytes()).expect("a binding")));
        }
        hooks.push(Hook {
            policy: Arc::new(Policy::from_json(policy.to_string().as_bytes()).expect("a policy")),
            bindings: first..all.len() as u32,
            params: None,
            error: None,
            namespaced_params: true,
        });
    }
    let key = json!({"resource": {"group": "", "version": "v1", "resource": "pods"}, "subresource": "", "operation": "CREATE",
        "namespaced": true, "kind": {"group": "", "version": "v1", "kind": "Pod"}, "equivalents": []});
    Plan::new(Arc::new(Engine::new(hooks, all)), key.to_string().as_bytes()).expect("a plan")
}

fn request() -> Vec<u8> {
    let container = |name: &str| json!({"name": name, "image": format!("registry.example.com/team/{name}:v1"), "securityContext": {"privileged": false, "runAsUser": 1000}});
    Request::create(json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1", "namespace": "default", "labels": {"app": "web"}},
        "spec": {"serviceAccountName": "sa", "containers": [container("server"), container("sidecar")]},
    }))
    .encode()
}

fn measure(c: &mut Criterion, name: &str, count: usize, plan: &Plan) {
    let request = request();
    let mut scratch = Scratch::new();
    let mut group = c.benchmark_group("plan");
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function(BenchmarkId::new(name, count), |b| {
        b.iter(|| {
            let outcome = plan.evaluate(&mut scratch, &request, &[], &[]);
            assert_eq!(outcome, Ok(Outcome::Done));
            assert!(scratch.output().is_empty(), "the Pod is denied");
            scratch.reset();
        });
    });
    group.finish();
}

fn policies(c: &mut Criterion) {
    for (name, check) in CHECKS {
        for count in [1, 100] {
            measure(c, name, count, &plan(count, 1, check, false));
        }
    }
}

fn bindings(c: &mut Criterion) {
    measure(c, "bindings", 1000, &plan(1, 1000, "true", true));
}

criterion_group!(plans, policies, bindings);
criterion_main!(plans);
