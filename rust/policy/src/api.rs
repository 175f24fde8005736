//! The API objects, as JSON gives them: ValidatingAdmissionPolicy and its binding, with the API's defaults.
//!
//! Unknown fields are ignored and `null` means absent, as in the apiserver's decoder; v1beta1 and v1alpha1 have the same fields.
//! Defaults are those of Kubernetes' `pkg/apis/admissionregistration/v1/defaults.go`.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

/// A ValidatingAdmissionPolicy.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ValidatingAdmissionPolicy {
    /// Name and annotations.
    #[serde(default, deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What it demands.
    #[serde(default, deserialize_with = "nullable")]
    pub spec: PolicySpec,
}

/// A ValidatingAdmissionPolicyBinding.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ValidatingAdmissionPolicyBinding {
    /// Name and annotations.
    #[serde(default, deserialize_with = "nullable")]
    pub metadata: ObjectMeta,
    /// What it binds.
    #[serde(default, deserialize_with = "nullable")]
    pub spec: BindingSpec,
}

/// The part of ObjectMeta that matters here.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ObjectMeta {
    /// The object's name.
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
    /// The object's annotations.
    #[serde(default, deserialize_with = "nullable")]
    pub annotations: BTreeMap<String, String>,
}

/// ValidatingAdmissionPolicySpec.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicySpec {
    /// The kind of params; absent when the policy has none.
    #[serde(default)]
    pub param_kind: Option<ParamKind>,
    /// Which requests the policy is about.
    #[serde(default)]
    pub match_constraints: Option<MatchResources>,
    /// The rules.
    #[serde(default, deserialize_with = "nullable")]
    pub validations: Vec<Validation>,
    /// What an error means; defaults to [`FailurePolicy::Fail`].
    #[serde(default, deserialize_with = "nullable")]
    pub failure_policy: FailurePolicy,
    /// Audit annotations to add.
    #[serde(default, deserialize_with = "nullable")]
    pub audit_annotations: Vec<AuditAnnotation>,
    /// Conditions on requests, in CEL.
    #[serde(default, deserialize_with = "nullable")]
    pub match_conditions: Vec<NamedExpression>,
    /// Named expressions that others refer to as `variables.<name>`.
    #[serde(default, deserialize_with = "nullable")]
    pub variables: Vec<NamedExpression>,
}

/// The kind of a policy's params.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParamKind {
    /// `group/version`, or `version` in the core group.
    #[serde(default, deserialize_with = "nullable")]
    pub api_version: String,
    /// The kind.
    #[serde(default, deserialize_with = "nullable")]
    pub kind: String,
}

/// As Go prints a `*ParamKind` with `%v`.
impl std::fmt::Display for ParamKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "&ParamKind{{APIVersion:{},Kind:{},}}", self.api_version, self.kind)
    }
}

/// What an error in a policy's configuration or evaluation means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum FailurePolicy {
    /// The request is denied.
    #[default]
    Fail,
    /// The error is ignored.
    Ignore,
}

/// One rule.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Validation {
    /// A CEL expression that must be true.
    #[serde(default, deserialize_with = "nullable")]
    pub expression: String,
    /// What to say when it is not.
    #[serde(default, deserialize_with = "nullable")]
    pub message: String,
    /// The status reason of a denial.
    #[serde(default)]
    pub reason: Option<String>,
    /// A CEL expression for what to say.
    #[serde(default, deserialize_with = "nullable")]
    pub message_expression: String,
}

/// One audit annotation.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditAnnotation {
    /// The key, without the policy's name.
    #[serde(default, deserialize_with = "nullable")]
    pub key: String,
    /// A CEL expression for the value; null or empty adds nothing.
    #[serde(default, deserialize_with = "nullable")]
    pub value_expression: String,
}

/// A match condition or a variable.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct NamedExpression {
    /// Its name.
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
    /// The CEL expression.
    #[serde(default, deserialize_with = "nullable")]
    pub expression: String,
}

/// MatchResources, of policies and bindings alike.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MatchResources {
    /// On the labels of the request's namespace; defaults to everything.
    #[serde(default, deserialize_with = "nullable")]
    pub namespace_selector: LabelSelector,
    /// On the labels of object or oldObject; defaults to everything.
    #[serde(default, deserialize_with = "nullable")]
    pub object_selector: LabelSelector,
    /// Resources that match; empty constrains nothing.
    #[serde(default, deserialize_with = "nullable")]
    pub resource_rules: Vec<NamedRule>,
    /// Resources that do not match, whatever the rules above say.
    #[serde(default, deserialize_with = "nullable")]
    pub exclude_resource_rules: Vec<NamedRule>,
    /// Whether other versions of a resource count; defaults to [`MatchPolicy::Equivalent`].
    #[serde(default, deserialize_with = "nullable")]
    pub match_policy: MatchPolicy,
}

/// Whether rules match a resource only as requested, or also through its other groups and versions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum MatchPolicy {
    /// Only as requested.
    Exact,
    /// Also through equivalent resources; the object is converted.
    #[default]
    Equivalent,
}

/// NamedRuleWithOperations.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NamedRule {
    /// Names of objects; empty matches all.
    #[serde(default, deserialize_with = "nullable")]
    pub resource_names: Vec<String>,
    /// CREATE, UPDATE, DELETE, CONNECT or `*`.
    #[serde(default, deserialize_with = "nullable")]
    pub operations: Vec<String>,
    /// Groups or `*`.
    #[serde(default, deserialize_with = "nullable")]
    pub api_groups: Vec<String>,
    /// Versions or `*`.
    #[serde(default, deserialize_with = "nullable")]
    pub api_versions: Vec<String>,
    /// `resource`, `resource/subresource`, with `*` for either.
    #[serde(default, deserialize_with = "nullable")]
    pub resources: Vec<String>,
    /// Cluster, Namespaced or `*` (the default).
    #[serde(default, deserialize_with = "nullable")]
    pub scope: Scope,
}

/// The scope of a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelSelector {
    /// Labels that must have these values.
    #[serde(default, deserialize_with = "nullable")]
    pub match_labels: BTreeMap<String, String>,
    /// Further requirements.
    #[serde(default, deserialize_with = "nullable")]
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// metav1.LabelSelectorRequirement.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct LabelSelectorRequirement {
    /// The label.
    #[serde(default, deserialize_with = "nullable")]
    pub key: String,
    /// In, NotIn, Exists or DoesNotExist.
    #[serde(default, deserialize_with = "nullable")]
    pub operator: String,
    /// Values of In and NotIn.
    #[serde(default, deserialize_with = "nullable")]
    pub values: Vec<String>,
}

/// ValidatingAdmissionPolicyBindingSpec.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BindingSpec {
    /// The policy that is bound.
    #[serde(default, deserialize_with = "nullable")]
    pub policy_name: String,
    /// Which params it is bound with; absent evaluates with none.
    #[serde(default)]
    pub param_ref: Option<ParamRef>,
    /// Narrows the policy's own constraints; absent matches all.
    #[serde(default)]
    pub match_resources: Option<MatchResources>,
    /// Deny, Warn, Audit.
    #[serde(default, deserialize_with = "nullable")]
    pub validation_actions: Vec<String>,
}

/// Which params a binding uses.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParamRef {
    /// The param's name; excludes `selector`.
    #[serde(default, deserialize_with = "nullable")]
    pub name: String,
    /// The param's namespace; the request's when empty.
    #[serde(default, deserialize_with = "nullable")]
    pub namespace: String,
    /// Selects params by label.
    #[serde(default)]
    pub selector: Option<LabelSelector>,
    /// `Allow` or `Deny`: what it means that there are no params.
    #[serde(default)]
    pub parameter_not_found_action: Option<String>,
}

/// Reads `null` as the default.
fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_the_apis() {
        let policy: ValidatingAdmissionPolicy = serde_json::from_str(
            r#"{"apiVersion":"v1","metadata":{"name":"p","annotations":null},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""]}]},
               "validations":null,"unknown":{"x":1}},"status":{}}"#,
        )
        .unwrap();
        assert_eq!(policy.spec.failure_policy, FailurePolicy::Fail);
        let constraints = policy.spec.match_constraints.unwrap();
        assert_eq!(constraints.match_policy, MatchPolicy::Equivalent);
        assert!(constraints.namespace_selector.match_labels.is_empty());
        assert_eq!(constraints.resource_rules[0].scope, Scope::All);
        assert!(policy.spec.param_kind.is_none());
    }

    #[test]
    fn param_kind_prints_as_in_go() {
        let kind = ParamKind { api_version: "v1".into(), kind: "ConfigMap".into() };
        assert_eq!(kind.to_string(), "&ParamKind{APIVersion:v1,Kind:ConfigMap,}");
    }
}
