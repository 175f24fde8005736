//! Which params a binding evaluates a policy with: upstream's `generic.CollectParams`.

use std::fmt::Write as _;

use bumpalo::Bump;

use crate::answers::{Answer, Ask, json_field};
use crate::mutants::{Mutant, planted};
use crate::params::{Param, ParamSet};
use crate::plan::PlannedHook;
use crate::policy::ParamRef;
use crate::request::{RequestView, Unanswered};

/// Params to evaluate with; `None` is evaluation without a param. Or upstream's error.
pub(crate) type Collected<'a> = Result<&'a [Option<&'a Param>], &'a str>;

/// What the choice depends on.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) arena: &'a Bump,
    pub(crate) request: &'a RequestView<'a>,
    /// The hook's param set; `None` before it has synced.
    pub(crate) set: Option<&'a ParamSet>,
}

impl<'a> Source<'a> {
    /// Chooses the params of a binding.
    pub(crate) fn collect(
        &self,
        hook: &'a PlannedHook,
        param_ref: Option<&'a ParamRef>,
    ) -> Result<Collected<'a>, Unanswered> {
        let (Some(kind), Some(param_ref)) = (hook.policy.param_kind(), param_ref) else {
            return Ok(Ok(&[None]));
        };
        let Some(number) = hook.params else {
            return Ok(Err(bumpalo::format!(in self.arena, "paramKind kind `{}` not known", kind).into_bump_str()));
        };
        let namespace = match (hook.namespaced_params, &*param_ref.namespace) {
            (false, _) => "",
            (true, "") => self.request.namespace(),
            (true, _) if planted(Mutant::ParamNamespaceIsRequests) => self.request.namespace(),
            (true, namespace) => namespace,
        };
        if hook.namespaced_params && namespace.is_empty() && !planted(Mutant::ClusterScopedFindsParams) {
            return Ok(Err("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"));
        }
        // A param that is named is fetched where upstream waits for the informer and then denies.
        let named = !param_ref.name.is_empty() && param_ref.selector.is_none();
        let set = if named { self.set } else { self.synced(number)? };
        if set.is_none() && !named {
            let error =
                bumpalo::format!(in self.arena, "paramKind kind `{}` not yet synced to use for admission", kind);
            return Ok(Err(error.into_bump_str()));
        }
        if !hook.namespaced_params && !param_ref.namespace.is_empty() && !planted(Mutant::ClusterParamsTakeNamespace) {
            return Ok(Err("paramRef.namespace must not be provided for a cluster-scoped `paramKind`"));
        }
        let found: &'a [Option<&'a Param>] = match (&*param_ref.name, &param_ref.selector) {
            ("", None) => return Ok(Err("one of name or selector must be provided")),
            ("", Some(Err(error))) => return Ok(Err(error)),
            ("", Some(Ok(selector))) => {
                let selected = set.into_iter().flat_map(|set| set.select(namespace, selector));
                let selected = selected.map(|param| Some(&**param));
                let most = if planted(Mutant::OneParamIsSelected) { 1 } else { usize::MAX };
                bumpalo::collections::Vec::from_iter_in(selected.take(most), self.arena).into_bump_slice()
            }
            (_, Some(_)) if !planted(Mutant::NameAndSelector) => {
                return Ok(Err("paramRef.name and paramRef.selector are mutually exclusive"));
            }
            (name, _) => match set.and_then(|set| set.get(namespace, name)) {
                Some(param) => self.arena.alloc([Some(&**param)]),
                None => match self.fetched(number, namespace, name)? {
                    Ok(Some(param)) => self.arena.alloc([Some(param)]),
                    Ok(None) => &[],
                    Err(error) => return Ok(Err(error)),
                },
            },
        };
        if found.is_empty() && param_ref.deny_not_found && !planted(Mutant::MissingParamsAreAllowed) {
            return Ok(Err("no params found for policy binding with `Deny` parameterNotFoundAction"));
        }
        Ok(Ok(found))
    }

    /// The param set, `None` when it has not synced in time.
    fn synced(&self, number: u32) -> Result<Option<&'a ParamSet>, Unanswered> {
        if self.set.is_some() {
            return Ok(self.set);
        }
        let fields = format!("\"params\":{number}");
        // None, also if the caller says that it has synced, but still gives no set.
        self.request.authorizer.answer(Ask::ParamSync, &fields).map(|_| None)
    }

    /// A param that the set does not have (yet), or of a set that has not synced, fetched by the caller.
    fn fetched(
        &self,
        number: u32,
        namespace: &str,
        name: &str,
    ) -> Result<Result<Option<&'a Param>, &'a str>, Unanswered> {
        if planted(Mutant::ParamsAreNotFetched) {
            return Ok(Ok(None));
        }
        let mut fields = String::new();
        // Writing to a String cannot fail.
        let _ = write!(fields, "\"params\":{number}");
        json_field(&mut fields, "namespace", namespace);
        json_field(&mut fields, "name", name);
        match self.request.authorizer.answer(Ask::Param, &fields)? {
            Answer::Param(Ok(param)) => Ok(Ok(param.as_deref())),
            Answer::Param(Err(error)) => Ok(Err(error)),
            _ => Err(Unanswered),
        }
    }
}
