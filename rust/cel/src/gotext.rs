//! Go's text forms that appear in messages: `strconv.Quote` (also `%q`), and strings that may not be UTF-8.

mod printable;

use std::fmt::Write as _;

use printable::PRINTABLE;

/// `strconv.Quote` of text.
pub fn quote(text: &str) -> String {
    quote_bytes(text.as_bytes())
}

/// `strconv.Quote` of bytes that may be cut inside a character; bytes that are not UTF-8 are printed as `\xNN`.
pub fn quote_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        chunk.valid().chars().for_each(|c| quote_char(&mut out, c));
        for byte in chunk.invalid() {
            push_hex(&mut out, 'x', u32::from(*byte), 2);
        }
    }
    out.push('"');
    out
}

fn quote_char(out: &mut String, c: char) {
    match (escape(c), u32::from(c)) {
        (Some(escaped), _) => out.push_str(escaped),
        _ if is_print(c) => out.push(c),
        (None, code @ ..0x80) => push_hex(out, 'x', code, 2),
        (None, code @ ..0x1_0000) => push_hex(out, 'u', code, 4),
        (None, code) => push_hex(out, 'U', code, 8),
    }
}

/// The escape sequence of a character that has a short one in Go and in CEL.
pub(crate) fn escape(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{7}' => "\\a",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\u{b}' => "\\v",
        '\\' => "\\\\",
        '"' => "\\\"",
        _ => return None,
    })
}

fn push_hex(out: &mut String, kind: char, code: u32, width: usize) {
    // Writing to a String cannot fail.
    let _ = write!(out, "\\{kind}{code:0width$x}");
}

/// `strconv.IsPrint`: letters, marks, numbers, punctuation, symbols, and the ASCII space.
pub fn is_print(c: char) -> bool {
    let code = u32::from(c);
    if code < 0x80 {
        return (0x20..0x7f).contains(&code);
    }
    let after = PRINTABLE.partition_point(|(first, _)| *first <= code);
    after.checked_sub(1).and_then(|i| PRINTABLE.get(i)).is_some_and(|(_, last)| code <= *last)
}

/// The text of bytes as Go's `range` reads them: each byte that is not part of a character counts as one U+FFFD.
///
/// Go strings may hold any bytes and CEL's may not here; lengths in code points and everything printed are the same.
pub fn lossy(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(std::iter::repeat_n('\u{fffd}', chunk.invalid().len()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_as_go_does() {
        assert_eq!(quote("a\"b\\"), r#""a\"b\\""#);
        assert_eq!(quote("\u{7}\u{8}\u{c}\n\r\t\u{b}\u{0}\u{7f}"), r#""\a\b\f\n\r\t\v\x00\x7f""#);
        assert_eq!(quote("é\u{a0}\u{200b}\u{e000}\u{10ffff}"), r#""é\u00a0\u200b\ue000\U0010ffff""#);
        assert_eq!(quote("日本😀"), "\"日本😀\"");
        assert_eq!(quote_bytes(b"%a\xc3"), r#""%a\xc3""#);
    }

    #[test]
    fn each_stray_byte_is_one_replacement() {
        assert_eq!(lossy(b"a\xff\xfe\xe6\x97z"), "a\u{fffd}\u{fffd}\u{fffd}\u{fffd}z");
    }
}
