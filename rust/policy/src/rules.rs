//! Which resource rules match a kind of request: `predicates/rules` and `matchesResourceRules` of upstream's `policy/matching`.
//!
//! All but the object's name is known when a plan is made, so the outcome is a short list of alternatives to try in order.

use std::fmt;

use serde::Deserialize;

use crate::api::{MatchPolicy, NamedRule, Scope};
use crate::mutants::{Mutant, planted};
use crate::packed::{Packer, Texts, Unpacker};

/// A group, version and resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize, serde::Serialize)]
pub struct Resource {
    /// The API group; empty for the core group.
    #[serde(default)]
    pub group: String,
    /// The API version.
    #[serde(default)]
    pub version: String,
    /// The resource, plural.
    #[serde(default)]
    pub resource: String,
}

/// As Go prints a `schema.GroupVersionResource`.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Resource={}", self.group, self.version, self.resource)
    }
}

/// A group, version and kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize, serde::Serialize)]
pub struct Kind {
    /// The API group; empty for the core group.
    #[serde(default)]
    pub group: String,
    /// The API version.
    #[serde(default)]
    pub version: String,
    /// The kind.
    #[serde(default)]
    pub kind: String,
}

/// Resource rules in one piece, as policies and bindings keep them.
#[derive(Debug)]
pub struct Rules(Box<[u8]>);

/// One of [`Rules`].
struct Rule<'a> {
    scope: Scope,
    names: Texts<'a>,
    operations: Texts<'a>,
    groups: Texts<'a>,
    versions: Texts<'a>,
    resources: Texts<'a>,
}

impl Rules {
    /// Takes rules over.
    pub fn new(rules: &[NamedRule]) -> Rules {
        let mut packer = Packer::default();
        for NamedRule { resource_names, operations, api_groups, api_versions, resources, scope } in rules {
            packer.number(*scope as usize);
            for texts in [resource_names, operations, api_groups, api_versions, resources] {
                packer.texts(texts);
            }
        }
        Rules(packer.finish())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn iter(&self) -> impl Iterator<Item = Rule<'_>> {
        let mut from = Unpacker::new(&self.0);
        std::iter::from_fn(move || {
            (!from.is_empty()).then(|| Rule {
                scope: [Scope::Cluster, Scope::Namespaced].get(from.number()).copied().unwrap_or(Scope::All),
                names: from.texts(),
                operations: from.texts(),
                groups: from.texts(),
                versions: from.texts(),
                resources: from.texts(),
            })
        })
    }
}

/// One kind of request: what a plan is made for (docs/abi.md, "Plan").
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Key {
    /// The requested resource.
    pub resource: Resource,
    /// The requested subresource.
    #[serde(default)]
    pub subresource: String,
    /// CREATE, UPDATE, DELETE or CONNECT.
    pub operation: String,
    /// Whether the request has a namespace.
    #[serde(default)]
    pub namespaced: bool,
    /// The kind of the request.
    pub kind: Kind,
    /// The other groups and versions of the resource, in upstream's order.
    #[serde(default)]
    pub equivalents: Vec<Equivalent>,
}

/// Another group or version of the requested resource.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Equivalent {
    /// The resource there.
    pub resource: Resource,
    /// Its kind; `None` when the mapper knows none.
    #[serde(default)]
    pub kind: Option<Kind>,
}

/// What happens if a request's name is among `names`: the first alternative that applies decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    /// Names to which it applies; empty: to all.
    pub names: Box<[Box<str>]>,
    /// The resource and kind under which the request matches, or upstream's error.
    pub outcome: Result<(Resource, Kind), String>,
}

impl Alternative {
    /// Whether the alternative applies to an object of this name.
    pub fn applies(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|candidate| **candidate == *name)
    }
}

/// The alternatives that rules give for one kind of request. Nothing follows an alternative that applies to all names.
pub fn alternatives(rules: &Rules, policy: MatchPolicy, key: &Key) -> Vec<Alternative> {
    let mut found = Vec::new();
    for rule in rules.iter().filter(|rule| matches(rule, key, &key.resource)) {
        if add(&mut found, &rule, Ok((key.resource.clone(), key.kind.clone()))) {
            return found;
        }
    }
    if policy == MatchPolicy::Exact && !planted(Mutant::ExactIsEquivalent) {
        return found;
    }
    for rule in rules.iter() {
        for equivalent in key.equivalents.iter().filter(|equivalent| equivalent.resource != key.resource) {
            if !matches(&rule, key, &equivalent.resource) {
                continue;
            }
            let Some(kind) = equivalent.kind.as_ref().filter(|kind| **kind != Kind::default()) else {
                if planted(Mutant::UnknownKindIsSkipped) {
                    continue;
                }
                let error = format!("unable to convert to {}: unknown kind", equivalent.resource);
                found.push(Alternative { names: Box::default(), outcome: Err(error) });
                return found;
            };
            let kind = if planted(Mutant::EquivalentKeepsKind) { &key.kind } else { kind };
            if add(&mut found, &rule, Ok((equivalent.resource.clone(), kind.clone()))) {
                return found;
            }
        }
    }
    found
}

/// Adds a rule's alternative; true when it applies to all names.
fn add(found: &mut Vec<Alternative>, rule: &Rule<'_>, outcome: Result<(Resource, Kind), String>) -> bool {
    let mut names: Box<[Box<str>]> = rule.names.clone().map(Box::from).collect();
    if planted(Mutant::NamesAreIgnored) {
        names = Box::default();
    }
    let all = names.is_empty() || planted(Mutant::NamesEndRules);
    found.push(Alternative { names, outcome });
    all
}

/// Upstream's `rules.Matcher.Matches` for a resource that may be an equivalent of the requested one.
fn matches(rule: &Rule<'_>, key: &Key, resource: &Resource) -> bool {
    scope(rule.scope, key.namespaced, resource)
        && exact_or_wildcard(&rule.operations, &key.operation)
        && exact_or_wildcard(&rule.groups, &resource.group)
        && exact_or_wildcard(&rule.versions, &resource.version)
        && rule.resources.clone().any(|pattern| resource_matches(pattern, &resource.resource, &key.subresource))
}

fn exact_or_wildcard(items: &Texts<'_>, requested: &str) -> bool {
    items.clone().any(|item| item == "*" || item == requested)
}

/// Requests for a Namespace carry its name as their namespace, but Namespaces are cluster-scoped.
fn scope(scope: Scope, namespaced: bool, resource: &Resource) -> bool {
    let is_namespace = resource.group.is_empty()
        && resource.version == "v1"
        && resource.resource == "namespaces"
        && !planted(Mutant::NamespacesAreNamespaced);
    match scope {
        Scope::All => true,
        Scope::Namespaced => namespaced && !is_namespace,
        Scope::Cluster => !namespaced || is_namespace,
    }
}

/// `a` has no subresource, `a/*` also matches `a` itself.
fn resource_matches(pattern: &str, resource: &str, subresource: &str) -> bool {
    let (res, sub) = pattern.split_once('/').unwrap_or((pattern, ""));
    if planted(Mutant::StarHasSubresources) && pattern == "*" {
        return true;
    }
    let all = sub == "*" && !(planted(Mutant::SlashStarNeedsSubresource) && subresource.is_empty());
    (res == "*" || res == resource) && (all || sub == subresource)
}

#[cfg(test)]
mod tests;
