//! Durations as Go parses and prints them.

use std::fmt::{self, Write};

/// The text is not a duration that Go's `time.ParseDuration` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotADuration;

const LIMIT: u64 = 1 << 63;

/// Reads a duration such as `1h15m30.5s` into nanoseconds, as Go's `time.ParseDuration`.
pub fn parse(text: &str) -> Result<i64, NotADuration> {
    let (negative, mut rest) = match text.as_bytes() {
        [b'-', ..] => (true, text.get(1..).unwrap_or_default()),
        [b'+', ..] => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(NotADuration);
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (nanos, after) = part(rest)?;
        total = total.checked_add(nanos).filter(|&total| total <= LIMIT).ok_or(NotADuration)?;
        rest = after;
    }
    if negative {
        return Ok((total as i64).wrapping_neg());
    }
    i64::try_from(total).map_err(|_| NotADuration)
}

/// One number with its unit.
fn part(text: &str) -> Result<(u64, &str), NotADuration> {
    let (whole_digits, rest) = split_digits(text);
    let mut whole: u64 = 0;
    for digit in whole_digits.bytes() {
        whole = whole.checked_mul(10).and_then(|n| n.checked_add(u64::from(digit - b'0'))).ok_or(NotADuration)?;
        if whole > LIMIT {
            return Err(NotADuration);
        }
    }
    let (fraction_digits, rest) = match rest.strip_prefix('.') {
        Some(rest) => split_digits(rest),
        None => ("", rest),
    };
    if whole_digits.is_empty() && fraction_digits.is_empty() {
        return Err(NotADuration);
    }
    let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
    let (unit, rest) = rest.split_at_checked(end).ok_or(NotADuration)?;
    let unit = nanos_of_unit(unit).ok_or(NotADuration)?;
    if whole > LIMIT / unit {
        return Err(NotADuration);
    }
    let mut nanos = whole * unit;
    let (fraction, scale) = fraction_of(fraction_digits);
    if fraction > 0 {
        nanos = nanos.wrapping_add((fraction as f64 * (unit as f64 / scale)) as u64);
        if nanos > LIMIT {
            return Err(NotADuration);
        }
    }
    Ok((nanos, rest))
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// The digits after the point and their scale; digits that no longer fit are dropped.
fn fraction_of(digits: &str) -> (u64, f64) {
    let mut value: u64 = 0;
    let mut scale = 1.0;
    for digit in digits.bytes() {
        if value > (LIMIT - 1) / 10 {
            break;
        }
        let next = value * 10 + u64::from(digit - b'0');
        if next > LIMIT {
            break;
        }
        value = next;
        scale *= 10.0;
    }
    (value, scale)
}

fn nanos_of_unit(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// The duration in seconds, as Go's `Duration.Seconds`.
pub fn seconds(nanos: i64) -> f64 {
    in_unit(nanos, 1_000_000_000)
}

/// The duration in a unit of so many nanoseconds, as Go's `Minutes` and `Hours` compute it.
pub fn in_unit(nanos: i64, unit: i64) -> f64 {
    (nanos / unit) as f64 + (nanos % unit) as f64 / unit as f64
}

/// Prints as cel-go's `string(duration)`: seconds with a fraction and the unit, such as `3723.5s`.
pub fn write_seconds(out: &mut dyn Write, nanos: i64) -> fmt::Result {
    write!(out, "{}s", seconds(nanos))
}

/// Prints as Go's `Duration.String`, such as `1h2m3.5s`.
pub fn write_go(out: &mut dyn Write, nanos: i64) -> fmt::Result {
    let magnitude = nanos.unsigned_abs();
    if nanos < 0 {
        out.write_char('-')?;
    }
    match magnitude {
        0 => out.write_str("0s"),
        1..1_000 => write!(out, "{magnitude}ns"),
        1_000..1_000_000 => write_fraction(out, magnitude, 3, "µs"),
        1_000_000..1_000_000_000 => write_fraction(out, magnitude, 6, "ms"),
        _ => {
            let minutes = magnitude / 60_000_000_000;
            if minutes >= 60 {
                write!(out, "{}h", minutes / 60)?;
            }
            if minutes > 0 {
                write!(out, "{}m", minutes % 60)?;
            }
            write_fraction(out, magnitude % 60_000_000_000, 9, "s")
        }
    }
}

fn write_fraction(out: &mut dyn Write, value: u64, places: usize, unit: &str) -> fmt::Result {
    let scale = 10u64.pow(places as u32);
    write!(out, "{}", value / scale)?;
    let fraction = format!("{:0places$}", value % scale);
    let fraction = fraction.trim_end_matches('0');
    if !fraction.is_empty() {
        write!(out, ".{fraction}")?;
    }
    out.write_str(unit)
}
