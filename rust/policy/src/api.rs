//! The API objects, ValidatingAdmissionPolicy, its binding and webhooks, as version v1 has them.
//!
//! [`read`] reads policies and bindings from the JSON of any version of the API, with that version's defaults. They are written as v1.

use std::collections::BTreeMap;

use serde::Serialize;

mod decode;
mod json;
pub mod read;
mod tables;

/// A ValidatingAdmissionPolicy.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ValidatingAdmissionPolicy {
    /// Name and annotations.
    pub metadata: ObjectMeta,
    /// What it demands.
    pub spec: PolicySpec,
}

/// A ValidatingAdmissionPolicyBinding.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ValidatingAdmissionPolicyBinding {
    /// Name and annotations.
    pub metadata: ObjectMeta,
    /// What it binds.
    pub spec: BindingSpec,
}

/// The part of ObjectMeta that matters here.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ObjectMeta {
    /// The object's name.
    pub name: String,
    /// The object's annotations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// ValidatingAdmissionPolicySpec.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicySpec {
    /// The kind of params; absent when the policy has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param_kind: Option<ParamKind>,
    /// Which requests the policy is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_constraints: Option<MatchResources>,
    /// The rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub validations: Vec<Validation>,
    /// What an error means; defaults to [`FailurePolicy::Fail`].
    pub failure_policy: FailurePolicy,
    /// Audit annotations to add.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audit_annotations: Vec<AuditAnnotation>,
    /// Conditions on requests, in CEL.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_conditions: Vec<NamedExpression>,
    /// Named expressions that others refer to as `variables.<name>`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variables: Vec<NamedExpression>,
}

/// What a v1 ValidatingWebhook says about which requests it is called for. It is taken as the apiserver holds it, with the API's defaults
/// applied; what is absent all the same means what upstream makes of nil.
#[derive(Debug, Clone, Default)]
pub struct ValidatingWebhook {
    /// The webhook's name.
    pub name: String,
    /// What an error of a match condition means; absent is [`FailurePolicy::Fail`].
    pub failure_policy: FailurePolicy,
    /// Absent is [`MatchPolicy::Exact`].
    pub match_policy: Option<MatchPolicy>,
    /// On the labels of the request's namespace; absent selects nothing.
    pub namespace_selector: Option<LabelSelector>,
    /// On the labels of object or oldObject; absent selects nothing.
    pub object_selector: Option<LabelSelector>,
    /// Resources that match; empty matches nothing.
    pub rules: Vec<NamedRule>,
    /// Conditions on requests, in CEL.
    pub match_conditions: Vec<NamedExpression>,
}

/// The kind of a policy's params.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ParamKind {
    /// `group/version`, or `version` in the core group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// The kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
}

/// As Go prints a `*ParamKind` with `%v`.
impl std::fmt::Display for ParamKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "&ParamKind{{APIVersion:{},Kind:{},}}", self.api_version, self.kind)
    }
}

/// What an error in a policy's configuration or evaluation means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum FailurePolicy {
    /// The request is denied.
    #[default]
    Fail,
    /// The error is ignored.
    Ignore,
}

/// One rule.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Validation {
    /// A CEL expression that must be true.
    pub expression: String,
    /// What to say when it is not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The status reason of a denial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A CEL expression for what to say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message_expression: String,
}

/// One audit annotation.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditAnnotation {
    /// The key, without the policy's name.
    pub key: String,
    /// A CEL expression for the value; null or empty adds nothing.
    pub value_expression: String,
}

/// A match condition or a variable.
#[derive(Debug, Clone, Default, Serialize)]
pub struct NamedExpression {
    /// Its name.
    pub name: String,
    /// The CEL expression.
    pub expression: String,
}

/// MatchResources, of policies and bindings alike.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MatchResources {
    /// On the labels of the request's namespace; defaults to everything.
    pub namespace_selector: LabelSelector,
    /// On the labels of object or oldObject; defaults to everything.
    pub object_selector: LabelSelector,
    /// Resources that match; empty constrains nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_rules: Vec<NamedRule>,
    /// Resources that do not match, whatever the rules above say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude_resource_rules: Vec<NamedRule>,
    /// Whether other versions of a resource count; defaults to [`MatchPolicy::Equivalent`].
    pub match_policy: MatchPolicy,
}

/// Whether rules match a resource only as requested, or also through its other groups and versions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum MatchPolicy {
    /// Only as requested.
    Exact,
    /// Also through equivalent resources; the object is converted.
    #[default]
    Equivalent,
}

/// NamedRuleWithOperations.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NamedRule {
    /// Names of objects; empty matches all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_names: Vec<String>,
    /// CREATE, UPDATE, DELETE, CONNECT or `*`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// Groups or `*`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    /// Versions or `*`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_versions: Vec<String>,
    /// `resource`, `resource/subresource`, with `*` for either.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// Cluster, Namespaced or `*` (the default).
    pub scope: Scope,
}

/// The scope of a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum Scope {
    /// Cluster-scoped resources (Namespace objects too).
    Cluster,
    /// Namespaced resources.
    Namespaced,
    /// Both.
    #[default]
    #[serde(rename = "*")]
    All,
}

/// metav1.LabelSelector.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelSelector {
    /// Labels that must have these values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub match_labels: BTreeMap<String, String>,
    /// Further requirements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// metav1.LabelSelectorRequirement.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LabelSelectorRequirement {
    /// The label.
    pub key: String,
    /// In, NotIn, Exists or DoesNotExist.
    pub operator: String,
    /// Values of In and NotIn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

/// ValidatingAdmissionPolicyBindingSpec.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BindingSpec {
    /// The policy that is bound.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub policy_name: String,
    /// Which params it is bound with; absent evaluates with none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub param_ref: Option<ParamRef>,
    /// Narrows the policy's own constraints; absent matches all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_resources: Option<MatchResources>,
    /// Deny, Warn, Audit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub validation_actions: Vec<String>,
}

/// Which params a binding uses.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ParamRef {
    /// The param's name; excludes `selector`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The param's namespace; the request's when empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Selects params by label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// `Allow` or `Deny`: what it means that there are no params.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter_not_found_action: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn param_kind_prints_as_in_go() {
        let kind = ParamKind { api_version: "v1".into(), kind: "ConfigMap".into() };
        assert_eq!(kind.to_string(), "&ParamKind{APIVersion:v1,Kind:ConfigMap,}");
    }
}
