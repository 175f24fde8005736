//! Finds the longest token at a position.

use super::TokenKind;

/// What stands at a position, and the byte offset at which it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scan {
    Token(TokenKind, usize),
    /// White space or a comment.
    Hidden(usize),
    /// No token begins with these characters.
    Error(usize),
}

/// Scans at `at`, which is a character boundary before the end of the text.
pub(super) fn next(text: &str, at: usize) -> Scan {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.get(at) else {
        return Scan::Error(at);
    };
    let second = bytes.get(at + 1).copied();
    match first {
        b'\t' | b' ' | b'\r' | b'\n' | 0x0c => Scan::Hidden(run(bytes, at, is_space)),
        b'/' if second == Some(b'/') => Scan::Hidden(run(bytes, at, |byte| byte != b'\n')),
        b'0'..=b'9' => number(bytes, at),
        b'.' if second.is_some_and(|byte| byte.is_ascii_digit()) => Scan::Token(TokenKind::Float, fraction(bytes, at)),
        b'"' | b'\'' => match string(bytes, at, false) {
            Ok(end) => Scan::Token(TokenKind::String, end),
            Err(failed) => error(text, failed),
        },
        b'`' => escaped_identifier(text, at),
        b'A'..=b'Z' | b'a'..=b'z' | b'_' => word(text, at),
        _ => operator(text, at, first, second),
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t' | b' ' | b'\r' | b'\n' | 0x0c)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The end of the bytes from `at` on that satisfy `accept`.
fn run(bytes: &[u8], at: usize, accept: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or(&[]);
    at + rest.iter().position(|&byte| !accept(byte)).unwrap_or(rest.len())
}

/// The character at `failed` fits no token: it is skipped with all before it.
fn error(text: &str, failed: usize) -> Scan {
    let skipped = text.get(failed..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    Scan::Error(failed + skipped)
}

fn operator(text: &str, at: usize, first: u8, second: Option<u8>) -> Scan {
    use TokenKind::*;
    let (kind, len) = match (first, second) {
        (b'=', Some(b'=')) => (Equals, 2),
        (b'!', Some(b'=')) => (NotEquals, 2),
        (b'<', Some(b'=')) => (LessEquals, 2),
        (b'>', Some(b'=')) => (GreaterEquals, 2),
        (b'&', Some(b'&')) => (LogicalAnd, 2),
        (b'|', Some(b'|')) => (LogicalOr, 2),
        // The first half of an operator: what is wrong is the character after it.
        (b'=' | b'&' | b'|', _) => return error(text, at + 1),
        (b'<', _) => (Less, 1),
        (b'>', _) => (Greater, 1),
        (b'[', _) => (LeftBracket, 1),
        (b']', _) => (RightBracket, 1),
        (b'{', _) => (LeftBrace, 1),
        (b'}', _) => (RightBrace, 1),
        (b'(', _) => (LeftParen, 1),
        (b')', _) => (RightParen, 1),
        (b'.', _) => (Dot, 1),
        (b',', _) => (Comma, 1),
        (b'-', _) => (Minus, 1),
        (b'!', _) => (Exclamation, 1),
        (b'?', _) => (Question, 1),
        (b':', _) => (Colon, 1),
        (b'+', _) => (Plus, 1),
        (b'*', _) => (Star, 1),
        (b'/', _) => (Slash, 1),
        (b'%', _) => (Percent, 1),
        _ => return error(text, at),
    };
    Scan::Token(kind, at + len)
}

fn number(bytes: &[u8], at: usize) -> Scan {
    let is_digit = |byte: u8| byte.is_ascii_digit();
    if bytes.get(at..at + 2) == Some(&b"0x"[..]) {
        let end = run(bytes, at + 2, |byte| byte.is_ascii_hexdigit());
        if end > at + 2 {
            return integer(bytes, end);
        }
    }
    let end = run(bytes, at, is_digit);
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        return Scan::Token(TokenKind::Float, fraction(bytes, end));
    }
    let after_exponent = exponent(bytes, end);
    if after_exponent > end {
        return Scan::Token(TokenKind::Float, after_exponent);
    }
    integer(bytes, end)
}

/// An integer whose digits end at `end`, and the suffix that makes it unsigned.
fn integer(bytes: &[u8], end: usize) -> Scan {
    match bytes.get(end) {
        Some(b'u' | b'U') => Scan::Token(TokenKind::Uint, end + 1),
        _ => Scan::Token(TokenKind::Int, end),
    }
}

/// The end of the point at `at`, the digits after it, and an exponent.
fn fraction(bytes: &[u8], at: usize) -> usize {
    exponent(bytes, run(bytes, at + 1, |byte| byte.is_ascii_digit()))
}

/// The end of an exponent at `at`, or `at` when there is none.
fn exponent(bytes: &[u8], at: usize) -> usize {
    if !matches!(bytes.get(at), Some(b'e' | b'E')) {
        return at;
    }
    let digits = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
    let end = run(bytes, digits, |byte| byte.is_ascii_digit());
    if end > digits { end } else { at }
}

/// An identifier, a keyword, or a literal with a prefix.
fn word(text: &str, at: usize) -> Scan {
    let bytes = text.as_bytes();
    let quote = |at: usize| matches!(bytes.get(at), Some(b'"' | b'\''));
    let raw = |at: usize| matches!(bytes.get(at), Some(b'r' | b'R'));
    let literal = if raw(at) && quote(at + 1) {
        string(bytes, at + 1, true).map(|end| (TokenKind::String, end))
    } else if !matches!(bytes.get(at), Some(b'b' | b'B')) {
        Err(at)
    } else if quote(at + 1) {
        string(bytes, at + 1, false).map(|end| (TokenKind::Bytes, end))
    } else if raw(at + 1) && quote(at + 2) {
        string(bytes, at + 2, true).map(|end| (TokenKind::Bytes, end))
    } else {
        Err(at)
    };
    if let Ok((kind, end)) = literal {
        return Scan::Token(kind, end);
    }
    let end = run(bytes, at, is_word);
    let kind = match text.get(at..end) {
        Some("in") => TokenKind::In,
        Some("true") => TokenKind::True,
        Some("false") => TokenKind::False,
        Some("null") => TokenKind::Null,
        _ => TokenKind::Identifier,
    };
    Scan::Token(kind, end)
}

fn escaped_identifier(text: &str, at: usize) -> Scan {
    let bytes = text.as_bytes();
    let end = run(bytes, at + 1, |byte| is_word(byte) || matches!(byte, b'.' | b'-' | b'/' | b' '));
    if end > at + 1 && bytes.get(end) == Some(&b'`') {
        Scan::Token(TokenKind::EscapedIdentifier, end + 1)
    } else {
        error(text, end)
    }
}

/// The end of the quoted text that begins with the quote at `at`, or the offset of the first byte that cannot be in it.
fn string(bytes: &[u8], at: usize, raw: bool) -> Result<usize, usize> {
    let quote = bytes.get(at).copied().unwrap_or_default();
    let triple = [quote; 3];
    let opens_triple = bytes.get(at..at + 3) == Some(&triple[..]);
    let mut here = at + if opens_triple { 3 } else { 1 };
    while let Some(&byte) = bytes.get(here) {
        if opens_triple && bytes.get(here..here + 3) == Some(&triple[..]) {
            return Ok(here + 3);
        }
        here = match byte {
            b'\\' if !raw => match escape(bytes, here) {
                Err(_) if opens_triple => break,
                escaped => escaped?,
            },
            b'\n' | b'\r' if !opens_triple => return Err(here),
            _ if byte == quote && !opens_triple => return Ok(here + 1),
            _ => here + 1,
        };
    }
    // What opens like a triple quote but does not end is an empty text and whatever comes after it.
    if opens_triple { Ok(at + 2) } else { Err(here) }
}

/// The end of the escape sequence whose backslash is at `at`, or the offset of the byte that makes it invalid.
fn escape(bytes: &[u8], at: usize) -> Result<usize, usize> {
    let (digits, count, radix) = match bytes.get(at + 1) {
        Some(b'a' | b'b' | b'f' | b'n' | b'r' | b't' | b'v' | b'"' | b'\'' | b'\\' | b'?' | b'`') => return Ok(at + 2),
        Some(b'x' | b'X') => (at + 2, 2, 16),
        Some(b'u') => (at + 2, 4, 16),
        Some(b'U') => (at + 2, 8, 16),
        Some(b'0'..=b'3') => (at + 2, 2, 8),
        _ => return Err(at + 1),
    };
    for offset in digits..digits + count {
        if !bytes.get(offset).is_some_and(|&byte| char::from(byte).is_digit(radix)) {
            return Err(offset);
        }
    }
    Ok(digits + count)
}
