use super::*;
use crate::api::{FailurePolicy, MatchPolicy, Scope};

fn shown(json: &str) -> String {
    String::from_utf8(show(json.as_bytes()).unwrap()).unwrap()
}

fn refused(json: &str) -> String {
    show(json.as_bytes()).unwrap_err()
}

#[test]
fn defaults_are_the_apis() {
    let policy = policy(
        br#"{"metadata":{"name":"p","annotations":null},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":[""]}],
           "objectSelector":null},"validations":null,"unknown":{"x":1}},"status":{}}"#,
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
fn params_are_demanded_by_v1alpha1_alone() {
    for (version, action) in [("v1alpha1", r#","parameterNotFoundAction":"Deny""#), ("v1beta1", ""), ("v1", "")] {
        let json = format!(
            r#"{{"apiVersion":"admissionregistration.k8s.io/{version}","kind":"ValidatingAdmissionPolicyBinding","metadata":{{"name":"b"}},
                 "spec":{{"policyName":"p","paramRef":{{"name":"x"}}}}}}"#
        );
        let spec = format!(r#"{{"policyName":"p","paramRef":{{"name":"x"{action}}}}}"#);
        assert_eq!(shown(&json), format!(r#"{{"object":{{"metadata":{{"name":"b"}},"spec":{spec}}},"strict":[]}}"#));
    }
}

#[test]
fn unknown_and_duplicate_fields_are_noted_and_ignored() {
    let json = r#"{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"p","labels":{"a":"b","a":"c"}},
        "spec":{"Validations":[],"validations":[{"expression":"true","message":"m"}],"validations":[{"expression":"false","x":{"y":1}}]}}"#;
    assert_eq!(
        shown(json),
        concat!(
            r#"{"object":{"metadata":{"name":"p"},"spec":{"validations":[{"expression":"false","message":"m"}],"failurePolicy":"Fail"}},"#,
            r#""strict":["duplicate field \"metadata.labels.a\"","unknown field \"spec.Validations\"","duplicate field \"spec.validations\"","#,
            r#""unknown field \"spec.validations[0].x\""]}"#
        )
    );
}

#[test]
fn errors_name_object_and_field() {
    let policy = |rest: &str| {
        refused(&format!(
            r#"{{"apiVersion":"admissionregistration.k8s.io/v1beta1","kind":"ValidatingAdmissionPolicy",{rest},"metadata":{{"name":"p"}}}}"#
        ))
    };
    assert_eq!(
        policy(r#""spec":{"validations":[{"expression":"true"},{"expression":1}]}"#),
        r#"ValidatingAdmissionPolicy "p": spec.validations[1].expression: expected string, got number"#
    );
    assert_eq!(policy(r#""spec":[]"#), r#"ValidatingAdmissionPolicy "p": spec: expected object, got array"#);
    assert_eq!(
        policy(r#""spec":{"matchConstraints":{"resourceRules":[{"scope":"All"}]}}"#),
        concat!(
            r#"ValidatingAdmissionPolicy "p": spec.matchConstraints.resourceRules[0].scope: Unsupported value: "All": "#,
            r#"supported values: "*", "Cluster", "Namespaced""#
        )
    );
    assert_eq!(
        policy(r#""status":{"observedGeneration":1.0}"#),
        r#"ValidatingAdmissionPolicy "p": status.observedGeneration: expected int64, got number 1.0"#
    );
}

#[test]
fn other_objects_are_refused() {
    assert_eq!(refused("{}"), "Object 'Kind' is missing in '{}'");
    assert_eq!(refused(r#"{"kind":"Pod"}"#), r#"Object 'apiVersion' is missing in '{"kind":"Pod"}'"#);
    assert_eq!(refused(r#"{"apiVersion":"v1","kind":"Pod"}"#), r#"no kind "Pod" is registered for version "v1""#);
    assert_eq!(
        refused(r#"{"apiVersion":"admissionregistration.k8s.io/v2","kind":"ValidatingAdmissionPolicy"}"#),
        r#"no kind "ValidatingAdmissionPolicy" is registered for version "admissionregistration.k8s.io/v2""#
    );
    assert_eq!(refused(r#"{"apiVersion":"a/b/c","kind":"Pod"}"#), "unexpected GroupVersion string: a/b/c");
    assert_eq!(refused("{"), "couldn't get version/kind; json parse error: unexpected end of JSON input");
    let binding = br#"{"kind":"ValidatingAdmissionPolicyBinding"}"#;
    assert_eq!(
        policy(binding).unwrap_err(),
        "expected a ValidatingAdmissionPolicy, got a ValidatingAdmissionPolicyBinding"
    );
}
