//! The part of a snapshot that can match one kind of request, with everything precomputed that does not depend on the request itself.

use std::sync::Arc;

use serde::Serialize;

use crate::compile::Program;
use crate::constraints::{Match, Matches, PlannedConstraints};
use crate::engine::{Content, Engine, Hook, Policies};
use crate::policy::{Binding, Policy};
use crate::projection::Projections;
use crate::reads::Reads;
use crate::rules::{Key, Kind, Resource};
use crate::settled::Settled;
use crate::webhook::PlannedWebhook;

/// A plan. Immutable; any thread.
#[derive(Debug)]
pub struct Plan {
    pub(crate) key: Key,
    pub(crate) hooks: Hooks,
    pub(crate) matches: Vec<Match>,
    has_namespace_object: bool,
    /// What any of the policies reads: what none reads need not be made.
    pub(crate) reads: Reads,
    info: Info,
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Plan>();
};

/// What can match.
#[derive(Debug)]
pub(crate) enum Hooks {
    Policies(Box<[PlannedHook]>),
    Webhooks(Box<[PlannedWebhook]>),
}

/// A policy that can match.
#[derive(Debug)]
pub(crate) struct PlannedHook {
    /// Index in the engine.
    pub(crate) index: u32,
    pub(crate) policy: Arc<Policy>,
    /// `None` when the policy has no constraints, which upstream calls an error.
    pub(crate) constraints: Option<PlannedConstraints>,
    /// The configuration error of the policy.
    pub(crate) error: Option<Box<str>>,
    pub(crate) bindings: Box<[PlannedBinding]>,
    pub(crate) params: Option<u32>,
    pub(crate) namespaced_params: bool,
    /// Whether all bindings evaluate the policy without a param, and none can fail to match if the labels of the namespace are there: then
    /// they differ in nothing but whether they match, and what an evaluation says.
    pub(crate) alike: bool,
    /// Whether any binding reads the labels of the namespace.
    pub(crate) bindings_read_namespace: bool,
    pub(crate) settled: Settled,
}

/// A binding that can match.
#[derive(Debug)]
pub(crate) struct PlannedBinding {
    /// Index in the engine.
    pub(crate) index: u32,
    pub(crate) binding: Arc<Binding>,
    /// `None` when the binding has no constraints: it matches.
    pub(crate) constraints: Option<PlannedConstraints>,
}

#[derive(Debug, Serialize)]
struct Info {
    empty: bool,
    versions: Vec<Kind>,
    params: Vec<u32>,
    needs: Needs,
    projections: Projections,
    /// What webhooks are called for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    matches: Vec<Called>,
}

/// The resource and kind that a webhook is called for.
#[derive(Debug, Serialize)]
struct Called {
    resource: Resource,
    kind: Kind,
}

/// The roots of the request record that the plan can read.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Needs {
    request: bool,
    object: bool,
    old_object: bool,
    namespace_object: bool,
    namespace_labels: bool,
    object_labels: bool,
}

impl Plan {
    /// Plans for one kind of request; the key is JSON (docs/abi.md, "Plan"), the error says how it is malformed.
    pub fn new(engine: Arc<Engine>, key_json: &[u8]) -> Result<Plan, String> {
        let key: Key = serde_json::from_slice(key_json).map_err(|error| format!("plan key: {error}"))?;
        let mut matches = Matches::default();
        let hooks = Hooks::new(&engine, &key, &mut matches);
        let Matches { matches, versions } = matches;
        let is_namespace = key.kind.group.is_empty() && key.kind.version == "v1" && key.kind.kind == "Namespace";
        let mut reads = Reads::default();
        let mut projections = Projections::default();
        for program in hooks.programs() {
            reads |= program.reads;
            projections.merge(&program.projections);
        }
        // Objects in the requested version are not expected to fail conversion; of others, a failure must be seen.
        let converts = hooks.programs().next().is_some() && versions.iter().any(|version| *version != key.kind);
        let called = |Match { resource, kind, .. }: &Match| Called { resource: resource.clone(), kind: kind.clone() };
        let info = Info {
            empty: hooks.policies().is_empty() && hooks.webhooks().is_empty(),
            versions,
            params: param_sets(hooks.policies()),
            needs: Needs::new(&hooks, reads, converts),
            projections,
            matches: if hooks.webhooks().is_empty() { Vec::new() } else { matches.iter().map(called).collect() },
        };
        let has_namespace_object = key.namespaced && !is_namespace && !hooks.policies().is_empty();
        Ok(Plan { key, hooks, matches, has_namespace_object, reads, info })
    }

    /// Whether there is a namespaceObject. Requests for core Namespaces have none, although they carry a namespace, and webhooks see none.
    pub(crate) fn has_namespace_object(&self) -> bool {
        self.has_namespace_object
    }

    /// What the caller must know, as JSON (docs/abi.md, "Plan").
    pub fn info_json(&self) -> String {
        serde_json::to_string(&self.info).unwrap_or_default()
    }
}

impl Hooks {
    fn new(engine: &Engine, key: &Key, matches: &mut Matches) -> Hooks {
        match &engine.0 {
            Content::Policies(policies) => {
                let hooks = policies.hooks().iter().zip(0..);
                Hooks::Policies(
                    hooks.filter_map(|(hook, index)| PlannedHook::new(policies, index, hook, key, matches)).collect(),
                )
            }
            Content::Webhooks(webhooks) => {
                let hooks = webhooks.iter().zip(0..);
                Hooks::Webhooks(
                    hooks.filter_map(|(webhook, index)| PlannedWebhook::new(index, webhook, key, matches)).collect(),
                )
            }
        }
    }

    fn policies(&self) -> &[PlannedHook] {
        match self {
            Hooks::Policies(hooks) => hooks,
            Hooks::Webhooks(_) => &[],
        }
    }

    fn webhooks(&self) -> &[PlannedWebhook] {
        match self {
            Hooks::Policies(_) => &[],
            Hooks::Webhooks(hooks) => hooks,
        }
    }

    /// What is evaluated if it matches.
    fn programs(&self) -> impl Iterator<Item = &Program> {
        let policies = self.policies().iter().filter(|hook| !hook.bindings.is_empty() && hook.error.is_none());
        let webhooks = self.webhooks().iter().filter_map(PlannedWebhook::program);
        policies.map(|hook| hook.policy.program()).chain(webhooks)
    }

    fn constraints(&self) -> impl Iterator<Item = &PlannedConstraints> {
        let bindings = self.policies().iter().flat_map(|hook| &hook.bindings).map(|binding| &binding.constraints);
        let policies = self.policies().iter().map(|hook| &hook.constraints);
        bindings.chain(policies).flatten().chain(self.webhooks().iter().map(|hook| &hook.constraints))
    }
}

impl PlannedHook {
    /// Whether params are looked for in the request's namespace.
    fn reads_request_namespace(&self) -> bool {
        self.namespaced_params && self.bindings.iter().any(|binding| binding.binding.param_ref().is_some())
    }

    /// `None` when the policy has no effect on requests of this kind: not even an error.
    fn new(policies: &Policies, index: u32, hook: &Hook, key: &Key, matches: &mut Matches) -> Option<PlannedHook> {
        let constraints = match hook.policy.constraints() {
            Some(constraints) => Some(PlannedConstraints::new(constraints, key, Some(matches))?),
            None => None,
        };
        let bindings: Box<[PlannedBinding]> = policies
            .bindings(hook)
            .filter_map(|(index, binding)| {
                let constraints = match binding.constraints() {
                    Some(constraints) => Some(PlannedConstraints::new(constraints, key, None)?),
                    None => None,
                };
                Some(PlannedBinding { index, binding: Arc::clone(binding), constraints })
            })
            .collect();
        let may_fail = hook.error.is_some() || constraints.as_ref().is_none_or(PlannedConstraints::may_fail);
        if bindings.is_empty() && !may_fail {
            return None;
        }
        let constrained = || bindings.iter().filter_map(|binding| binding.constraints.as_ref());
        let without_params =
            hook.policy.param_kind().is_none() || bindings.iter().all(|binding| binding.binding.param_ref().is_none());
        Some(PlannedHook {
            index,
            alike: without_params && !constrained().any(PlannedConstraints::may_fail_with_labels),
            bindings_read_namespace: constrained().any(PlannedConstraints::reads_namespace_labels),
            settled: Settled::new(&hook.policy.program().conditions),
            policy: Arc::clone(&hook.policy),
            constraints,
            error: hook.error.as_deref().map(Into::into),
            bindings,
            params: hook.params,
            namespaced_params: hook.namespaced_params,
        })
    }
}

/// The param sets that planned bindings choose from.
fn param_sets(hooks: &[PlannedHook]) -> Vec<u32> {
    let uses = |hook: &&PlannedHook| {
        hook.policy.param_kind().is_some() && hook.bindings.iter().any(|binding| binding.binding.param_ref().is_some())
    };
    let mut sets: Vec<u32> = hooks.iter().filter(uses).filter_map(|hook| hook.params).collect();
    sets.sort_unstable();
    sets.dedup();
    sets
}

impl Needs {
    fn new(hooks: &Hooks, reads: Reads, converts: bool) -> Needs {
        Needs {
            request: reads.intersects(Reads::REQUEST | Reads::REQUEST_MATCH | Reads::AUTHORIZER)
                || hooks.constraints().any(PlannedConstraints::reads_name)
                || hooks.policies().iter().any(PlannedHook::reads_request_namespace),
            object: converts || reads.intersects(Reads::OBJECT),
            old_object: converts || reads.intersects(Reads::OLD_OBJECT),
            namespace_object: reads.intersects(Reads::NAMESPACE_OBJECT) && !hooks.policies().is_empty(),
            namespace_labels: hooks.constraints().any(PlannedConstraints::reads_namespace_labels),
            object_labels: hooks.constraints().any(PlannedConstraints::reads_object_labels),
        }
    }
}
