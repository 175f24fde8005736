//! Label selectors: `metav1.LabelSelectorAsSelector` and `labels.Selector` of apimachinery, parsed once and matched without allocation.

use celgate_k8s::gotext::quote;

use crate::api::{LabelSelector, LabelSelectorRequirement};
use crate::mutants::{Mutant, planted};

/// A set of labels to match against.
pub trait Labels {
    /// The value of a label, if it is set.
    fn label(&self, key: &str) -> Option<&str>;
}

/// A parsed selector: all requirements must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    requirements: Box<[Requirement]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: Box<str>,
    operator: Operator,
    values: Box<[Box<str>]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl Selector {
    /// Parses a selector; the error's text is upstream's (its first one in order of keys where Go's map order would decide).
    pub fn parse(selector: &LabelSelector) -> Result<Selector, String> {
        let mut requirements = Vec::with_capacity(selector.match_labels.len() + selector.match_expressions.len());
        for (key, value) in &selector.match_labels {
            let values = std::slice::from_ref(value);
            check(key, values, None)?;
            requirements.push(Requirement { key: key.as_str().into(), operator: Operator::In, values: boxed(values) });
        }
        for expression in &selector.match_expressions {
            requirements.push(requirement(expression)?);
        }
        requirements.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(Selector { requirements: requirements.into() })
    }

    /// The selector that matches nothing: apimachinery's `labels.Nothing()`.
    pub fn nothing() -> Selector {
        let none = Requirement { key: "".into(), operator: Operator::In, values: Box::default() };
        Selector { requirements: [none].into() }
    }

    /// Whether the selector matches everything.
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Whether the labels satisfy every requirement.
    pub fn matches(&self, labels: &impl Labels) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(labels))
    }
}

impl Requirement {
    fn matches(&self, labels: &impl Labels) -> bool {
        let value = labels.label(&self.key);
        match self.operator {
            Operator::In => value.is_some_and(|value| self.has(value)),
            Operator::NotIn if planted(Mutant::NotInNeedsLabel) => value.is_some_and(|value| !self.has(value)),
            Operator::NotIn => value.is_none_or(|value| !self.has(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }

    fn has(&self, value: &str) -> bool {
        self.values.iter().any(|candidate| **candidate == *value)
    }
}

fn requirement(expression: &LabelSelectorRequirement) -> Result<Requirement, String> {
    let values = &expression.values;
    let (operator, values_error) = match expression.operator.as_str() {
        "In" if values.is_empty() => (Operator::In, Some("for 'in', 'notin' operators, values set can't be empty")),
        "NotIn" if values.is_empty() => {
            (Operator::NotIn, Some("for 'in', 'notin' operators, values set can't be empty"))
        }
        "Exists" if !values.is_empty() => {
            (Operator::Exists, Some("values set must be empty for exists and does not exist"))
        }
        "DoesNotExist" if !values.is_empty() => {
            (Operator::DoesNotExist, Some("values set must be empty for exists and does not exist"))
        }
        "In" => (Operator::In, None),
        "NotIn" => (Operator::NotIn, None),
        "Exists" => (Operator::Exists, None),
        "DoesNotExist" => (Operator::DoesNotExist, None),
        other => return Err(format!("{} is not a valid label selector operator", quote(other))),
    };
    check(&expression.key, values, values_error)?;
    Ok(Requirement { key: expression.key.as_str().into(), operator, values: boxed(values) })
}

fn boxed(values: &[String]) -> Box<[Box<str>]> {
    values.iter().map(|value| value.as_str().into()).collect()
}

/// The checks of `labels.NewRequirement`; errors are aggregated as `field.ErrorList` does.
fn check(key: &str, values: &[String], values_error: Option<&str>) -> Result<(), String> {
    let mut errors = Vec::new();
    let key_errors = label_key_errors(key);
    if !key_errors.is_empty() {
        errors.push(format!("key: Invalid value: {}: {}", quote(key), key_errors.join("; ")));
    }
    if let Some(error) = values_error {
        errors.push(format!("values: Invalid value: {}: {error}", json_list(values)));
    }
    for (i, value) in values.iter().enumerate() {
        let value_errors = label_value_errors(value);
        if !value_errors.is_empty() {
            errors.push(format!("values[{i}][{key}]: Invalid value: {}: {}", quote(value), value_errors.join("; ")));
        }
    }
    aggregate(errors)
}

/// apimachinery's `utilerrors.Aggregate` as text: distinct messages, in brackets when there are several; `Ok` when there are none.
pub(crate) fn aggregate(errors: Vec<String>) -> Result<(), String> {
    let mut distinct: Vec<String> = Vec::with_capacity(errors.len());
    for error in errors {
        if !distinct.contains(&error) {
            distinct.push(error);
        }
    }
    match distinct.len() {
        0 => Ok(()),
        1 => Err(distinct.swap_remove(0)),
        _ => Err(format!("[{}]", distinct.join(", "))),
    }
}

const KEY: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character \
    (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and \
    end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
    '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start \
    and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/// `content.IsLabelKey`.
fn label_key_errors(key: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let parts: Vec<&str> = key.split('/').collect();
    let name = match parts[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                errors.push("prefix part must be non-empty".to_owned());
            } else {
                if prefix.len() > 253 {
                    errors.push("prefix part must be no more than 253 bytes".to_owned());
                }
                if !is_subdomain(prefix) {
                    errors.push(format!("prefix part {SUBDOMAIN}"));
                }
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        errors.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_name(name) {
        errors.push(format!("name part {KEY}"));
    }
    errors
}

/// `content.IsLabelValue`.
fn label_value_errors(value: &str) -> Vec<String> {
    let mut errors = Vec::new();
    if value.len() > 63 {
        errors.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_name(value) {
        errors.push(VALUE.to_owned());
    }
    errors
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    end(bytes.first())
        && end(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn is_subdomain(name: &str) -> bool {
    let alphanumeric = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    name.split('.').all(|label| {
        let bytes = label.as_bytes();
        bytes.first().is_some_and(alphanumeric)
            && bytes.last().is_some_and(alphanumeric)
            && bytes.iter().all(|b| alphanumeric(b) || *b == b'-')
    })
}

/// `encoding/json`'s rendering of a list of strings, with its escapes of `<`, `>` and `&`; an empty list was nil, thus `null`.
fn json_list(values: &[String]) -> String {
    if values.is_empty() {
        return "null".to_owned();
    }
    let plain = serde_json::to_string(values).unwrap_or_default();
    let mut out = String::with_capacity(plain.len());
    for c in plain.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
