use super::*;
use crate::api::read;

fn key(json: &str) -> Key {
    serde_json::from_str(json).unwrap()
}

fn rules(json: &str) -> Rules {
    Rules::new(&read::part::<Vec<NamedRule>>(json).unwrap())
}

const POD: &str = r#"{"resource":{"version":"v1","resource":"pods"},"operation":"CREATE","namespaced":true,"kind":{"version":"v1","kind":"Pod"}}"#;

fn count(rule: &str, key: &Key) -> usize {
    alternatives(&rules(rule), MatchPolicy::Exact, key).len()
}

#[test]
fn resources_and_subresources() {
    let rule = |resource: &str| {
        format!(r#"[{{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["{resource}"]}}]"#)
    };
    let pod = key(POD);
    let mut status = pod.clone();
    status.subresource = "status".into();
    for (pattern, plain, sub) in [
        ("pods", 1, 0),
        ("pods/*", 1, 1),
        ("pods/status", 0, 1),
        ("*", 1, 0),
        ("*/*", 1, 1),
        ("*/status", 0, 1),
        ("services", 0, 0),
    ] {
        assert_eq!(count(&rule(pattern), &pod), plain, "{pattern}");
        assert_eq!(count(&rule(pattern), &status), sub, "{pattern} with a subresource");
    }
}

#[test]
fn scope_of_namespaces() {
    let rule = |scope: &str| {
        format!(
            r#"[{{"apiGroups":["*"],"apiVersions":["*"],"operations":["CREATE"],"resources":["*"],"scope":"{scope}"}}]"#
        )
    };
    let namespace = key(
        r#"{"resource":{"version":"v1","resource":"namespaces"},"operation":"CREATE","namespaced":true,"kind":{"version":"v1","kind":"Namespace"}}"#,
    );
    assert_eq!(count(&rule("Namespaced"), &namespace), 0);
    assert_eq!(count(&rule("Cluster"), &namespace), 1);
    assert_eq!(count(&rule("Namespaced"), &key(POD)), 1);
    assert_eq!(count(&rule("Cluster"), &key(POD)), 0);
    assert_eq!(count(&rule("*"), &key(POD)), 1);
}

#[test]
fn operations_groups_versions() {
    let pod = key(POD);
    assert_eq!(count(r#"[{"apiGroups":["apps"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}]"#, &pod), 0);
    assert_eq!(count(r#"[{"apiGroups":[""],"apiVersions":["v2"],"operations":["*"],"resources":["*"]}]"#, &pod), 0);
    assert_eq!(
        count(r#"[{"apiGroups":[""],"apiVersions":["v1"],"operations":["UPDATE"],"resources":["*"]}]"#, &pod),
        0
    );
}

const DEPLOYMENT: &str = r#"{"resource":{"group":"apps","version":"v1","resource":"deployments"},"operation":"CREATE","namespaced":true,
    "kind":{"group":"apps","version":"v1","kind":"Deployment"},"equivalents":[
    {"resource":{"group":"apps","version":"v1","resource":"deployments"},"kind":{"group":"apps","version":"v1","kind":"Deployment"}},
    {"resource":{"group":"extensions","version":"v1beta1","resource":"deployments"},"kind":null},
    {"resource":{"group":"apps","version":"v1beta1","resource":"deployments"},"kind":{"group":"apps","version":"v1beta1","kind":"Deployment"}}]}"#;

#[test]
fn equivalents_convert_and_unknown_kinds_are_errors() {
    let deployment = key(DEPLOYMENT);
    let beta =
        rules(r#"[{"apiGroups":["apps"],"apiVersions":["v1beta1"],"operations":["*"],"resources":["deployments"]}]"#);
    assert!(alternatives(&beta, MatchPolicy::Exact, &deployment).is_empty());
    let found = alternatives(&beta, MatchPolicy::Equivalent, &deployment);
    assert_eq!(found.len(), 1);
    let (resource, kind) = found[0].outcome.as_ref().unwrap();
    assert_eq!((resource.version.as_str(), kind.version.as_str()), ("v1beta1", "v1beta1"));

    let unknown = rules(
        r#"[{"apiGroups":["extensions"],"apiVersions":["*"],"operations":["*"],"resources":["deployments"],"resourceNames":["x"]}]"#,
    );
    let found = alternatives(&unknown, MatchPolicy::Equivalent, &deployment);
    assert_eq!(found.len(), 1);
    assert!(found[0].applies("anything"));
    assert_eq!(
        found[0].outcome,
        Err("unable to convert to extensions/v1beta1, Resource=deployments: unknown kind".into())
    );
}

#[test]
fn names_narrow_and_the_first_that_applies_wins() {
    let deployment = key(DEPLOYMENT);
    let both = rules(
        r#"[{"apiGroups":["apps"],"apiVersions":["v1beta1"],"operations":["*"],"resources":["*"]},
            {"apiGroups":["apps"],"apiVersions":["v1"],"operations":["*"],"resources":["*"],"resourceNames":["a","b"]}]"#,
    );
    let found = alternatives(&both, MatchPolicy::Equivalent, &deployment);
    assert_eq!(found.len(), 2);
    assert!(found[0].applies("a") && !found[0].applies("c"));
    assert_eq!(found[0].outcome.as_ref().unwrap().1.version, "v1");
    assert!(found[1].applies("c"));
    assert_eq!(found[1].outcome.as_ref().unwrap().1.version, "v1beta1");
}
