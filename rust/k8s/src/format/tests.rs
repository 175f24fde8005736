use super::*;
use crate::testing::{call, equal, show, text, with_context};

fn errors(format: &str, s: &str) -> String {
    let mut out = String::new();
    with_context(|ctx| {
        let format = call(ctx, &LIBRARY, &format!("format.{format}"), &[]);
        out = show(call(ctx, &LIBRARY, "format-validate", &[format, text(ctx, s)]));
    });
    out
}

#[test]
fn valid_texts() {
    let valid = [
        ("dns1123Label", "my-name"),
        ("dns1123Subdomain", "a.b-c.d"),
        ("dns1035Label", "a1"),
        ("qualifiedName", "example.com/MyName"),
        ("dns1123LabelPrefix", "my-"),
        ("dns1123SubdomainPrefix", "a.b-"),
        ("dns1035LabelPrefix", "a1-"),
        ("labelValue", ""),
        ("labelValue", "A_b.c"),
        ("uri", "https://example.com/a b"),
        ("uuid", "123E4567e89b12d3-a456-426614174000"),
        ("byte", "aGVsbG8="),
        ("date", "2024-02-29"),
        ("datetime", "2021-01-01T00:00:00Z"),
        ("datetime", "2021-01-01t23:59:59.5+09:00"),
        ("datetime", "2021-01-01t23:59:59ztrailing"),
    ];
    for (format, s) in valid {
        assert_eq!(errors(format, s), "none", "{format} {s}");
    }
}

#[test]
fn messages() {
    assert_eq!(errors("dns1123Label", "a.b"), "some([\"must not contain dots\"])");
    assert_eq!(
        errors("dns1123Label", &"A".repeat(64)),
        "some([\"must be no more than 63 characters\", \"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')\"])"
    );
    assert_eq!(errors("labelValue", &"a".repeat(64)), "some([\"must be no more than 63 bytes\"])");
    assert_eq!(errors("qualifiedName", "/a"), "some([\"prefix part must be non-empty\"])");
    assert_eq!(errors("uri", "x"), "some([\"parse \\\"x\\\": invalid URI for request\"])");
    assert_eq!(errors("uuid", "x"), "some([\"does not match the UUID format\"])");
    assert_eq!(errors("byte", "a==="), "some([\"invalid base64\"])");
    assert_eq!(errors("date", "2023-02-29"), "some([\"invalid date\"])");
    assert_eq!(errors("datetime", "2021-01-01T24:00:00Z"), "some([\"invalid datetime\"])");
}

#[test]
fn formats_are_equal_by_name() {
    with_context(|ctx| {
        let date = call(ctx, &LIBRARY, "format.date", &[]);
        let named = |name| match call(ctx, &LIBRARY, "format-named", &[text(ctx, name)]) {
            Value::Optional(Some(format)) => Some(*format),
            _ => None,
        };
        assert_eq!(named("date").map(|format| equal(ctx, date, format)), Some("true".into()));
        assert_eq!(named("byte").map(|format| equal(ctx, date, format)), Some("false".into()));
        assert!(named("date-time").is_none());
    });
}
