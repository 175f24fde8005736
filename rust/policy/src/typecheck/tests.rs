use serde::Deserialize;

use super::type_check;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Warning {
    field_ref: String,
    warning: String,
}

fn warnings(policy_spec: &str, types: &str, params: &str) -> Vec<(String, String)> {
    let json = format!(r#"{{"policy":{{"spec":{policy_spec}}},"types":{types},"params":{params}}}"#);
    let warnings: Vec<Warning> = serde_json::from_slice(&type_check(json.as_bytes()).unwrap()).unwrap();
    warnings.into_iter().map(|warning| (warning.field_ref, warning.warning)).collect()
}

const DEPLOYMENT: &str = r#"[{"kind":{"group":"apps","version":"v1","kind":"Deployment"},"schema":{"type":"object","properties":{
    "spec":{"type":"object","properties":{"replicas":{"type":"integer"}}}}}}]"#;

#[test]
fn a_warning_names_the_type_and_the_place() {
    let spec = r#"{"validations":[{"expression":"object.replicas > 1","messageExpression":"'a' + object.spec.replicas"},
        {"expression":"object.spec.replicas > 1"}]}"#;
    assert_eq!(
        warnings(spec, DEPLOYMENT, "null"),
        [
            (
                "spec.validations[0].expression".to_owned(),
                "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^\n".to_owned()
            ),
            (
                "spec.validations[0].messageExpression".to_owned(),
                "apps/v1, Kind=Deployment: ERROR: <input>:1:5: found no matching overload for '_+_' applied to '(string, int)'\n \
                 | 'a' + object.spec.replicas\n | ....^\n"
                    .to_owned()
            ),
        ]
    );
    assert!(warnings(spec, "[]", "null").is_empty());
}

#[test]
fn each_type_has_a_paragraph() {
    let types = r#"[{"kind":{"group":"","version":"v1","kind":"A"},"schema":{"type":"object"}},
        {"kind":{"group":"","version":"v1","kind":"Unknown"}},
        {"kind":{"group":"g","version":"v1","kind":"B"},"schema":{"type":"object"}}]"#;
    let spec = r#"{"validations":[{"expression":"object.x"}]}"#;
    let paragraph = |kind: &str| format!("{kind}: ERROR: <input>:1:7: undefined field 'x'\n | object.x\n | ......^\n");
    let both = [paragraph("/v1, Kind=A"), paragraph("g/v1, Kind=B")].join("\n");
    assert_eq!(warnings(spec, types, "null"), [("spec.validations[0].expression".to_owned(), both)]);
}

#[test]
fn params_are_declared_if_there_is_a_kind() {
    let spec = r#"{"variables":[{"name":"n","expression":"params.spec.n"},{"name":"bad","expression":"nothing"}],
        "validations":[{"expression":"variables.n == 'a'"},{"expression":"variables.bad.x"}]}"#;
    let params = r#"{"kind":{"group":"g","version":"v1","kind":"P"},"schema":{"type":"object","properties":{"spec":{"type":"object","properties":
        {"n":{"type":"integer"}}}}}}"#;
    let texts = warnings(spec, DEPLOYMENT, params);
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].1.contains("applied to '(int, string)'"), "{texts:?}");
    assert!(warnings(spec, DEPLOYMENT, r#"{"kind":{"group":"g","version":"v1","kind":"P"}}"#).is_empty());
    // A variable that does not compile has any type.
    assert!(warnings(spec, DEPLOYMENT, "null").is_empty());
}

#[test]
fn a_kind_without_a_readable_schema_is_left_out() {
    let deep = format!("{}{{}}{}", r#"{"type":"array","items":"#.repeat(1000), "}".repeat(1000));
    let deep = format!(r#"{{"kind":{{"group":"","version":"v1","kind":"Deep"}},"schema":{deep}}}"#);
    let spec = r#"{"validations":[{"expression":"object.x + params.y"},{"expression":"nothing"}]}"#;
    assert!(warnings(spec, &format!("[{deep}]"), "null").is_empty());
    let texts = warnings(spec, DEPLOYMENT, &deep);
    assert_eq!(
        texts.iter().map(|(field, _)| field.as_str()).collect::<Vec<_>>(),
        ["spec.validations[0].expression", "spec.validations[1].expression"]
    );
}

#[test]
fn what_is_no_input_is_an_error() {
    assert!(type_check(b"{").is_err());
    assert!(type_check(br#"{"policy":{},"types":[{"kind":{}}]}"#).is_err());
}
