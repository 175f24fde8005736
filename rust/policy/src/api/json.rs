//! JSON texts as Go's `encoding/json` takes them: checked as a whole first, then read value by value.
//!
//! Where Go is more lenient than most readers: bytes that are not UTF-8 and halves of surrogate pairs become U+FFFD. Nesting is counted,
//! not recursed into, so that no text can overflow the stack.

use std::borrow::Cow;

use celgate_cel::gotext::lossy;

/// How deep arrays and objects may be nested (`maxNestingDepth` of Go's scanner).
const MAX_DEPTH: usize = 10_000;

/// What a value is, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

/// As errors name it.
impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Shape::Null => "null",
            Shape::Bool => "bool",
            Shape::Number => "number",
            Shape::String => "string",
            Shape::Array => "array",
            Shape::Object => "object",
        })
    }
}

/// A place in a text that [`Cursor::new`] has checked: what is read from it is well-formed.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Checks the text, which must be one value; the error says where it is none.
    pub(super) fn new(text: &'a [u8]) -> Result<Cursor<'a>, String> {
        let mut cursor = Cursor { text, at: 0 };
        cursor.check()?;
        cursor.space();
        match cursor.next() {
            None => Ok(Cursor { text, at: 0 }),
            Some(byte) => Err(cursor.unexpected(Some(byte), "after the value")),
        }
    }

    /// The whole text.
    pub(super) fn text(&self) -> &'a [u8] {
        self.text
    }

    /// What the next value is.
    pub(super) fn shape(&mut self) -> Shape {
        self.space();
        match self.next() {
            Some(b'{') => Shape::Object,
            Some(b'[') => Shape::Array,
            Some(b'"') => Shape::String,
            Some(b't' | b'f') => Shape::Bool,
            Some(b'n') | None => Shape::Null,
            Some(_) => Shape::Number,
        }
    }

    /// Enters an array or object.
    pub(super) fn enter(&mut self) {
        self.space();
        self.at += 1;
    }

    /// Whether the array or object that was entered has another element; it is left if not.
    pub(super) fn more(&mut self) -> bool {
        self.space();
        let last = match self.next() {
            Some(b',') => false,
            Some(b']' | b'}') | None => true,
            Some(_) => return true,
        };
        self.at += 1;
        !last
    }

    /// The next key of an object; its value is next then.
    pub(super) fn key(&mut self) -> Cow<'a, str> {
        let key = self.string();
        self.space();
        self.at += 1;
        key
    }

    /// The next value, which is a string.
    pub(super) fn string(&mut self) -> Cow<'a, str> {
        let raw = self.skip();
        let inside = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
        match std::str::from_utf8(inside) {
            Ok(text) if !inside.contains(&b'\\') => Cow::Borrowed(text),
            _ => Cow::Owned(unquote(inside)),
        }
    }

    /// Passes the next value, whatever it is, and gives its text.
    pub(super) fn skip(&mut self) -> &'a [u8] {
        self.space();
        let start = self.at;
        // The text was checked to the end, so this cannot fail.
        let _ = self.check();
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn next(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.next(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Passes one value, checking it.
    fn check(&mut self) -> Result<(), String> {
        let mut open: Vec<u8> = Vec::new();
        loop {
            self.space();
            match self.next() {
                Some(bracket @ (b'{' | b'[')) => {
                    self.at += 1;
                    if open.len() >= MAX_DEPTH {
                        return Err("exceeded max depth".to_owned());
                    }
                    open.push(bracket + 2);
                    self.space();
                    if self.next() != open.last().copied() {
                        if bracket == b'{' {
                            self.check_key()?;
                        }
                        continue;
                    }
                }
                _ => self.check_scalar()?,
            }
            loop {
                let Some(close) = open.last().copied() else { return Ok(()) };
                self.space();
                match self.next() {
                    Some(byte) if byte == close => {
                        self.at += 1;
                        open.pop();
                    }
                    Some(b',') => {
                        self.at += 1;
                        if close == b'}' {
                            self.check_key()?;
                        }
                        break;
                    }
                    other => return Err(self.unexpected(other, "after an element")),
                }
            }
        }
    }

    fn check_key(&mut self) -> Result<(), String> {
        self.space();
        match self.next() {
            Some(b'"') => self.check_string()?,
            other => return Err(self.unexpected(other, "where a key was expected")),
        }
        self.space();
        match self.next() {
            Some(b':') => {
                self.at += 1;
                Ok(())
            }
            other => Err(self.unexpected(other, "after a key")),
        }
    }

    fn check_scalar(&mut self) -> Result<(), String> {
        match self.next() {
            Some(b'"') => self.check_string(),
            Some(b'-' | b'0'..=b'9') => self.check_number(),
            Some(b't') => self.check_word(b"true"),
            Some(b'f') => self.check_word(b"false"),
            Some(b'n') => self.check_word(b"null"),
            other => Err(self.unexpected(other, "where a value was expected")),
        }
    }

    fn check_word(&mut self, word: &[u8]) -> Result<(), String> {
        for byte in word {
            if self.next() != Some(*byte) {
                return Err(self.unexpected(self.next(), "in a word"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn check_string(&mut self) -> Result<(), String> {
        self.at += 1;
        loop {
            match self.next() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    self.check_escape()?;
                }
                Some(byte) if byte >= b' ' => self.at += 1,
                other => return Err(self.unexpected(other, "in a string")),
            }
        }
    }

    fn check_escape(&mut self) -> Result<(), String> {
        let digits = match self.next() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
            Some(b'u') => 4,
            other => return Err(self.unexpected(other, "in an escape")),
        };
        self.at += 1;
        for _ in 0..digits {
            if !self.next().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                return Err(self.unexpected(self.next(), "in an escape"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn check_number(&mut self) -> Result<(), String> {
        if self.next() == Some(b'-') {
            self.at += 1;
        }
        if self.next() == Some(b'0') {
            self.at += 1;
        } else {
            self.check_digits()?;
        }
        if self.next() == Some(b'.') {
            self.at += 1;
            self.check_digits()?;
        }
        if matches!(self.next(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.next(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.check_digits()?;
        }
        Ok(())
    }

    fn check_digits(&mut self) -> Result<(), String> {
        if !self.next().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.unexpected(self.next(), "in a number"));
        }
        while self.next().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn unexpected(&self, byte: Option<u8>, place: &str) -> String {
        match byte {
            None => "unexpected end of JSON input".to_owned(),
            Some(byte) => {
                let character = char::from(byte);
                format!("invalid character '{}' {place}, at byte {}", character.escape_default(), self.at)
            }
        }
    }
}

/// The inside of a string that was checked, as Go's `unquoteBytes` has it.
fn unquote(inside: &[u8]) -> String {
    let mut bytes = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let Some((&escape, tail)) = rest.split_first() else { break };
        rest = tail;
        let unescaped = match escape {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = hexadecimal(rest);
                rest = rest.get(4..).unwrap_or_default();
                match rest.strip_prefix(b"\\u").map(hexadecimal) {
                    Some(low @ 0xdc00..=0xdfff) if (0xd800..=0xdbff).contains(&unit) => {
                        rest = rest.get(6..).unwrap_or_default();
                        char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00))
                    }
                    _ => char::from_u32(unit),
                }
                .unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => char::from(other),
        };
        bytes.extend_from_slice(unescaped.encode_utf8(&mut [0; 4]).as_bytes());
    }
    lossy(&bytes)
}

/// The first four digits as a number.
fn hexadecimal(digits: &[u8]) -> u32 {
    digits.iter().take(4).fold(0, |number, digit| number * 16 + char::from(*digit).to_digit(16).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(text: &str) -> bool {
        Cursor::new(text.as_bytes()).is_ok()
    }

    #[test]
    fn takes_what_go_takes() {
        for good in
            ["null", " {\"a\" : [ 1 , -0.5e+10, {} , [] ] }\n", "\"\\ud800\"", "\"\\u00e9\\/\"", "0", "1E5", "true"]
        {
            assert!(accepted(good), "{good}");
        }
        for bad in [
            "",
            " ",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "1.",
            "+1",
            "1e",
            "nul",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "[1 2]",
            "{} {}",
            "]",
        ] {
            assert!(!accepted(bad), "{bad}");
        }
    }

    #[test]
    fn depth_is_counted() {
        assert!(accepted(&("[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH))));
        assert!(!accepted(&("[".repeat(MAX_DEPTH + 1) + &"]".repeat(MAX_DEPTH + 1))));
    }

    #[test]
    fn strings_are_unquoted_as_in_go() {
        let unquoted = |text: &[u8]| Cursor::new(text).unwrap().string().into_owned();
        assert_eq!(unquoted(br#""a\n\"\\\/\u0041\ud83d\ude00""#), "a\n\"\\/A\u{1f600}");
        assert_eq!(unquoted(br#""\ud800x\udc00\ud800\u0041""#), "\u{fffd}x\u{fffd}\u{fffd}A");
        assert_eq!(unquoted(b"\"\xff\xe2\x82\""), "\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(unquoted("\"é€\"".as_bytes()), "é€");
    }
}
