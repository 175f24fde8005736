//! What type checking is given, as JSON.

use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// A ValidatingAdmissionPolicy, read as all of them are.
    pub(super) policy: Box<RawValue>,
    /// The types that the policy is about, in the order of warnings.
    pub(super) types: Vec<Subject>,
    /// The type of params, if the policy has a valid paramKind.
    #[serde(default)]
    pub(super) params: Option<Subject>,
}

/// A kind, and its schema if there is one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Subject {
    pub(super) kind: Kind,
    /// Read apart from the rest: one that is nested too deeply does not keep others from being checked.
    #[serde(default)]
    pub(super) schema: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kind {
    group: String,
    version: String,
    pub(super) kind: String,
}

/// As apimachinery prints a `GroupVersionKind`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}
