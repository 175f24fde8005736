//! What requests policies, bindings and webhooks are about, parsed once per object and narrowed once per kind of request (upstream's
//! `policy/matching`, and `ShouldCallHook` of `webhook/generic`, which agree).

use std::sync::Arc;

use crate::api::{LabelSelector, MatchPolicy, MatchResources, ValidatingWebhook};
use crate::mutants::{Mutant, planted};
use crate::request::{RequestView, Unanswered};
use crate::rules::{Alternative, Key, Kind, Resource, Rules, alternatives};
use crate::selector::Selector;

/// The constraints of a policy, binding or webhook.
#[derive(Debug)]
pub(crate) struct Constraints {
    namespace: Check,
    object: Check,
    rules: Rules,
    exclude: Rules,
    policy: MatchPolicy,
}

impl Constraints {
    pub(crate) fn new(resources: &MatchResources) -> Constraints {
        Constraints {
            namespace: Check::new(Some(&resources.namespace_selector), internal_error),
            object: Check::new(Some(&resources.object_selector), internal_error),
            rules: Rules::new(&resources.resource_rules),
            exclude: Rules::new(&resources.exclude_resource_rules),
            policy: resources.match_policy,
        }
    }

    /// A webhook's; `None` if it has no rules, so that it matches nothing. Errors are without the prefix that makes them internal ones.
    pub(crate) fn of_webhook(webhook: &ValidatingWebhook) -> Option<Constraints> {
        let all = planted(Mutant::WebhooksNeedNoSelector).then(LabelSelector::default);
        (!webhook.rules.is_empty() || planted(Mutant::WebhooksNeedNoRules)).then(|| Constraints {
            namespace: Check::new(webhook.namespace_selector.as_ref().or(all.as_ref()), str::to_owned),
            object: Check::new(webhook.object_selector.as_ref().or(all.as_ref()), str::to_owned),
            rules: Rules::new(&webhook.rules),
            exclude: Rules::new(&[]),
            policy: webhook.match_policy.unwrap_or(MatchPolicy::Exact),
        })
    }
}

/// apimachinery's `NewInternalError(err).Error()`.
fn internal_error(error: &str) -> String {
    if planted(Mutant::SelectorErrorIsPlain) {
        return error.to_owned();
    }
    format!("Internal error occurred: {error}")
}

/// One selector of constraints.
#[derive(Debug, Clone)]
enum Check {
    /// It holds for every request.
    All,
    /// It does not parse.
    Error(Arc<str>),
    /// It must be matched.
    Selector(Arc<Selector>),
}

impl Check {
    /// Without a selector, nothing matches.
    fn new(selector: Option<&LabelSelector>, error_text: impl Fn(&str) -> String) -> Check {
        match selector.map_or_else(|| Ok(Selector::nothing()), Selector::parse) {
            Err(error) => Check::Error(error_text(&error).into()),
            Ok(selector) if selector.is_empty() => Check::All,
            Ok(selector) => Check::Selector(selector.into()),
        }
    }
}

/// The resource and kind under which a request matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Match {
    /// Index among the plan's matches.
    pub(crate) number: u32,
    pub(crate) resource: Resource,
    pub(crate) kind: Kind,
    /// Index among the plan's versions.
    pub(crate) version: u32,
}

/// The distinct matches of a plan, and the versions that they need.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    pub(crate) matches: Vec<Match>,
    pub(crate) versions: Vec<Kind>,
}

impl Matches {
    fn index(&mut self, resource: Resource, kind: Kind) -> u32 {
        if let Some(index) = self.matches.iter().position(|m| m.resource == resource && m.kind == kind) {
            return index as u32;
        }
        let version = self.versions.iter().position(|version| *version == kind).unwrap_or(self.versions.len());
        if version == self.versions.len() {
            self.versions.push(kind.clone());
        }
        let number = self.matches.len() as u32;
        self.matches.push(Match { number, resource, kind, version: version as u32 });
        number
    }
}

/// Constraints narrowed to one kind of request.
#[derive(Debug)]
pub(crate) struct PlannedConstraints {
    namespace: Check,
    object: Check,
    exclude: Box<[PlannedAlternative]>,
    rules: Box<[PlannedAlternative]>,
    /// The match, if all requests of this kind match, whatever their names and labels.
    always: Option<u32>,
}

#[derive(Debug)]
struct PlannedAlternative {
    names: Box<[Box<str>]>,
    /// An index into the plan's matches, or an error.
    outcome: Result<u32, Box<str>>,
}

/// What constraints say about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict<'a> {
    /// They do not match.
    No,
    /// They match; an index into the plan's matches.
    Match(u32),
    /// They match as far as can be seen, but there was an error.
    Error(&'a str),
    /// Such an error: the labels of the namespace could not be looked up.
    NamespaceError(&'a str),
}

impl PlannedConstraints {
    /// `None` when no request of this kind can match. `matches` collects resources and kinds; a binding's do not matter, so it gives none.
    pub(crate) fn new(
        constraints: &Constraints,
        key: &Key,
        mut matches: Option<&mut Matches>,
    ) -> Option<PlannedConstraints> {
        let policy = if planted(Mutant::ExcludeIsExact) { MatchPolicy::Exact } else { constraints.policy };
        let mut exclude = alternatives(&constraints.exclude, policy, key);
        if planted(Mutant::ExcludeIgnoresNames) {
            exclude.iter_mut().for_each(|alternative| alternative.names = Box::default());
        }
        if exclude.first().is_some_and(|first| first.names.is_empty() && first.outcome.is_ok()) {
            return None;
        }
        let mut index =
            |resource: Resource, kind: Kind| matches.as_mut().map_or(0, |matches| matches.index(resource, kind));
        let rules: Vec<Alternative> = if constraints.rules.is_empty() {
            let outcome = Ok((key.resource.clone(), key.kind.clone()));
            vec![Alternative { names: Box::default(), outcome }]
        } else {
            alternatives(&constraints.rules, constraints.policy, key)
        };
        let exclusion_may_fail = exclude.iter().any(|alternative| alternative.outcome.is_err());
        if rules.is_empty() && !exclusion_may_fail {
            return None;
        }
        // Upstream exempts cluster-scoped resources from namespaceSelectors, but for any group's `namespaces`.
        let other = planted(Mutant::OtherNamespacesExempt) && !key.resource.group.is_empty();
        let exempt = !key.namespaced && (key.resource.resource != "namespaces" || other);
        let mut planned = PlannedConstraints {
            namespace: if exempt { Check::All } else { constraints.namespace.clone() },
            object: constraints.object.clone(),
            exclude: exclude.into_iter().map(|a| PlannedAlternative::new(a, &mut |_, _| 0)).collect(),
            rules: rules.into_iter().map(|a| PlannedAlternative::new(a, &mut index)).collect(),
            always: None,
        };
        planned.always = match (&planned.namespace, &planned.object, &*planned.exclude, &*planned.rules) {
            (Check::All, Check::All, [], [PlannedAlternative { names, outcome: Ok(index) }, ..])
                if names.is_empty() =>
            {
                Some(*index)
            }
            _ => None,
        };
        Some(planned)
    }

    /// Whether [`Self::verdict`] can be an error.
    pub(crate) fn may_fail(&self) -> bool {
        !matches!(self.namespace, Check::All) || self.may_fail_with_labels()
    }

    /// Whether [`Self::verdict`] can be an error even if the labels of the namespace are there.
    pub(crate) fn may_fail_with_labels(&self) -> bool {
        matches!(self.namespace, Check::Error(_))
            || matches!(self.object, Check::Error(_))
            || self.exclude.iter().chain(&self.rules).any(|alternative| alternative.outcome.is_err())
    }

    /// Whether the labels of the namespace are needed.
    pub(crate) fn reads_namespace_labels(&self) -> bool {
        matches!(self.namespace, Check::Selector(_))
    }

    /// Whether the labels of object and oldObject are needed.
    pub(crate) fn reads_object_labels(&self) -> bool {
        matches!(self.object, Check::Selector(_))
    }

    /// Whether the object's name is needed.
    pub(crate) fn reads_name(&self) -> bool {
        self.exclude.iter().chain(&self.rules).any(|alternative| !alternative.names.is_empty())
    }

    /// Upstream's `Matcher.Matches`. Namespace labels come last, so that they are asked for only if they decide.
    #[inline]
    pub(crate) fn verdict<'a>(&'a self, request: &RequestView<'a>) -> Result<Verdict<'a>, Unanswered> {
        match self.always {
            Some(index) => Ok(Verdict::Match(index)),
            None => self.looked_at(request),
        }
    }

    fn looked_at<'a>(&'a self, request: &RequestView<'a>) -> Result<Verdict<'a>, Unanswered> {
        if let Check::Selector(selector) = &self.object
            && !selected(request, selector)
        {
            return Ok(Verdict::No);
        }
        if planted(Mutant::NamespaceErrorFirst)
            && let Check::Error(error) = &self.namespace
        {
            return Ok(Verdict::Error(error));
        }
        let name = request.name();
        let rules = match self.exclude.iter().find(|alternative| alternative.applies(name)) {
            Some(PlannedAlternative { outcome: Ok(_), .. }) => return Ok(Verdict::No),
            Some(PlannedAlternative { outcome: Err(error), .. }) => Verdict::Error(error),
            None => match self.rules.iter().find(|alternative| alternative.applies(name)) {
                None => return Ok(Verdict::No),
                Some(PlannedAlternative { outcome: Err(error), .. }) => Verdict::Error(error),
                Some(PlannedAlternative { outcome: Ok(index), .. }) => Verdict::Match(*index),
            },
        };
        let namespace_error = match &self.namespace {
            Check::All => None,
            Check::Error(error) => Some(Verdict::Error(error)),
            Check::Selector(selector) => match request.namespace_labels()? {
                Ok(labels) if selector.matches(&labels) => None,
                Ok(_) => return Ok(Verdict::No),
                Err(error) => Some(Verdict::NamespaceError(error)),
            },
        };
        Ok(match (rules, namespace_error, &self.object) {
            (Verdict::Match(_), Some(error), _) => error,
            (Verdict::Match(_), None, Check::Error(error)) if !planted(Mutant::ObjectSelectorErrorMatches) => {
                Verdict::Error(error)
            }
            (verdict, _, _) => verdict,
        })
    }
}

/// Whether an objectSelector matches: one of the objects is enough.
#[inline]
fn selected(request: &RequestView<'_>, selector: &Selector) -> bool {
    if planted(Mutant::ObjectsMatchBoth) {
        return request.object_labels().all(|labels| selector.matches(labels));
    }
    if planted(Mutant::OldObjectIsIgnored) {
        return request.object_labels().next().is_some_and(|labels| selector.matches(labels));
    }
    request.object_labels().any(|labels| selector.matches(labels))
}

impl PlannedAlternative {
    fn new(alternative: Alternative, index: &mut impl FnMut(Resource, Kind) -> u32) -> PlannedAlternative {
        let outcome = alternative.outcome.map(|(resource, kind)| index(resource, kind)).map_err(String::into_boxed_str);
        PlannedAlternative { names: alternative.names, outcome }
    }

    #[inline]
    fn applies(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|candidate| **candidate == *name)
    }
}
