//! Kubernetes' name formats with their messages (`k8s.io/apimachinery/pkg/api/validation`, `pkg/util/validation` and
//! `pkg/api/validate/content`).
//!
//! Upstream has two copies of the DNS formats whose length messages differ: "characters" in `pkg/util/validation`,
//! "bytes" in `pkg/api/validate/content`, which label keys and values use.

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const LABEL_MESSAGE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN_MESSAGE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const DNS_1035: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const DNS_1035_MESSAGE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const KEY: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const KEY_MESSAGE: &str =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const VALUE_MESSAGE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

const LABEL_MAX: usize = 63;
const SUBDOMAIN_MAX: usize = 253;

fn regex_error(message: &str, pattern: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|e| format!("'{e}', ")).collect();
    format!("{message} (e.g. {}regex used for validation is '{pattern}')", examples.join(" or "))
}

fn subdomain_pattern() -> String {
    format!("{LABEL}(\\.{LABEL})*")
}

/// Whether a text is not empty, has only `inner` bytes, and starts and ends as asked.
fn shaped(text: &[u8], first: fn(&u8) -> bool, inner: fn(&u8) -> bool, last: fn(&u8) -> bool) -> bool {
    text.first().is_some_and(first) && text.last().is_some_and(last) && text.iter().all(inner)
}

fn lower(b: &u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

fn lower_or_dash(b: &u8) -> bool {
    lower(b) || *b == b'-'
}

fn is_label(text: &[u8]) -> bool {
    shaped(text, lower, lower_or_dash, lower)
}

fn is_subdomain(text: &[u8]) -> bool {
    text.split(|b| *b == b'.').all(is_label)
}

fn is_key(text: &[u8]) -> bool {
    shaped(
        text,
        u8::is_ascii_alphanumeric,
        |b| b.is_ascii_alphanumeric() || b"-_.".contains(b),
        u8::is_ascii_alphanumeric,
    )
}

fn too_long(text: &[u8], max: usize, unit: &str) -> Option<String> {
    (text.len() > max).then(|| format!("must be no more than {max} {unit}"))
}

/// `maskTrailingDash`: a prefix may end with a dash. As upstream, the byte before the dash goes too.
pub(super) fn mask_trailing_dash(text: &[u8]) -> Vec<u8> {
    match text {
        [head @ .., _, b'-'] => [head, b"a"].concat(),
        _ => text.to_vec(),
    }
}

/// `IsDNS1123Label`: what is wrong, nothing if it is valid.
pub(super) fn dns_1123_label(text: &[u8]) -> Vec<String> {
    let shape = (!is_label(text)).then(|| {
        if is_subdomain(text) {
            "must not contain dots".into()
        } else {
            regex_error(LABEL_MESSAGE, LABEL, &["my-name", "123-abc"])
        }
    });
    too_long(text, LABEL_MAX, "characters").into_iter().chain(shape).collect()
}

fn subdomain(text: &[u8], unit: &str) -> Vec<String> {
    let shape = (!is_subdomain(text)).then(|| regex_error(SUBDOMAIN_MESSAGE, &subdomain_pattern(), &["example.com"]));
    too_long(text, SUBDOMAIN_MAX, unit).into_iter().chain(shape).collect()
}

/// `IsDNS1123Subdomain`.
pub(super) fn dns_1123_subdomain(text: &[u8]) -> Vec<String> {
    subdomain(text, "characters")
}

/// `IsDNS1035Label`.
pub(super) fn dns_1035_label(text: &[u8]) -> Vec<String> {
    let shape = (!shaped(text, u8::is_ascii_lowercase, lower_or_dash, lower))
        .then(|| regex_error(DNS_1035_MESSAGE, DNS_1035, &["my-name", "abc-123"]));
    too_long(text, LABEL_MAX, "characters").into_iter().chain(shape).collect()
}

/// `IsQualifiedName`: an optional DNS subdomain and a slash, and a name.
pub(super) fn qualified_name(text: &[u8]) -> Vec<String> {
    let key_error = |what: &str| format!("{what} {}", regex_error(KEY_MESSAGE, KEY, &["MyName", "my.name", "123-abc"]));
    let parts: Vec<&[u8]> = text.split(|b| *b == b'/').collect();
    let (mut errors, name) = match parts.as_slice() {
        [name] => (Vec::new(), *name),
        [b"", name] => (vec!["prefix part must be non-empty".into()], *name),
        [prefix, name] => (subdomain(prefix, "bytes").into_iter().map(|e| format!("prefix part {e}")).collect(), *name),
        _ => {
            let error = key_error("a valid label key");
            return vec![format!("{error} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')")];
        }
    };
    if name.is_empty() {
        errors.push("name part must be non-empty".into());
    }
    errors.extend(too_long(name, LABEL_MAX, "bytes").map(|e| format!("name part {e}")));
    if !is_key(name) {
        errors.push(key_error("name part"));
    }
    errors
}

/// `IsValidLabelValue`.
pub(super) fn label_value(text: &[u8]) -> Vec<String> {
    let shape = (!text.is_empty() && !is_key(text))
        .then(|| regex_error(VALUE_MESSAGE, &format!("({KEY})?"), &["MyValue", "my_value", "12345"]));
    too_long(text, LABEL_MAX, "bytes").into_iter().chain(shape).collect()
}

/// `ValidateServiceAccountName`.
pub(crate) fn is_service_account_name(text: &str) -> bool {
    dns_1123_subdomain(text.as_bytes()).is_empty()
}

/// `ValidateNamespaceName`.
pub(crate) fn is_namespace_name(text: &str) -> bool {
    dns_1123_label(text.as_bytes()).is_empty()
}
