//! `resource.ParseQuantity`.

use smallvec::SmallVec;

use super::amount::Amount;
use super::decimal::Decimal;

const WRONG_FORMAT: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NOT_NUMERIC: &str = "unable to parse numeric part of quantity";
const WRONG_SUFFIX: &str = "unable to parse quantity's suffix";

/// Decimal digits that always fit an `i64`.
const MAX_INT_DIGITS: i64 = 18;

/// The pieces of a quantity's text.
struct Pieces<'t> {
    positive: bool,
    /// Sign, digits, point and digits.
    value: &'t str,
    /// Digits before the point without leading zeros, at least one.
    whole: &'t str,
    /// Digits after the point.
    fraction: &'t str,
    suffix: &'t str,
}

/// How a suffix multiplies.
#[derive(Clone, Copy)]
enum Multiplier {
    /// 10^n
    Ten(i32),
    /// 2^n
    Two(u32),
}

/// Parses a quantity; the error is the text that upstream gives.
pub(super) fn parse(text: &str) -> Result<Amount, &'static str> {
    if text.is_empty() {
        return Err(WRONG_FORMAT);
    }
    let pieces = split(text).ok_or(WRONG_FORMAT)?;
    let multiplier = multiplier(pieces.suffix).ok_or(WRONG_SUFFIX)?;
    match scaled(&pieces, multiplier) {
        Some(amount) => Ok(amount),
        None => big(&pieces, multiplier),
    }
}

/// Length of the leading run of bytes that satisfy `accept`.
fn run(text: &str, accept: impl Fn(u8) -> bool) -> usize {
    text.bytes().take_while(|b| accept(*b)).count()
}

/// `parseQuantityString`. All cuts are behind ASCII, so `get` fails only at the end of the text.
fn split(text: &str) -> Option<Pieces<'_>> {
    let is_digit = |b: u8| b.is_ascii_digit();
    let positive = !text.starts_with('-');
    let sign = usize::from(text.starts_with(['-', '+']));
    let unsigned = text.get(sign..)?;
    let digits = unsigned.get(run(unsigned, |b| b == b'0')..)?;
    if digits.is_empty() {
        return Some(Pieces { positive, value: "0", whole: "0", fraction: "", suffix: "" });
    }
    let (whole, mut rest) = digits.split_at(run(digits, is_digit));
    let whole = if whole.is_empty() { "0" } else { whole };
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        (fraction, rest) = after.split_at(run(after, is_digit));
    }
    let value = text.get(..text.len() - rest.len())?;
    let letters = run(rest, |b| b"eEinumkKMGTP".contains(&b));
    let signed = letters + run(rest.get(letters..)?, |b| matches!(b, b'-' | b'+')).min(1);
    let end = signed + run(rest.get(signed..)?, is_digit);
    (end == rest.len()).then_some(Pieces { positive, value, whole, fraction, suffix: rest })
}

/// `suffixHandler.interpret`. An exponent is cut to 32 bits, as there.
fn multiplier(suffix: &str) -> Option<Multiplier> {
    use Multiplier::{Ten, Two};
    Some(match suffix {
        "" => Ten(0),
        "n" => Ten(-9),
        "u" => Ten(-6),
        "m" => Ten(-3),
        "k" => Ten(3),
        "M" => Ten(6),
        "G" => Ten(9),
        "T" => Ten(12),
        "P" => Ten(15),
        "E" => Ten(18),
        "Ki" => Two(10),
        "Mi" => Two(20),
        "Gi" => Two(30),
        "Ti" => Two(40),
        "Pi" => Two(50),
        "Ei" => Two(60),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?.parse::<i64>().ok()?;
            Ten(exponent as i32)
        }
    })
}

/// The first form, where upstream's estimate of the digits says that it fits.
fn scaled(pieces: &Pieces<'_>, multiplier: Multiplier) -> Option<Amount> {
    let (whole, fraction) = (i64::try_from(pieces.whole.len()).ok()?, i64::try_from(pieces.fraction.len()).ok()?);
    let (scale, factor, room) = match multiplier {
        Multiplier::Ten(exponent) => (exponent, 1, MAX_INT_DIGITS - whole - fraction),
        Multiplier::Two(bits) if fraction == 0 => (0, 1i64.checked_shl(bits)?, 14 - whole - i64::from(bits) * 3 / 10),
        Multiplier::Two(_) => return None,
    };
    if room < 0 {
        return None;
    }
    let scale = scale.wrapping_sub(i32::try_from(fraction).ok()?);
    if scale < -9 {
        return None;
    }
    let digits = pieces.whole.bytes().chain(pieces.fraction.bytes());
    let value = digits.fold(0i64, |n, d| n * 10 + i64::from(d - b'0')).checked_mul(factor)?;
    Some(Amount::Scaled { value: if pieces.positive { value } else { -value }, scale })
}

/// The second form: exact, at least one billionth, and with a binary suffix at most `i64::MAX`.
fn big(pieces: &Pieces<'_>, multiplier: Multiplier) -> Result<Amount, &'static str> {
    if !pieces.value.bytes().any(|b| b.is_ascii_digit()) {
        return Err(NOT_NUMERIC);
    }
    let digits: SmallVec<[u8; 32]> = pieces.whole.bytes().chain(pieces.fraction.bytes()).collect();
    let places = i64::try_from(pieces.fraction.len()).unwrap_or(i64::MAX);
    // `inf.Dec`'s scale has 32 bits and wraps; it is replaced below unless the number is 0.
    let mut number = match multiplier {
        Multiplier::Ten(exponent) => {
            let scale = (places as i32).wrapping_add(exponent.wrapping_neg());
            Decimal::from_digits(&digits, i64::from(exponent) - places, scale)
        }
        Multiplier::Two(bits) => {
            let factor = 1i64.checked_shl(bits).ok_or(WRONG_SUFFIX)?;
            Decimal::from_digits(&digits, -places, places as i32).times(factor)
        }
    };
    if number.signum() != 0 {
        number = number.round_up_to_nano();
        let limit = Decimal::from_int(i64::MAX, 0, 0);
        if matches!(multiplier, Multiplier::Two(_)) && number.compare(&limit).is_gt() {
            number = limit;
        }
    }
    Ok(Amount::Big(if pieces.positive { number } else { number.times(-1) }))
}
