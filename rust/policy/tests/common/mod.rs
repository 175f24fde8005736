//! Snapshots and requests for tests, and the questions that a request asks.
#![allow(dead_code, reason = "not every test file uses everything")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use celgate_policy::{Binding, Engine, Hook, Outcome, ParamSet, Plan, Policy, Scratch};
use celgate_testkit::report::lines;
use celgate_testkit::request::Request;
use celgate_testkit::wire;
use serde_json::{Value, json};

/// A snapshot in the making: policies with their bindings.
#[derive(Default)]
pub(crate) struct Snapshot {
    hooks: Vec<Hook>,
    bindings: Vec<Arc<Binding>>,
}

impl Snapshot {
    /// One policy with this spec, which matches all pods, and one binding without constraints.
    pub(crate) fn of(spec: Value) -> Snapshot {
        Snapshot::default().policy("p", spec, vec![json!({})])
    }

    /// Adds a policy with bindings, whose names are `<policy>-b<i>`.
    pub(crate) fn policy(mut self, name: &str, spec: Value, bindings: Vec<Value>) -> Snapshot {
        let mut policy = json!({"metadata": {"name": name}, "spec": spec});
        if policy["spec"].get("matchConstraints").is_none() {
            policy["spec"]["matchConstraints"] = json!({"resourceRules": [
                {"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}
            ]});
        }
        let first = self.bindings.len() as u32;
        for (i, mut spec) in bindings.into_iter().enumerate() {
            spec["policyName"] = json!(name);
            let binding = json!({"metadata": {"name": format!("{name}-b{i}")}, "spec": spec});
            self.bindings.push(Arc::new(Binding::from_json(binding.to_string().as_bytes()).unwrap()));
        }
        self.hooks.push(Hook {
            policy: Arc::new(Policy::from_json(policy.to_string().as_bytes()).unwrap()),
            bindings: first..self.bindings.len() as u32,
            params: policy["spec"].get("paramKind").map(|_| 0),
            error: None,
            namespaced_params: true,
        });
        self
    }

    /// Changes the last policy's hook.
    pub(crate) fn hook(mut self, change: impl FnOnce(&mut Hook)) -> Snapshot {
        change(self.hooks.last_mut().unwrap());
        self
    }

    /// The plan for requests of the default kind: pods created in a namespace.
    pub(crate) fn plan(self) -> Plan {
        self.plan_for(&pod_key())
    }

    pub(crate) fn plan_for(self, key: &Value) -> Plan {
        Plan::new(Arc::new(Engine::new(self.hooks, self.bindings)), key.to_string().as_bytes()).unwrap()
    }

    /// What a default request, or this one, comes to; it must not ask anything.
    pub(crate) fn decide(self, request: &Request) -> Vec<String> {
        let mut run = Run::new(self.plan(), request);
        assert_eq!(run.step(&[]), Outcome::Done, "{}", run.output());
        run.lines()
    }
}

pub(crate) fn pod_key() -> Value {
    json!({"resource": {"group": "", "version": "v1", "resource": "pods"}, "subresource": "", "operation": "CREATE", "namespaced": true,
           "kind": {"group": "", "version": "v1", "kind": "Pod"}, "equivalents": []})
}

/// A pod named `web` with label `app: web`.
pub(crate) fn pod() -> Request {
    Request::create(json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "nginx"}], "hostNetwork": true, "replicas": 3}}))
}

/// One request on its way.
pub(crate) struct Run {
    pub(crate) plan: Plan,
    pub(crate) scratch: Scratch,
    pub(crate) request: Vec<u8>,
    pub(crate) params: Vec<Option<ParamSet>>,
}

impl Run {
    pub(crate) fn new(plan: Plan, request: &Request) -> Run {
        Run { plan, scratch: Scratch::new(), request: request.encode(), params: vec![Some(ParamSet::empty())] }
    }

    pub(crate) fn params(mut self, params: &[(&str, &str, Value)]) -> Run {
        let changes: Vec<_> =
            params.iter().map(|(namespace, name, object)| (*namespace, *name, Some(object.clone()))).collect();
        self.params = vec![Some(ParamSet::empty().apply(&wire::batch(&changes)).unwrap())];
        self
    }

    /// One call.
    pub(crate) fn step(&mut self, answers: &[(u32, u32, Vec<u8>)]) -> Outcome {
        let params: Vec<Option<&ParamSet>> = self.params.iter().map(Option::as_ref).collect();
        let answers = if answers.is_empty() { Vec::new() } else { wire::answers(answers) };
        self.plan.evaluate(&mut self.scratch, &self.request, &params, &answers).unwrap()
    }

    /// Calls until it is done, yielding as often as need be.
    pub(crate) fn finish(&mut self) -> Vec<String> {
        loop {
            match self.step(&[]) {
                Outcome::Done => return self.lines(),
                Outcome::Yield => {}
                Outcome::NeedsInput => panic!("asks {}", self.output()),
            }
        }
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        lines(self.scratch.output())
    }

    pub(crate) fn output(&self) -> String {
        String::from_utf8_lossy(self.scratch.output()).into_owned()
    }
}

/// `n` of these.
pub(crate) fn validation(expression: &str) -> Value {
    json!({"validations": [{"expression": expression}]})
}
