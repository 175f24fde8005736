//! Turns the text of a string or bytes literal into its value (cel-go `parser/unescape.go`).

/// Why a literal has no value. The texts are cel-go's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnescapeError {
    /// An escape sequence or the quoting is not valid.
    Invalid,
    /// A `\` before an octal digit is not followed by two more.
    Octal,
    /// The text ends in a backslash.
    TrailingBackslash,
    /// An escape names a number that is no Unicode scalar value.
    CodePoint,
}

impl UnescapeError {
    /// cel-go's text.
    pub fn message(self) -> &'static str {
        match self {
            UnescapeError::Invalid => "unable to unescape string",
            UnescapeError::Octal => "unable to unescape octal sequence in string",
            UnescapeError::TrailingBackslash => "unable to unescape string, found '\\' as last character",
            UnescapeError::CodePoint => "invalid unicode code point",
        }
    }
}

/// The value of a string literal, given with its quotes and `r` prefix.
pub fn unescape_string(literal: &str) -> Result<String, UnescapeError> {
    let bytes = unescape(literal, false)?;
    String::from_utf8(bytes).map_err(|_| UnescapeError::Invalid)
}

/// The value of a bytes literal, given with its quotes and `r` prefix but without the leading `b`.
pub fn unescape_bytes(literal: &str) -> Result<Vec<u8>, UnescapeError> {
    unescape(literal, true)
}

fn unescape(literal: &str, is_bytes: bool) -> Result<Vec<u8>, UnescapeError> {
    // Newlines are normalised before anything else, in raw strings too.
    let normalized = literal.contains('\r').then(|| literal.replace("\r\n", "\n").replace('\r', "\n"));
    let text = normalized.as_deref().unwrap_or(literal);
    let unprefixed = text.strip_prefix(['r', 'R']);
    let body = unquote(unprefixed.unwrap_or(text)).ok_or(UnescapeError::Invalid)?;
    if unprefixed.is_some() || !body.contains('\\') {
        return Ok(body.as_bytes().to_vec());
    }
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = escape(&rest[at + 1..], is_bytes, &mut out)?;
    }
    out.extend_from_slice(rest.as_bytes());
    Ok(out)
}

/// What stands between the quotes, single or triple.
fn unquote(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let triple = if quote == '"' { "\"\"\"" } else { "'''" };
    if text.len() >= 6 && text.starts_with(triple) {
        return text.strip_prefix(triple)?.strip_suffix(triple);
    }
    text.strip_prefix(quote)?.strip_suffix(quote)
}

/// Writes the escape sequence that `text` starts with (after its backslash) and returns what follows it.
fn escape<'t>(text: &'t str, is_bytes: bool, out: &mut Vec<u8>) -> Result<&'t str, UnescapeError> {
    let selector = *text.as_bytes().first().ok_or(UnescapeError::TrailingBackslash)?;
    let simple = match selector {
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'\\' | b'\'' | b'"' | b'`' | b'?' => selector,
        b'x' | b'X' => return numeric(text, 1, 2, 16, is_bytes, out),
        b'u' | b'U' if is_bytes => return Err(UnescapeError::Invalid),
        b'u' => return numeric(text, 1, 4, 16, is_bytes, out),
        b'U' => return numeric(text, 1, 8, 16, is_bytes, out),
        b'0'..=b'3' => return numeric(text, 0, 3, 8, is_bytes, out),
        _ => return Err(UnescapeError::Invalid),
    };
    out.push(simple);
    text.get(1..).ok_or(UnescapeError::Invalid)
}

/// Writes the code point (in bytes literals the byte) given by `count` digits after `skip` characters.
fn numeric<'t>(
    text: &'t str,
    skip: usize,
    count: usize,
    radix: u32,
    is_bytes: bool,
    out: &mut Vec<u8>,
) -> Result<&'t str, UnescapeError> {
    let malformed = if radix == 8 { UnescapeError::Octal } else { UnescapeError::Invalid };
    let digits = text.get(skip..skip + count).ok_or(malformed)?;
    let mut value = 0u32;
    for digit in digits.chars() {
        value = (value << radix.trailing_zeros()) | digit.to_digit(radix).ok_or(malformed)?;
    }
    if is_bytes {
        out.push(value as u8);
    } else {
        let char = char::from_u32(value).ok_or(UnescapeError::CodePoint)?;
        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    }
    text.get(skip + count..).ok_or(malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_prefixes() {
        for (literal, value) in [
            ("''", ""),
            (r#""a'b""#, "a'b"),
            ("'''a'b'''", "a'b"),
            ("''''''", ""),
            ("\"\"\"x\r\ny\rz\"\"\"", "x\ny\nz"),
            (r"r'\n'", r"\n"),
            (r#"R"""a"b""""#, "a\"b"),
            ("r''", ""),
        ] {
            assert_eq!(unescape_string(literal).as_deref(), Ok(value), "{literal}");
        }
        for literal in ["'a\"", "a", "'", "", "'''a'"] {
            let _ = unescape_string(literal);
        }
        assert_eq!(unescape_string("'a\""), Err(UnescapeError::Invalid));
    }

    #[test]
    fn escapes_in_strings() {
        assert_eq!(unescape_string(r#"'\a\b\f\n\r\t\v\\\'\"\`\?'"#).as_deref(), Ok("\x07\x08\x0c\n\r\t\x0b\\'\"`?"));
        assert_eq!(unescape_string(r"'\x41\XfF\101\377\u00e9\U0001F431é'").as_deref(), Ok("AÿAÿé🐱é"));
        assert_eq!(unescape_string(r"'\ud800'"), Err(UnescapeError::CodePoint));
        assert_eq!(unescape_string(r"'\UFFFFFFFF'"), Err(UnescapeError::CodePoint));
        assert_eq!(unescape_string(r"'\400'"), Err(UnescapeError::Invalid));
        assert_eq!(unescape_string(r"'\08'"), Err(UnescapeError::Octal));
        assert_eq!(unescape_string(r"'\xg0'"), Err(UnescapeError::Invalid));
        assert_eq!(unescape_string(r"'a\'"), Err(UnescapeError::TrailingBackslash));
    }

    #[test]
    fn escapes_in_bytes() {
        assert_eq!(unescape_bytes(r"'\xff\377é'").as_deref(), Ok(&b"\xff\xff\xc3\xa9"[..]));
        assert_eq!(unescape_bytes(r"'\u00e9'"), Err(UnescapeError::Invalid));
    }
}
