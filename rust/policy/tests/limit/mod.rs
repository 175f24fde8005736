//! Ten policies of the corpus and the same checks written by hand: the limit that the evaluator is measured against (`benches/by_hand.rs`).
#![allow(dead_code, reason = "not every user uses everything")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod checks;
pub(crate) mod engine;
mod quantity;
pub(crate) mod read;

use std::path::PathBuf;

use celgate_cel::value::Value;
use celgate_policy::{ParamSet, Plan};
use celgate_testkit::wire;
use serde_json::{Value as Json, json};

use crate::common::{Snapshot, pod_key};
use read::Check;

/// The root of a request record that is the object.
pub(crate) const OBJECT: u32 = 5;

/// A policy and its check.
pub(crate) struct Case {
    /// Its file in the corpus.
    pub(crate) name: &'static str,
    /// What it shows.
    pub(crate) shape: &'static str,
    /// Object and params to verdict.
    pub(crate) check: fn(Value<'_>, Value<'_>) -> Check,
    /// What the Pod that is measured must have to pass all of the check.
    object: fn(Json) -> Json,
}

pub(crate) const CASES: [Case; 10] = [
    Case { name: "kubescape/C-0061", shape: "one field", check: checks::namespace, object: |pod| pod },
    Case { name: "kubescape/C-0009", shape: "`has` chains over containers", check: checks::limits, object: |pod| pod },
    Case {
        name: "pod-security-standards/volume-types",
        shape: "one of eight fields, over volumes",
        check: checks::volume_types,
        object: |pod| pod,
    },
    Case {
        name: "pod-security-standards/seccomp-profile-restricted_containers",
        shape: "variables, strings of a constant list",
        check: checks::seccomp,
        object: |pod| pod,
    },
    Case {
        name: "kubescape/C-0045",
        shape: "volumes, over containers, over mounts",
        check: checks::host_paths,
        object: |pod| with(pod, "/spec/volumes/0", json!({"name": "config", "hostPath": {"path": "/etc/config"}})),
    },
    Case {
        name: "kubescape/C-0057",
        shape: "lists joined, `upperAscii`",
        check: checks::privileged,
        object: |pod| {
            with(pod, "/spec/containers/0/securityContext/capabilities", json!({"add": ["NET_ADMIN", "CHOWN"]}))
        },
    },
    Case {
        name: "kubescape/C-0001",
        shape: "`split`, `contains`, `startsWith`, params",
        check: checks::registries,
        object: |pod| pod,
    },
    Case { name: "kubescape/C-0004", shape: "quantities, params", check: checks::memory, object: with_memory },
    Case { name: "kubescape/C-0075", shape: "a regular expression", check: checks::tags, object: |pod| pod },
    Case { name: "kubescape/C-0296", shape: "look-ups in maps", check: checks::selectors, object: deployment },
];

/// The same with another value there.
fn with(mut object: Json, pointer: &str, value: Json) -> Json {
    *object.pointer_mut(pointer).unwrap() = value;
    object
}

fn with_memory(pod: Json) -> Json {
    let resources = json!({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "100m", "memory": "256Mi"}});
    (0..2).fold(pod, |pod, i| with(pod, &format!("/spec/containers/{i}/resources"), resources.clone()))
}

fn deployment(pod: Json) -> Json {
    let expressions = json!([
        {"key": "app.kubernetes.io/name", "operator": "In", "values": ["proxy", "server"]},
        {"key": "owner", "operator": "Exists"},
        {"key": "canary", "operator": "DoesNotExist"},
    ]);
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": pod["metadata"], "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "server-1", "tier": "backend"}, "matchExpressions": expressions},
        "template": {"metadata": pod["metadata"], "spec": pod["spec"]},
    }})
}

/// The directory of policies, if there is one.
pub(crate) fn corpus() -> Option<PathBuf> {
    celgate_testkit::corpus::directory("nothing is compared with checks written by hand")
}

/// A policy of the corpus.
pub(crate) struct File {
    /// The policy's spec, which matches everything.
    pub(crate) spec: Json,
    /// Objects to try it with.
    pub(crate) objects: Vec<Json>,
    /// Null if it has none.
    pub(crate) params: Json,
}

impl File {
    pub(crate) fn read(path: PathBuf) -> File {
        let mut file: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let list = |key: &str| file[key].as_array().cloned().unwrap_or_default();
        let objects = list("cases").into_iter().map(|mut case| case["object"].take()).chain(list("violating_objects"));
        let objects = objects.collect();
        let params = file.pointer("/cases/0/params").cloned().unwrap_or_default();
        let mut spec = file["policy"]["spec"].take();
        spec.as_object_mut().unwrap().remove("matchConstraints");
        File { spec, objects, params }
    }

    /// The plan of this policy alone, for requests of any kind.
    pub(crate) fn plan(&self) -> Plan {
        let binding = if self.params.is_null() { json!({}) } else { json!({"paramRef": {"name": "p"}}) };
        let snapshot = Snapshot::default().policy("p", self.spec.clone(), vec![binding]);
        snapshot.hook(|hook| hook.namespaced_params = false).plan_for(&pod_key())
    }
}

/// The params that the plan of a [`File`] looks for.
pub(crate) fn param_set(params: &Json) -> ParamSet {
    ParamSet::empty().apply(&wire::batch(&[("", "p", Some(params.clone()))])).unwrap()
}

impl Case {
    /// The policy's file.
    pub(crate) fn file(&self, corpus: &std::path::Path) -> File {
        File::read(corpus.join(format!("{}.json", self.name)))
    }

    /// The object that is measured: a Pod of 4 KiB, or made of one.
    pub(crate) fn object(&self) -> Json {
        const POD: &str = include_str!("../../../../benchmarks/expressions/pod.json");
        (self.object)(serde_json::from_str(POD).unwrap())
    }
}
