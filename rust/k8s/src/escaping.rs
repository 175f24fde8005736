//! Property names as CEL can write them, and back (`pkg/cel/escaping.go`).

use std::borrow::Cow;

/// Words that no identifier may be (`celReservedSymbols`).
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// Whether a name is a word that CEL reserves.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// The reserved word that an escaped name stands for, if it stands for one.
pub fn escaped_keyword(name: &str) -> Option<&str> {
    name.strip_prefix("__")?.strip_suffix("__").filter(|word| is_reserved(word))
}

/// The identifier that stands for a property: reserved words between underscores, `__`, `.`, `-` and `/` spelt out. `None` if
/// the name has other characters than those, letters, digits and `_`, or begins with a digit.
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if is_reserved(name) {
        return Some(format!("__{name}__"));
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name.chars();
    while let Some(char) = rest.next() {
        match char {
            '_' if rest.as_str().starts_with('_') => {
                rest.next();
                out.push_str("__underscores__");
            }
            '.' => out.push_str("__dot__"),
            '-' => out.push_str("__dash__"),
            '/' => out.push_str("__slash__"),
            '_' => out.push('_'),
            _ if char.is_ascii_alphanumeric() => out.push(char),
            _ => return None,
        }
    }
    Some(out)
}

/// The name that an escaped name stands for; `None` if its escapes are not valid.
pub fn unescape(name: &str) -> Option<Cow<'_, str>> {
    if !name.contains("__") {
        return Some(name.into());
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(start) = rest.find("__") {
        let (before, escape) = rest.split_at(start);
        out.push_str(before);
        // `__`, at least one character that is no underscore, `__`.
        let inner = escape.get(2..).unwrap_or_default();
        let len = inner.find('_').unwrap_or(inner.len());
        let contents = inner.get(..len).unwrap_or_default();
        if len == 0 || !inner.get(len..).is_some_and(|tail| tail.starts_with("__")) {
            out.push('_');
            rest = escape.get(1..).unwrap_or_default();
            continue;
        }
        match contents {
            "underscores" => out.push_str("__"),
            "dot" => out.push('.'),
            "dash" => out.push('-'),
            "slash" => out.push('/'),
            word if is_reserved(word) && word.len() + 4 == name.len() => out.push_str(word),
            _ => return None,
        }
        rest = inner.get(len + 2..).unwrap_or_default();
    }
    out.push_str(rest);
    Some(out.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs from `cel.Escape`.
    #[test]
    fn names_are_escaped() {
        for (name, escaped) in [
            ("a", Some("a")),
            ("", None),
            ("9a", None),
            ("namespace", Some("__namespace__")),
            ("a-b.c/d", Some("a__dash__b__dot__c__slash__d")),
            ("___", Some("__underscores___")),
            ("a_b", Some("a_b")),
            ("a$b", None),
            ("é", None),
            ("-a", Some("__dash__a")),
        ] {
            assert_eq!(escape(name).as_deref(), escaped, "{name}");
        }
        assert_eq!(escaped_keyword("__namespace__"), Some("namespace"));
        assert_eq!(escaped_keyword("__a__"), None);
        assert_eq!(escaped_keyword("namespace"), None);
    }

    /// Pairs from `cel.Unescape`.
    #[test]
    fn names_are_unescaped() {
        for (escaped, name) in [
            ("a_b", Some("a_b")),
            ("a__dot__b", Some("a.b")),
            ("a__dash__b__slash__c", Some("a-b/c")),
            ("__namespace__", Some("namespace")),
            ("__namespace__x", None),
            ("a__b__c", None),
            ("a__b", Some("a__b")),
            ("a___dot__b", Some("a_.b")),
            ("x__underscores__y", Some("x__y")),
            ("____", Some("____")),
            ("_", Some("_")),
        ] {
            assert_eq!(unescape(escaped).as_deref(), name, "{escaped}");
        }
    }
}
