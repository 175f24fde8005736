//! Percent-encoding, by part of a URL (`net/url`'s `escape`, `unescape` and `shouldEscape`).

use std::borrow::Cow;

use crate::gotext::quote_bytes;

/// The part of a URL that a text is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Path,
    Host,
    Zone,
    UserPassword,
    QueryComponent,
    Fragment,
}

/// `shouldEscape`.
pub(super) fn should_escape(c: u8, mode: Mode) -> bool {
    if c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.' | b'~') {
        return false;
    }
    if matches!(mode, Mode::Host | Mode::Zone) {
        return !b"!$&'()*+,;=:[]<>\"".contains(&c);
    }
    if b"$&+,/:;=?@".contains(&c) {
        return match mode {
            Mode::Path => c == b'?',
            Mode::UserPassword => b"@/?:".contains(&c),
            Mode::QueryComponent => true,
            Mode::Fragment | Mode::Host | Mode::Zone => false,
        };
    }
    !(mode == Mode::Fragment && b"!()*".contains(&c))
}

fn hex(c: Option<&u8>) -> Option<u8> {
    char::from(*c?).to_digit(16).and_then(|d| u8::try_from(d).ok())
}

fn bad_escape(text: &[u8]) -> String {
    format!("invalid URL escape {}", quote_bytes(text.get(..3).unwrap_or(text)))
}

/// `unescape`; the error is its text.
pub(super) fn unescape(text: &[u8], mode: Mode) -> Result<Cow<'_, [u8]>, String> {
    let mut out = Vec::new();
    let mut changed = false;
    let mut rest = text;
    while let Some((c, after)) = rest.split_first() {
        match c {
            b'%' => {
                let (Some(high), Some(low)) = (hex(after.first()), hex(after.get(1))) else {
                    return Err(bad_escape(rest));
                };
                let (byte, is_percent) = (high << 4 | low, after.starts_with(b"25"));
                // In a host only what is not ASCII can be escaped, and the percent sign before a zone;
                // in a zone only what a host may hold, and the blanks of Windows' names.
                let refused = match mode {
                    Mode::Host => high < 8 && !is_percent,
                    Mode::Zone => !is_percent && byte != b' ' && should_escape(byte, Mode::Host),
                    Mode::Path | Mode::UserPassword | Mode::QueryComponent | Mode::Fragment => false,
                };
                if refused {
                    return Err(bad_escape(rest));
                }
                changed = true;
                out.push(byte);
                rest = after.get(2..).unwrap_or_default();
                continue;
            }
            b'+' if mode == Mode::QueryComponent => {
                changed = true;
                out.push(b' ');
            }
            c => {
                if matches!(mode, Mode::Host | Mode::Zone) && c.is_ascii() && should_escape(*c, mode) {
                    return Err(format!("invalid character {} in host name", quote_bytes(&[*c])));
                }
                out.push(*c);
            }
        }
        rest = after;
    }
    Ok(if changed { Cow::Owned(out) } else { Cow::Borrowed(text) })
}

/// `escape`.
pub(super) fn escape(text: &[u8], mode: Mode) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text {
        match c {
            b' ' if mode == Mode::QueryComponent => out.push('+'),
            c if should_escape(*c, mode) => out.push_str(&format!("%{c:02X}")),
            c => out.push(char::from(*c)),
        }
    }
    out
}

/// `validEncoded`: whether a text is already an encoding of something.
pub(super) fn is_encoded(text: &[u8], mode: Mode) -> bool {
    text.iter().all(|c| b"!$&'()*+,;=:@[]%".contains(c) || !should_escape(*c, mode))
}
