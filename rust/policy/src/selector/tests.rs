use std::collections::BTreeMap;

use super::*;
use crate::api::read;

impl Labels for BTreeMap<&str, &str> {
    fn label(&self, key: &str) -> Option<&str> {
        self.get(key).copied()
    }
}

fn selector(json: &str) -> Result<Selector, String> {
    Selector::parse(&read::part(json).unwrap())
}

#[test]
fn operators() {
    let labels = BTreeMap::from([("a", "1"), ("b", "")]);
    for (json, expected) in [
        ("{}", true),
        (r#"{"matchLabels":{"a":"1","b":""}}"#, true),
        (r#"{"matchLabels":{"a":"1","c":""}}"#, false),
        (r#"{"matchExpressions":[{"key":"a","operator":"In","values":["0","1"]}]}"#, true),
        (r#"{"matchExpressions":[{"key":"a","operator":"NotIn","values":["0","1"]}]}"#, false),
        (r#"{"matchExpressions":[{"key":"c","operator":"NotIn","values":["0"]}]}"#, true),
        (r#"{"matchExpressions":[{"key":"b","operator":"Exists"}]}"#, true),
        (r#"{"matchExpressions":[{"key":"c","operator":"Exists"}]}"#, false),
        (
            r#"{"matchExpressions":[{"key":"c","operator":"DoesNotExist"},{"key":"a","operator":"DoesNotExist"}]}"#,
            false,
        ),
    ] {
        assert_eq!(selector(json).unwrap().matches(&labels), expected, "{json}");
    }
}

/// Texts taken from `metav1.LabelSelectorAsSelector`.
#[test]
fn errors_are_upstreams() {
    let name = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric \
                character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
                '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let value = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end \
                 with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
                 '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let long = "a".repeat(64);
    for (json, expected) in [
        (r#"{"matchLabels":{"a b":"c"}}"#.to_owned(), format!("key: Invalid value: \"a b\": {name}")),
        (r#"{"matchLabels":{"a":"-c"}}"#.to_owned(), format!("values[0][a]: Invalid value: \"-c\": {value}")),
        (
            r#"{"matchLabels":{"/c":"x"}}"#.to_owned(),
            "key: Invalid value: \"/c\": prefix part must be non-empty".to_owned(),
        ),
        (
            format!(r#"{{"matchLabels":{{"":"{long}"}}}}"#),
            format!(
                "[key: Invalid value: \"\": name part must be non-empty; {name}, values[0][]: Invalid value: \"{long}\": must be no more than 63 bytes]"
            ),
        ),
        (
            r#"{"matchExpressions":[{"key":"a","operator":"In"}]}"#.to_owned(),
            "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty".to_owned(),
        ),
        (
            r#"{"matchExpressions":[{"key":"a","operator":"Exists","values":["x<y","z"]}]}"#.to_owned(),
            format!(
                "[values: Invalid value: [\"x\\u003cy\",\"z\"]: values set must be empty for exists and does not exist, \
                 values[0][a]: Invalid value: \"x<y\": {value}]"
            ),
        ),
        (
            r#"{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]}"#.to_owned(),
            "\"Gt\" is not a valid label selector operator".to_owned(),
        ),
    ] {
        assert_eq!(selector(&json).unwrap_err(), expected, "{json}");
    }
    assert!(
        selector(r#"{"matchLabels":{"a/b/c":"x"}}"#)
            .unwrap_err()
            .ends_with("with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")
    );
}
