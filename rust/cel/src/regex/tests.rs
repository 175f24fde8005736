use super::Regex;

#[test]
fn matches_as_re2() {
    for (pattern, text, expected) in [
        ("^a+$", "aaa", true),
        ("a$", "a\n", false),
        ("(?m)a$", "a\nb", true),
        ("(?i)straße", "STRASSE", false),
        ("(?i)ÉTÉ", "été", true),
        (r"\d", "٣", false),
        (r"^\w+$", "naïve", false),
        (r"\bfoo\b", "a foo b", true),
        (".", "\n", false),
        ("(?s).", "\n", true),
        ("[^a]", "\n", true),
        (r"\Qa.b\Ec", "a.bc", true),
        (r"\pL+", "Ü", true),
        (r"^\p{^Greek}$", "a", true),
        (r"[[:^digit:]x]", "5", false),
        ("a{2,3}?b", "aab", true),
        ("x{,2}", "x{,2}", true),
        (r"\x{e9}\x41\101", "éAA", true),
        ("(?i)k", "\u{212a}", true),
        ("(a|b|)c", "c", true),
        ("", "", true),
        (r"^[\]a-]+$", "]-a", true),
    ] {
        assert_eq!(Regex::new(pattern).map(|regex| regex.is_match(text)), Ok(expected), "{pattern} on {text:?}");
    }
}

#[test]
fn rejects_with_gos_words() {
    for (pattern, reason) in [
        ("(", "missing closing ): `(`"),
        (")", "unexpected ): `)`"),
        ("a)b", "unexpected ): `a)b`"),
        ("*", "missing argument to repetition operator: `*`"),
        ("a|*", "missing argument to repetition operator: `*`"),
        ("(?:+?)", "missing argument to repetition operator: `+?`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("a{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("a{3,2}", "invalid repeat count: `{3,2}`"),
        ("(a{100}){100}", "invalid repeat count: `{100}`"),
        ("[a", "missing closing ]: `[a`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        ("[[:nope:]]", "invalid character class range: `[:nope:]`"),
        (r"\p{Nope}", r"invalid character class range: `\p{Nope}`"),
        (r"\p{Old_Italic}", r"invalid character class range: `\p{Old_Italic}`"),
        ("\\", "trailing backslash at end of expression: ``"),
        (r"\8", r"invalid escape sequence: `\8`"),
        (r"\1", r"invalid escape sequence: `\1`"),
        (r"[\b]", r"invalid escape sequence: `\b`"),
        (r"\C", r"invalid escape sequence: `\C`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?P=n)", "invalid or unsupported Perl syntax: `(?P`"),
        ("(?P<n-m>a)", "invalid named capture: `(?P<n-m>`"),
        ("(?<n", "invalid named capture: `(?<n`"),
        ("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`"),
    ] {
        let expected = format!("error parsing regexp: {reason}");
        assert_eq!(Regex::new(pattern).err(), Some(expected), "{pattern}");
    }
}
