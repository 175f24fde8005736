//! Doubles as `%f` and `%e` print them: by Go's `golang.org/x/text/message` for English, whose oddities show. The precision of
//! `%f` wraps around as that package's small integers do, and that of `%e` is a width.

use std::fmt::Write as _;

/// What is printed instead of a number whose precision has too many digits.
const NO_VERB: &str = "%!(NOVERB)";
/// The greatest precision and width that are read as numbers.
const MAX_PARSED: u64 = 10_000_009;
/// Precision and width when there is none.
const DEFAULT: u64 = 6;
const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// `%f`, or `%.Nf`.
pub(super) fn fixed(value: f64, precision: Option<u64>) -> String {
    let precision = precision.unwrap_or(DEFAULT);
    if precision > MAX_PARSED {
        return NO_VERB.to_owned();
    }
    if let Some(special) = special(value) {
        return special.to_owned();
    }
    let magnitude = value.abs();
    // The most digits are an int16, of which a negative one means as many as needed; the fewest are a uint8.
    let digits = match usize::try_from(precision as i16) {
        Ok(most) => format!("{magnitude:.most$}"),
        Err(_) => format!("{magnitude}"),
    };
    let fewest = usize::from(precision as u8);
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let mut out = String::with_capacity(digits.len() + digits.len() / 3 + 2);
    if value < 0.0 {
        out.push('-');
    }
    for (index, digit) in whole.char_indices() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if fewest > 0 || !fraction.is_empty() {
        let _ = write!(out, ".{fraction:0<fewest$}");
    }
    out
}

/// `%e`, or `%.Ne`, where N is the least width; six digits after the point in any case.
pub(super) fn scientific(value: f64, width: Option<u64>) -> String {
    let width = width.unwrap_or(DEFAULT);
    if width > MAX_PARSED {
        return NO_VERB.to_owned();
    }
    let width = usize::from(width as u16);
    if let Some(special) = special(value) {
        return format!("{special:>width$}");
    }
    let digits = format!("{:.6e}", value.abs());
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
    let mut out = String::new();
    if value < 0.0 {
        out.push('-');
    }
    let _ = write!(out, "{mantissa}×10");
    let exponent = match exponent.strip_prefix('-') {
        Some(magnitude) => {
            out.push('⁻');
            magnitude
        }
        None => exponent,
    };
    for digit in format!("{exponent:0>2}").chars() {
        let superscript = digit.to_digit(10).and_then(|digit| SUPERSCRIPTS.get(digit as usize));
        out.extend(superscript);
    }
    format!("{out:>width$}")
}

fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        return Some("NaN");
    }
    value.is_infinite().then_some(if value < 0.0 { "-∞" } else { "∞" })
}

/// A double inside a list or map: Go's `%.6f`.
pub(super) fn plain(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-Inf" } else { "+Inf" }.to_owned();
    }
    format!("{value:.6}")
}
