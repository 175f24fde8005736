//! The fields of the API's types by their JSON names (`k8s.io/api/admissionregistration` and `k8s.io/apimachinery/pkg/apis/meta/v1`).
//!
//! All versions have the same ones. What nothing here needs is still checked, so that what the apiserver's decoder refuses is refused.

use std::collections::BTreeMap;

use super::decode::{Bool, Decode, Decoder, Int64, Mismatch, Raw, Text, Time, choose, fields, values};
use super::{
    AuditAnnotation, BindingSpec, FailurePolicy, LabelSelector, LabelSelectorRequirement, MatchPolicy, MatchResources,
    NamedExpression, NamedRule, ObjectMeta, ParamKind, ParamRef, PolicySpec, Scope, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding, ValidatingWebhook, Validation,
};

fields! {
    ValidatingAdmissionPolicy { "kind": Text, "apiVersion": Text, "metadata" => metadata, "spec" => spec, "status": Status }
    ValidatingAdmissionPolicyBinding { "kind": Text, "apiVersion": Text, "metadata" => metadata, "spec" => spec }
    ObjectMeta {
        "name" => name, "generateName": Text, "namespace": Text, "selfLink": Text, "uid": Text, "resourceVersion": Text,
        "generation": Int64, "creationTimestamp": Time, "deletionTimestamp": Time, "deletionGracePeriodSeconds": Int64,
        "labels": BTreeMap<String, Text>, "annotations" => annotations, "ownerReferences": Vec<OwnerReference>,
        "finalizers": Vec<Text>, "managedFields": Vec<ManagedFields>,
    }
    PolicySpec {
        "paramKind" => param_kind, "matchConstraints" => match_constraints, "validations" => validations,
        "failurePolicy" => failure_policy, "auditAnnotations" => audit_annotations, "matchConditions" => match_conditions,
        "variables" => variables,
    }
    ParamKind { "apiVersion" => api_version, "kind" => kind }
    Validation {
        "expression" => expression, "message" => message, "reason" => reason, "messageExpression" => message_expression,
    }
    AuditAnnotation { "key" => key, "valueExpression" => value_expression }
    NamedExpression { "name" => name, "expression" => expression }
    MatchResources {
        "namespaceSelector" => namespace_selector, "objectSelector" => object_selector, "resourceRules" => resource_rules,
        "excludeResourceRules" => exclude_resource_rules, "matchPolicy" => match_policy,
    }
    NamedRule {
        "resourceNames" => resource_names, "operations" => operations, "apiGroups" => api_groups,
        "apiVersions" => api_versions, "resources" => resources, "scope" => scope,
    }
    LabelSelector { "matchLabels" => match_labels, "matchExpressions" => match_expressions }
    LabelSelectorRequirement { "key" => key, "operator" => operator, "values" => values }
    BindingSpec {
        "policyName" => policy_name, "paramRef" => param_ref, "matchResources" => match_resources,
        "validationActions" => validation_actions,
    }
    ParamRef {
        "name" => name, "namespace" => namespace, "selector" => selector,
        "parameterNotFoundAction" => parameter_not_found_action,
    }
    ValidatingWebhook {
        "name" => name, "clientConfig": Raw, "rules" => rules, "failurePolicy" => failure_policy, "matchPolicy" => match_policy,
        "namespaceSelector" => namespace_selector, "objectSelector" => object_selector, "sideEffects": Text, "timeoutSeconds": Int64,
        "admissionReviewVersions": Vec<Text>, "matchConditions" => match_conditions,
    }
    OwnerReference {
        "apiVersion": Text, "kind": Text, "name": Text, "uid": Text, "controller": Bool, "blockOwnerDeletion": Bool,
    }
    ManagedFields {
        "manager": Text, "operation": Text, "apiVersion": Text, "time": Time, "fieldsType": Text, "fieldsV1": Raw,
        "subresource": Text,
    }
    Status { "observedGeneration": Int64, "typeChecking": TypeChecking, "conditions": Vec<Condition> }
    TypeChecking { "expressionWarnings": Vec<ExpressionWarning> }
    ExpressionWarning { "fieldRef": Text, "warning": Text }
    Condition {
        "type": Text, "status": Text, "observedGeneration": Int64, "lastTransitionTime": Time, "reason": Text, "message": Text,
    }
}

values! {
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, ObjectMeta, PolicySpec, ParamKind, Validation, AuditAnnotation,
    NamedExpression, MatchResources, NamedRule, LabelSelectorRequirement, BindingSpec, ParamRef, ValidatingWebhook, OwnerReference,
    ManagedFields, Status, TypeChecking, ExpressionWarning, Condition,
}

#[derive(Default)]
struct OwnerReference;

#[derive(Default)]
struct ManagedFields;

#[derive(Default)]
struct Status;

#[derive(Default)]
struct TypeChecking;

#[derive(Default)]
struct ExpressionWarning;

#[derive(Default)]
struct Condition;

/// Always behind a pointer in Go, so that null takes it away; what is not there selects everything by default.
impl Decode for LabelSelector {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        if !decoder.fields(self)? {
            *self = LabelSelector::default();
        }
        Ok(())
    }
}

impl Decode for FailurePolicy {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        choose(decoder, self, &[("Fail", FailurePolicy::Fail), ("Ignore", FailurePolicy::Ignore)])
    }
}

impl Decode for MatchPolicy {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        choose(decoder, self, &[("Equivalent", MatchPolicy::Equivalent), ("Exact", MatchPolicy::Exact)])
    }
}

impl Decode for Scope {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        let choices = [("*", Scope::All), ("Cluster", Scope::Cluster), ("Namespaced", Scope::Namespaced)];
        choose(decoder, self, &choices)
    }
}
