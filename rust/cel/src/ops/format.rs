//! Values as Go's `fmt` prints them, for error texts and conversions to string.

use std::fmt::{self, Write};

use crate::time;
use crate::value::{ListView, MapView, Value};

/// Nested values are printed to this depth; what lies deeper is left out of a message.
const MAX_DEPTH: u32 = 32;

/// Shows a value as Go's `%v` shows upstream's.
pub struct GoValue<'a>(pub Value<'a>);

impl fmt::Display for GoValue<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(out, self.0, 0)
    }
}

fn write_value(out: &mut dyn Write, value: Value<'_>, depth: u32) -> fmt::Result {
    if depth > MAX_DEPTH {
        return out.write_str("...");
    }
    match value {
        // structpb.NullValue is a number to Go.
        Value::Null => out.write_char('0'),
        Value::Bool(b) => write!(out, "{b}"),
        Value::Int(i) => write!(out, "{i}"),
        Value::Uint(u) => write!(out, "{u}"),
        Value::Double(d) => write_double(out, d),
        Value::String(text) => out.write_str(text),
        Value::Bytes(bytes) => {
            out.write_char('[')?;
            for (i, byte) in bytes.iter().enumerate() {
                write!(out, "{}{byte}", if i == 0 { "" } else { " " })?;
            }
            out.write_char(']')
        }
        Value::Duration(duration) => time::duration::write_go(out, duration.nanos),
        Value::Timestamp(timestamp) => write_time(out, timestamp),
        Value::Type(name) => out.write_str(type_text(name)),
        Value::Optional(None) => out.write_str("optional.none()"),
        Value::Optional(Some(inner)) => {
            out.write_str("optional(")?;
            write_value(out, *inner, depth + 1)?;
            out.write_char(')')
        }
        Value::Error(error) => out.write_str(error.message),
        Value::Opaque(opaque) => out.write_str(opaque.ty.name),
        Value::Lazy(map) => out.write_str(map.type_name()),
        Value::Halt => Ok(()),
        Value::Accumulator => out.write_str("[]"),
        Value::List(_) | Value::Constants(_) | Value::Concat(_) | Value::Map(_) | Value::Record(_) => {
            write_container(out, value, depth)
        }
    }
}

/// A run-time type as Go's `%v` shows it: with the parameters that the type of all lists, maps or optionals has.
pub(crate) fn type_text(name: &str) -> &str {
    match name {
        "list" => "list(dyn)",
        "map" => "map(dyn, dyn)",
        "optional_type" => "optional_type(dyn)",
        _ => name,
    }
}

fn write_container(out: &mut dyn Write, value: Value<'_>, depth: u32) -> fmt::Result {
    if let Some(list) = ListView::of(value) {
        out.write_char('[')?;
        for (i, element) in list.iter().enumerate() {
            out.write_str(if i == 0 { "" } else { ", " })?;
            write_value(out, element, depth + 1)?;
        }
        return out.write_char(']');
    }
    out.write_char('{')?;
    let mut first = true;
    let mut put = |out: &mut dyn Write, key: Value<'_>, value: Value<'_>| {
        out.write_str(if std::mem::take(&mut first) { "" } else { ", " })?;
        write_value(out, key, depth + 1)?;
        out.write_str(": ")?;
        write_value(out, value, depth + 1)
    };
    match MapView::of(value) {
        Some(MapView::Entries(map)) => {
            for (key, value) in map.entries {
                put(out, *key, *value)?;
            }
        }
        Some(MapView::Record(record)) => {
            for (key, value) in (0..record.stored_len()).filter_map(|i| record.entry(i)) {
                put(out, Value::String(key), value)?;
            }
        }
        Some(MapView::Lazy(_)) | None => {}
    }
    out.write_char('}')
}

/// Go's `time.Time.String`.
fn write_time(out: &mut dyn Write, timestamp: crate::value::Timestamp) -> fmt::Result {
    let local = time::Civil::of(timestamp, i64::from(timestamp.offset));
    write!(out, "{:04}-{:02}-{:02} ", local.year, local.month, local.day)?;
    write!(out, "{:02}:{:02}:{:02}", local.hour, local.minute, local.second)?;
    if timestamp.nanos != 0 {
        let digits = format!("{:09}", timestamp.nanos);
        write!(out, ".{}", digits.trim_end_matches('0'))?;
    }
    let minutes = timestamp.offset.unsigned_abs() / 60;
    let sign = if timestamp.offset < 0 { '-' } else { '+' };
    write!(out, " {sign}{:02}{:02} ", minutes / 60, minutes % 60)?;
    if timestamp.offset == 0 {
        out.write_str("UTC")
    } else {
        write!(out, "{sign}{:02}{:02}", minutes / 60, minutes % 60)
    }
}

/// A double as Go's `%g`: shortest digits, with an exponent below 1e-4 and from 1e6 on.
pub fn write_double(out: &mut dyn Write, d: f64) -> fmt::Result {
    if d.is_nan() {
        return out.write_str("NaN");
    }
    if d.is_infinite() {
        return out.write_str(if d > 0.0 { "+Inf" } else { "-Inf" });
    }
    if d == 0.0 {
        return out.write_str(if d.is_sign_negative() { "-0" } else { "0" });
    }
    let shortest = shortest(d)?;
    let (mantissa, exponent) = shortest.as_str().split_once('e').unwrap_or_default();
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // Go takes 6 for the precision that decides when digits are the shortest possible.
    if (-4..6).contains(&exponent) {
        return write_fixed(out, mantissa, exponent);
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(out, "{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// The shortest digits that stand for `d`, as `d.ddde<exponent>`. Where two texts are as short and as near, Go takes the even one, and
/// Rust the greater.
fn shortest(d: f64) -> Result<Text, fmt::Error> {
    let mut shortest = Text { bytes: [0; 32], len: 0 };
    write!(shortest, "{d:e}")?;
    let mantissa = shortest.as_str().split_once('e').map_or("", |(mantissa, _)| mantissa);
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    // With fewer digits no two numbers are that near.
    if digits >= 15 && mantissa.bytes().last().is_some_and(|digit| digit % 2 == 1) {
        // To a number of digits Rust rounds to even, too.
        let mut even = Text { bytes: [0; 32], len: 0 };
        write!(even, "{d:.*e}", digits - 1)?;
        if even.as_str().parse::<f64>() == Ok(d) {
            return Ok(even);
        }
    }
    Ok(shortest)
}

/// Digits, with a sign and a point behind the first one, without an exponent.
fn write_fixed(out: &mut dyn Write, mantissa: &str, exponent: i32) -> fmt::Result {
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |mantissa| ("-", mantissa));
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let places = exponent.unsigned_abs() as usize;
    if exponent < 0 {
        return write!(out, "{sign}0.{:0<width$}{first}{rest}", "", width = places - 1);
    }
    match rest.split_at_checked(places) {
        Some((whole, "")) => write!(out, "{sign}{first}{whole}"),
        Some((whole, fraction)) => write!(out, "{sign}{first}{whole}.{fraction}"),
        None => write!(out, "{sign}{first}{rest:0<places$}"),
    }
}

/// A short text that is not on the heap: a double has at most 17 digits, a sign, a point and an exponent.
struct Text {
    bytes: [u8; 32],
    len: usize,
}

impl Text {
    fn as_str(&self) -> &str {
        self.bytes.get(..self.len).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
