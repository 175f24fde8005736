//! The part of a snapshot that can match one kind of request, with everything precomputed that does not depend on the request itself.

use std::sync::Arc;

use serde::Serialize;

use crate::constraints::{Match, Matches, PlannedConstraints};
use crate::engine::{Engine, Hook};
use crate::policy::{Binding, Policy, Reads};
use crate::projection::Projections;
use crate::rules::{Key, Kind};

/// A plan. Immutable; any thread.
#[derive(Debug)]
pub struct Plan {
    pub(crate) key: Key,
    pub(crate) hooks: Box<[PlannedHook]>,
    pub(crate) matches: Vec<Match>,
    /// Requests for core Namespaces have no namespaceObject, although they carry a namespace.
    is_namespace: bool,
    /// What any of the policies reads: what none reads need not be made.
    pub(crate) reads: Reads,
    info: Info,
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Plan>();
};

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
        let hooks: Box<[PlannedHook]> = engine
            .hooks()
            .iter()
            .enumerate()
            .filter_map(|(index, hook)| PlannedHook::new(&engine, index as u32, hook, &key, &mut matches))
            .collect();
        let Matches { matches, versions } = matches;
        let is_namespace = key.kind.group.is_empty() && key.kind.version == "v1" && key.kind.kind == "Namespace";
        // Objects in the requested version are not expected to fail conversion; of others, a failure must be seen.
        let converts = versions.iter().any(|version| *version != key.kind);
        let mut reads = Reads::default();
        evaluated(&hooks).for_each(|policy| reads |= policy.reads());
        let info = Info {
            empty: hooks.is_empty(),
            versions,
            params: param_sets(&hooks),
            needs: Needs::new(&hooks, reads, converts),
            projections: projections(&hooks),
        };
        Ok(Plan { key, hooks, matches, is_namespace, reads, info })
    }

    /// Whether there is a namespaceObject.
    pub(crate) fn has_namespace_object(&self) -> bool {
        self.key.namespaced && !self.is_namespace
    }

    /// What the caller must know, as JSON (docs/abi.md, "Plan").
    pub fn info_json(&self) -> String {
        serde_json::to_string(&self.info).unwrap_or_default()
    }
}

impl PlannedHook {
    /// Whether params are looked for in the request's namespace.
    fn reads_request_namespace(&self) -> bool {
        self.namespaced_params && self.bindings.iter().any(|binding| binding.binding.param_ref().is_some())
    }

    /// `None` when the policy has no effect on requests of this kind: not even an error.
    fn new(engine: &Engine, index: u32, hook: &Hook, key: &Key, matches: &mut Matches) -> Option<PlannedHook> {
        let constraints = match hook.policy.constraints() {
            Some(constraints) => Some(PlannedConstraints::new(constraints, key, Some(matches))?),
            None => None,
        };
        let bindings: Box<[PlannedBinding]> = engine
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

/// The policies that are evaluated if they match.
fn evaluated(hooks: &[PlannedHook]) -> impl Iterator<Item = &Policy> {
    hooks.iter().filter(|hook| !hook.bindings.is_empty() && hook.error.is_none()).map(|hook| &*hook.policy)
}

/// What the policies read of object and oldObject.
fn projections(hooks: &[PlannedHook]) -> Projections {
    let mut projections = Projections::default();
    evaluated(hooks).for_each(|policy| projections.merge(policy.projections()));
    projections
}

impl Needs {
    fn new(hooks: &[PlannedHook], reads: Reads, converts: bool) -> Needs {
        let constraints = || {
            hooks
                .iter()
                .flat_map(|hook| hook.bindings.iter().map(|binding| &binding.constraints).chain([&hook.constraints]))
                .flatten()
        };
        Needs {
            request: reads.intersects(Reads::REQUEST | Reads::REQUEST_MATCH | Reads::AUTHORIZER)
                || constraints().any(PlannedConstraints::reads_name)
                || hooks.iter().any(PlannedHook::reads_request_namespace),
            object: converts || reads.intersects(Reads::OBJECT),
            old_object: converts || reads.intersects(Reads::OLD_OBJECT),
            namespace_object: reads.intersects(Reads::NAMESPACE_OBJECT),
            namespace_labels: constraints().any(PlannedConstraints::reads_namespace_labels),
            object_labels: constraints().any(PlannedConstraints::reads_object_labels),
        }
    }
}
