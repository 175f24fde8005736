use super::*;
use TokenKind::*;

fn kinds(text: &str) -> Vec<TokenKind> {
    let lexed = tokenize(text);
    assert!(lexed.errors.is_empty(), "{text}: {:?}", lexed.errors);
    lexed.tokens.iter().map(|token| token.kind).take_while(|&kind| kind != EndOfInput).collect()
}

fn skipped(text: &str) -> Vec<(u32, &str)> {
    tokenize(text).errors.iter().map(|error| (error.start, error.skipped)).collect()
}

#[test]
fn numbers_take_the_longest_form() {
    assert_eq!(kinds("1 12u 0x1F 0xFFU 1.5 1e3 1.5E-3 .5"), [Int, Uint, Int, Uint, Float, Float, Float, Float]);
    assert_eq!(kinds("1.a"), [Int, Dot, Identifier]);
    assert_eq!(kinds("1e"), [Int, Identifier]);
    assert_eq!(kinds("1e+"), [Int, Identifier, Plus]);
    assert_eq!(kinds("0x"), [Int, Identifier]);
    assert_eq!(kinds("1..5"), [Int, Dot, Float]);
    assert_eq!(kinds("a.5"), [Identifier, Float]);
}

#[test]
fn prefixes_and_quotes() {
    assert_eq!(kinds("'a' \"a\" r'\\' R\"\" b'x' br'x' BR\"x\" rb'x'").len(), 9);
    assert_eq!(kinds("r'a' b'a' rb'a'"), [String, Bytes, Identifier, String]);
    assert_eq!(kinds("'''a'b\n'''"), [String]);
    assert_eq!(kinds("\"\"\"\\\"\"\"\""), [String]);
    assert_eq!(kinds("''''''"), [String]);
    assert_eq!(kinds("r\"\"\"\\\"\"\""), [String]);
    assert_eq!(kinds("'''' ''"), [String, String, String]);
}

#[test]
fn comments_and_keywords() {
    assert_eq!(kinds("in // in\ntrue/ false inn null"), [In, True, Slash, False, Identifier, Null]);
    assert_eq!(kinds("`a.b-c/d e`"), [EscapedIdentifier]);
}

#[test]
fn errors_skip_what_was_read() {
    assert_eq!(skipped("a & b"), [(2, "& ")]);
    assert_eq!(skipped("é $"), [(0, "é"), (2, "$")]);
    assert_eq!(skipped("'abc"), [(0, "'abc")]);
    assert_eq!(skipped("'a\\q b'"), [(0, "'a\\q"), (6, "'")]);
    assert_eq!(skipped("'a\nb'"), [(0, "'a\n"), (4, "'")]);
    assert_eq!(skipped("'\\xé'"), [(0, "'\\xé"), (4, "'")]);
    assert_eq!(skipped("``"), [(0, "``")]);
    assert_eq!(skipped("`a"), [(0, "`a")]);
    assert_eq!(skipped("'''\\q"), [(2, "'\\q")]);
}

#[test]
fn offsets_are_code_points() {
    let lexed = tokenize("'é' + a");
    let starts: Vec<_> = lexed.tokens.iter().map(|token| (token.start, token.stop())).collect();
    assert_eq!(starts, [(0, 4), (4, 5), (6, 7), (7, 7)]);
}
