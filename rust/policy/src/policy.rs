//! Policies and bindings, compiled once.

use std::sync::Arc;

use crate::api::{BindingSpec, FailurePolicy, ParamKind, PolicySpec, read};
use crate::compile::Program;
use crate::constraints::Constraints;
use crate::counts::Counted;
use crate::mutants::{Mutant, planted};
use crate::report::Action;
use crate::selector::Selector;

/// The annotation by which tests make a policy panic (feature `fault-injection`).
#[cfg(feature = "fault-injection")]
const INJECT: &str = "celgate.dev/inject";

/// A compiled ValidatingAdmissionPolicy. Immutable; any thread.
#[derive(Debug)]
pub struct Policy {
    counted: Counted,
    failure_policy: FailurePolicy,
    param_kind: Option<Box<ParamKind>>,
    constraints: Option<Constraints>,
    program: Program,
    #[cfg(feature = "fault-injection")]
    panics: bool,
}

impl Policy {
    /// Compiles a policy from its JSON (any version of the API, v1 if it names none). Expressions that do not compile are inside, as
    /// errors; the error of this function is about the JSON.
    pub fn from_json(json: &[u8]) -> Result<Policy, String> {
        let policy = read::policy(json)?;
        let PolicySpec { param_kind, match_constraints, failure_policy, .. } = &policy.spec;
        Ok(Policy {
            failure_policy: *failure_policy,
            constraints: match_constraints.as_ref().map(Constraints::new),
            program: Program::compile(&policy.spec, param_kind.is_some()),
            param_kind: param_kind.clone().map(Box::new),
            #[cfg(feature = "fault-injection")]
            panics: policy.metadata.annotations.get(INJECT).is_some_and(|inject| inject == "panic"),
            counted: Counted::new(&policy.metadata.name),
        })
    }

    /// The policy's name.
    pub fn name(&self) -> &str {
        self.counted.name()
    }

    /// How often policies of this name were evaluated in this process, once per request and distinct param, while any of them lived.
    pub fn evaluations(&self) -> u64 {
        self.counted.total()
    }

    pub(crate) fn counted(&self) -> &Counted {
        &self.counted
    }

    /// Whether errors are ignored (`failurePolicy: Ignore`).
    pub(crate) fn ignores_errors(&self) -> bool {
        self.failure_policy == FailurePolicy::Ignore
    }

    /// What an error of an evaluation means.
    pub(crate) fn on_error(&self) -> Action {
        Action::of_errors(self.failure_policy)
    }

    pub(crate) fn param_kind(&self) -> Option<&ParamKind> {
        self.param_kind.as_deref()
    }

    pub(crate) fn constraints(&self) -> Option<&Constraints> {
        self.constraints.as_ref()
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// Panics if the policy's annotations ask for it, in builds for tests.
    #[cfg(feature = "fault-injection")]
    #[expect(clippy::panic, reason = "a fault that tests ask for")]
    pub(crate) fn inject_fault(&self) {
        if self.panics {
            panic!("fault injected by {INJECT}");
        }
    }

    #[cfg(not(feature = "fault-injection"))]
    #[inline]
    pub(crate) fn inject_fault(&self) {}
}

/// A ValidatingAdmissionPolicyBinding with parsed selectors. Immutable; any thread.
#[derive(Debug)]
pub struct Binding {
    name: Box<str>,
    constraints: Option<Box<Constraints>>,
    param_ref: Option<Box<ParamRef>>,
}

/// A binding's paramRef.
#[derive(Debug)]
pub(crate) struct ParamRef {
    pub(crate) name: Box<str>,
    pub(crate) namespace: Box<str>,
    pub(crate) selector: Option<Result<Selector, String>>,
    /// Whether it is an error that there are no params.
    pub(crate) deny_not_found: bool,
}

impl Binding {
    /// Reads a binding from its JSON (any version of the API, v1 if it names none); the error is about the JSON.
    pub fn from_json(json: &[u8]) -> Result<Binding, String> {
        let binding = read::binding(json)?;
        let BindingSpec { param_ref, match_resources, .. } = binding.spec;
        Ok(Binding {
            name: binding.metadata.name.into(),
            constraints: match_resources.as_ref().map(Constraints::new).map(Box::new),
            param_ref: param_ref.map(|param_ref| {
                Box::new(ParamRef {
                    name: param_ref.name.into(),
                    namespace: param_ref.namespace.into(),
                    selector: param_ref.selector.as_ref().map(Selector::parse),
                    deny_not_found: match param_ref.parameter_not_found_action.as_deref() {
                        Some(action) => action == "Deny",
                        None => planted(Mutant::MissingParamsDenyByDefault),
                    },
                })
            }),
        })
    }

    /// The binding's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn constraints(&self) -> Option<&Constraints> {
        self.constraints.as_deref()
    }

    pub(crate) fn param_ref(&self) -> Option<&ParamRef> {
        self.param_ref.as_deref()
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Policy>();
    shared::<Binding>();
    shared::<Arc<Policy>>();
};
