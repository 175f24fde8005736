//! Conversions between types, as the `ConvertToType` methods of cel-go's value types.

mod float;

use std::fmt::Write;

use crate::context::EvalContext;
use crate::mutants::{Mutant, planted};
use crate::ops::format::write_double;
use crate::ops::number;
use crate::time::{self, MAX_SECONDS, MIN_SECONDS};
use crate::value::{Duration, Timestamp, Value};

const INT_OVERFLOW: &str = "integer overflow";
const UINT_OVERFLOW: &str = "unsigned integer overflow";
const TIMESTAMP_OVERFLOW: &str = "timestamp overflow";

fn unconvertible<'a>(ctx: &EvalContext<'a>, value: Value<'a>, to: &str) -> Value<'a> {
    if value.is_error_or_halt() {
        return value;
    }
    ctx.errorf(format_args!("type conversion error from '{}' to '{to}'", value.type_name()))
}

/// `bool(value)`
pub fn to_bool<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
    match value {
        Value::Bool(_) => value,
        Value::String("1" | "t" | "T" | "TRUE" | "true" | "True") => Value::Bool(true),
        Value::String("yes" | "tRue") if planted(Mutant::BoolTakesYes) => Value::Bool(true),
        Value::String("0" | "f" | "F" | "FALSE" | "false" | "False") => Value::Bool(false),
        _ => unconvertible(ctx, value, "bool"),
    }
}

/// `int(value)`
pub fn to_int<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
    let (converted, overflow) = match value {
        Value::Int(_) => return value,
        Value::Uint(u) => (i64::try_from(u).ok(), true),
        Value::Double(d) => (number::double_to_int(d), true),
        Value::Duration(d) if planted(Mutant::DurationAsSeconds) => (Some(d.nanos / 1_000_000_000), false),
        Value::Duration(d) => (Some(d.nanos), false),
        Value::Timestamp(t) => (Some(t.seconds), false),
        Value::String(text) => (text.parse::<i64>().ok(), false),
        _ => (None, false),
    };
    match converted {
        Some(i) => Value::Int(i),
        None if overflow => ctx.error(INT_OVERFLOW),
        None => unconvertible(ctx, value, "int"),
    }
}

/// `uint(value)`
pub fn to_uint<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
    let (converted, overflow) = match value {
        Value::Uint(_) => return value,
        Value::Int(i) => (u64::try_from(i).ok(), true),
        Value::Double(d) => (number::double_to_uint(d), true),
        // Unlike Rust, Go takes no sign here.
        Value::String(text) if !text.starts_with('+') || planted(Mutant::UintTakesPlus) => {
            (text.parse::<u64>().ok(), false)
        }
        _ => (None, false),
    };
    match converted {
        Some(u) => Value::Uint(u),
        None if overflow => ctx.error(UINT_OVERFLOW),
        None => unconvertible(ctx, value, "uint"),
    }
}

/// `double(value)`
pub fn to_double<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
    match value {
        Value::Double(_) => value,
        Value::Int(i) => Value::Double(i as f64),
        Value::Uint(u) => Value::Double(u as f64),
        Value::String(text) => match float::parse(text) {
            Some(d) => Value::Double(d),
            None => unconvertible(ctx, value, "double"),
        },
        _ => unconvertible(ctx, value, "double"),
    }
}

/// `bytes(value)`
pub fn to_bytes<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
    match value {
        Value::Bytes(_) => value,
        Value::String(text) => Value::Bytes(text.as_bytes()),
        _ => unconvertible(ctx, value, "bytes"),
    }
}

/// `duration(value)`
pub fn to_duration<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
    match value {
        Value::Duration(_) => value,
        Value::String(text) => match time::duration::parse(text) {
            Ok(nanos) => Value::Duration(Duration { nanos }),
            Err(_) => unconvertible(ctx, value, "google.protobuf.Duration"),
        },
        _ => unconvertible(ctx, value, "google.protobuf.Duration"),
    }
}

/// `timestamp(value)`
pub fn to_timestamp<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
    let timestamp = match value {
        Value::Timestamp(_) => return value,
        Value::Int(seconds) => Some(Timestamp::utc(seconds, 0)),
        Value::String(text) => time::parse_rfc3339(text).ok(),
        _ => None,
    };
    match timestamp {
        Some(t)
            if (MIN_SECONDS..=MAX_SECONDS).contains(&t.seconds)
                || (planted(Mutant::TimestampIsUnbounded) && t.seconds < MAX_SECONDS * 2) =>
        {
            Value::Timestamp(t)
        }
        Some(_) => ctx.error(TIMESTAMP_OVERFLOW),
        None => unconvertible(ctx, value, "google.protobuf.Timestamp"),
    }
}

/// `string(value)`
pub fn to_string<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
    let mut out = bumpalo::collections::String::new_in(ctx.arena);
    let written = match value {
        Value::String(_) => return value,
        Value::Bytes(bytes) => {
            return match std::str::from_utf8(bytes) {
                Ok(text) => Value::String(text),
                Err(_) => ctx.error("invalid UTF-8 in bytes, cannot convert to string"),
            };
        }
        Value::Type(name) => return Value::String(name),
        Value::Null => return Value::String("null"),
        Value::Bool(b) => return Value::String(if b { "true" } else { "false" }),
        Value::Int(i) => write!(out, "{i}"),
        Value::Uint(u) => write!(out, "{u}"),
        Value::Double(d) => write_double(&mut out, d),
        Value::Duration(d) => time::duration::write_seconds(&mut out, d.nanos),
        Value::Timestamp(t) => time::write_rfc3339(&mut out, t),
        _ => return unconvertible(ctx, value, "string"),
    };
    // Writing to a string of the arena cannot fail.
    debug_assert!(written.is_ok());
    Value::String(out.into_bump_str())
}

/// `type(value)`
pub fn to_type(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Error(_) | Value::Halt => value,
        _ => Value::Type(value.type_name()),
    }
}
