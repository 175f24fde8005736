//! Character classes of RE2's syntax: `[...]`, `\d`, `[[:alpha:]]`, `\p{Greek}`, and escapes.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::parse::{Code, message};
use super::unicode::{class, fold};

/// The greatest code point.
pub(super) const MAX: u32 = 0x10_ffff;

fn rest(pattern: &str, at: usize) -> &str {
    pattern.get(at..).unwrap_or("")
}

fn between(pattern: &str, start: usize, end: usize) -> &str {
    pattern.get(start..end).unwrap_or("")
}

/// `[...]` at `at`, which is moved behind it.
pub(super) fn bracketed(pattern: &str, at: &mut usize, fold_case: bool) -> Result<ClassUnicode, String> {
    let whole = *at;
    *at += 1;
    let negated = rest(pattern, *at).starts_with('^');
    *at += usize::from(negated);
    // Named classes come folded, and are not folded again with what else is between the brackets.
    let (mut class, mut ranges) = (ClassUnicode::empty(), ClassUnicode::empty());
    let mut first = true;
    while first || !rest(pattern, *at).starts_with(']') {
        first = false;
        if let Some(named) = posix(pattern, at, fold_case)? {
            class.union(&named);
            continue;
        }
        if let Some(escaped) = escaped(pattern, at, fold_case)? {
            class.union(&escaped);
            continue;
        }
        let start = *at;
        let low = class_char(pattern, at, whole)?;
        let mut high = low;
        if let [b'-', next, ..] = rest(pattern, *at).as_bytes()
            && *next != b']'
        {
            *at += 1;
            high = class_char(pattern, at, whole)?;
            if high < low {
                return Err(message(Code::InvalidCharRange, between(pattern, start, *at)));
            }
        }
        push_range(&mut ranges, low, high);
    }
    *at += 1;
    if fold_case {
        fold(&mut ranges);
    }
    class.union(&ranges);
    if negated {
        class.negate();
    }
    Ok(class)
}

/// Adds a range; surrogates are no characters of a text.
fn push_range(class: &mut ClassUnicode, low: u32, high: u32) {
    let low = if (0xd800..0xe000).contains(&low) { 0xe000 } else { low };
    let high = if (0xd800..0xe000).contains(&high) { 0xd7ff } else { high };
    if let (Some(low), Some(high)) = (char::from_u32(low), char::from_u32(high))
        && low <= high
    {
        class.push(ClassUnicodeRange::new(low, high));
    }
}

fn class_char(pattern: &str, at: &mut usize, whole: usize) -> Result<u32, String> {
    match rest(pattern, *at).chars().next() {
        None => Err(message(Code::MissingBracket, rest(pattern, whole))),
        Some('\\') => escape_char(pattern, at),
        Some(c) => {
            *at += c.len_utf8();
            Ok(u32::from(c))
        }
    }
}

/// `[:alpha:]` inside of brackets.
fn posix(pattern: &str, at: &mut usize, fold_case: bool) -> Result<Option<ClassUnicode>, String> {
    let text = rest(pattern, *at);
    let Some(end) = text.strip_prefix("[:").and_then(|name| name.find(":]")) else {
        return Ok(None);
    };
    let whole = between(text, 0, end + 4);
    let name = between(text, 2, end + 2);
    let (negated, name) = match name.strip_prefix('^') {
        Some(name) => (true, name),
        None => (false, name),
    };
    let ranges: &[(u32, u32)] = match name {
        "alnum" => &[(0x30, 0x39), (0x41, 0x5a), (0x61, 0x7a)],
        "alpha" => &[(0x41, 0x5a), (0x61, 0x7a)],
        "ascii" => &[(0, 0x7f)],
        "blank" => &[(9, 9), (0x20, 0x20)],
        "cntrl" => &[(0, 0x1f), (0x7f, 0x7f)],
        "digit" => &[(0x30, 0x39)],
        "graph" => &[(0x21, 0x7e)],
        "lower" => &[(0x61, 0x7a)],
        "print" => &[(0x20, 0x7e)],
        "punct" => &[(0x21, 0x2f), (0x3a, 0x40), (0x5b, 0x60), (0x7b, 0x7e)],
        "space" => &[(9, 0xd), (0x20, 0x20)],
        "upper" => &[(0x41, 0x5a)],
        "word" => WORD,
        "xdigit" => &[(0x30, 0x39), (0x41, 0x46), (0x61, 0x66)],
        _ => return Err(message(Code::InvalidCharRange, whole)),
    };
    *at += whole.len();
    Ok(Some(of_ranges(ranges, negated, fold_case)))
}

const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5a), (0x5f, 0x5f), (0x61, 0x7a)];

pub(super) fn of_ranges(ranges: &[(u32, u32)], negated: bool, fold_case: bool) -> ClassUnicode {
    let mut class = ClassUnicode::empty();
    for &(low, high) in ranges {
        push_range(&mut class, low, high);
    }
    if fold_case {
        fold(&mut class);
    }
    if negated {
        class.negate();
    }
    class
}

/// `\d`, `\pN`, `\p{Greek}` and their like at `at`, which is moved behind; `None` if something else is there.
pub(super) fn escaped(pattern: &str, at: &mut usize, fold_case: bool) -> Result<Option<ClassUnicode>, String> {
    let [b'\\', letter, ..] = rest(pattern, *at).as_bytes() else {
        return Ok(None);
    };
    let (ranges, negated): (&[(u32, u32)], bool) = match letter {
        b'd' => (&[(0x30, 0x39)], false),
        b'D' => (&[(0x30, 0x39)], true),
        b's' => (&[(9, 0xa), (0xc, 0xd), (0x20, 0x20)], false),
        b'S' => (&[(9, 0xa), (0xc, 0xd), (0x20, 0x20)], true),
        b'w' => (WORD, false),
        b'W' => (WORD, true),
        b'p' | b'P' => return named(pattern, at, *letter == b'P', fold_case).map(Some),
        _ => return Ok(None),
    };
    *at += 2;
    Ok(Some(of_ranges(ranges, negated, fold_case)))
}

/// `\pN`, `\p{Greek}` or `\P{^Greek}`.
fn named(pattern: &str, at: &mut usize, negated: bool, fold_case: bool) -> Result<ClassUnicode, String> {
    let text = rest(pattern, *at);
    let after = text.get(2..).unwrap_or("");
    let len = match after.chars().next() {
        Some('{') => match text.find('}') {
            Some(end) => end + 1,
            None => return Err(message(Code::InvalidCharRange, text)),
        },
        Some(c) => 2 + c.len_utf8(),
        None => 2,
    };
    let whole = between(text, 0, len);
    let name = whole.get(2..).unwrap_or("");
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let (negated, name) = match name.strip_prefix('^') {
        Some(name) => (!negated, name),
        None => (negated, name),
    };
    let Some(mut class) = class(name, fold_case) else {
        return Err(message(Code::InvalidCharRange, whole));
    };
    *at += len;
    if negated {
        class.negate();
    }
    Ok(class)
}

/// An escaped character at `at`, which is moved behind it.
pub(super) fn escape_char(pattern: &str, at: &mut usize) -> Result<u32, String> {
    let start = *at;
    *at += 1;
    let mut next = || {
        let c = rest(pattern, *at).chars().next();
        *at += c.map_or(0, char::len_utf8);
        c
    };
    let Some(c) = next() else {
        return Err(message(Code::TrailingBackslash, ""));
    };
    let value = match c {
        'a' => Some(0x07),
        'f' => Some(0x0c),
        'n' => Some(0x0a),
        'r' => Some(0x0d),
        't' => Some(0x09),
        'v' => Some(0x0b),
        'x' => hexadecimal(&mut next),
        '0'..='7' => octal(pattern, at, c),
        c if c.is_ascii() && !c.is_ascii_alphanumeric() => Some(u32::from(c)),
        _ => None,
    };
    value.ok_or_else(|| message(Code::InvalidEscape, between(pattern, start, *at)))
}

/// Up to three octal digits; one alone, unless 0, would be a back-reference.
fn octal(pattern: &str, at: &mut usize, first: char) -> Option<u32> {
    let digit = |at: usize| rest(pattern, at).bytes().next().filter(|byte| (b'0'..=b'7').contains(byte));
    if first != '0' && digit(*at).is_none() {
        return None;
    }
    let mut value = first.to_digit(8)?;
    for _ in 1..3 {
        let Some(byte) = digit(*at) else { break };
        value = value * 8 + u32::from(byte - b'0');
        *at += 1;
    }
    Some(value)
}

/// `xHH` or `x{H...}`.
fn hexadecimal(next: &mut impl FnMut() -> Option<char>) -> Option<u32> {
    let first = next()?;
    if first != '{' {
        let second = next();
        return Some(first.to_digit(16)? * 16 + second?.to_digit(16)?);
    }
    let (mut value, mut digits) = (0u32, 0);
    loop {
        match next()? {
            '}' if digits > 0 => return Some(value),
            c => value = value * 16 + c.to_digit(16)?,
        }
        digits += 1;
        if value > MAX {
            return None;
        }
    }
}
