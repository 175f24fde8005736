//! Type conversions and string functions (cel-go `common/stdlib/standard.go`).

use crate::context::EvalContext;
use crate::function::{EvalFn, Implementation};
use crate::ops::convert;
use crate::regex;
use crate::value::Value;

/// Implementations by overload id.
pub(super) const IMPLEMENTATIONS: [Implementation; 37] = [
    conversion("bool_to_bool", |ctx, args| one(ctx, args, convert::to_bool)),
    conversion("string_to_bool", |ctx, args| one(ctx, args, convert::to_bool)),
    conversion("bytes_to_bytes", |ctx, args| one(ctx, args, convert::to_bytes)),
    conversion("string_to_bytes", |ctx, args| one(ctx, args, convert::to_bytes)),
    conversion("double_to_double", |ctx, args| one(ctx, args, convert::to_double)),
    conversion("int64_to_double", |ctx, args| one(ctx, args, convert::to_double)),
    conversion("string_to_double", |ctx, args| one(ctx, args, convert::to_double)),
    conversion("uint64_to_double", |ctx, args| one(ctx, args, convert::to_double)),
    conversion("duration_to_duration", |ctx, args| one(ctx, args, convert::to_duration)),
    conversion("string_to_duration", |ctx, args| one(ctx, args, convert::to_duration)),
    conversion("int64_to_int64", |ctx, args| one(ctx, args, convert::to_int)),
    conversion("double_to_int64", |ctx, args| one(ctx, args, convert::to_int)),
    conversion("duration_to_int64", |ctx, args| one(ctx, args, convert::to_int)),
    conversion("string_to_int64", |ctx, args| one(ctx, args, convert::to_int)),
    conversion("timestamp_to_int64", |ctx, args| one(ctx, args, convert::to_int)),
    conversion("uint64_to_int64", |ctx, args| one(ctx, args, convert::to_int)),
    conversion("string_to_string", |ctx, args| one(ctx, args, convert::to_string)),
    conversion("bool_to_string", |ctx, args| one(ctx, args, convert::to_string)),
    conversion("bytes_to_string", |ctx, args| one(ctx, args, convert::to_string)),
    conversion("double_to_string", |ctx, args| one(ctx, args, convert::to_string)),
    conversion("duration_to_string", |ctx, args| one(ctx, args, convert::to_string)),
    conversion("int64_to_string", |ctx, args| one(ctx, args, convert::to_string)),
    conversion("timestamp_to_string", |ctx, args| one(ctx, args, convert::to_string)),
    conversion("uint64_to_string", |ctx, args| one(ctx, args, convert::to_string)),
    conversion("timestamp_to_timestamp", |ctx, args| one(ctx, args, convert::to_timestamp)),
    conversion("int64_to_timestamp", |ctx, args| one(ctx, args, convert::to_timestamp)),
    conversion("string_to_timestamp", |ctx, args| one(ctx, args, convert::to_timestamp)),
    conversion("uint64_to_uint64", |ctx, args| one(ctx, args, convert::to_uint)),
    conversion("double_to_uint64", |ctx, args| one(ctx, args, convert::to_uint)),
    conversion("int64_to_uint64", |ctx, args| one(ctx, args, convert::to_uint)),
    conversion("string_to_uint64", |ctx, args| one(ctx, args, convert::to_uint)),
    conversion("contains_string", |ctx, args| two_strings(ctx, args, |text, part| text.contains(part))),
    conversion("ends_with_string", |ctx, args| two_strings(ctx, args, |text, suffix| text.ends_with(suffix))),
    conversion("starts_with_string", |ctx, args| two_strings(ctx, args, |text, prefix| text.starts_with(prefix))),
    conversion("matches", matches),
    conversion("matches_string", matches),
    conversion("to_dyn", |ctx, args| one(ctx, args, |_, value| value)),
];

const fn conversion(id: &'static str, eval: EvalFn) -> Implementation {
    Implementation { id, eval, cost: None }
}

fn one<'a>(
    ctx: &EvalContext<'a>,
    args: &[Value<'a>],
    convert: fn(&EvalContext<'a>, Value<'a>) -> Value<'a>,
) -> Value<'a> {
    match args {
        [value] => convert(ctx, *value),
        _ => ctx.error("no such overload"),
    }
}

fn two_strings<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], holds: fn(&str, &str) -> bool) -> Value<'a> {
    match args {
        [Value::String(text), Value::String(part)] => Value::Bool(holds(text, part)),
        _ => ctx.error("no such overload"),
    }
}

/// `text.matches(pattern)`. With a constant pattern cel-go takes whatever has a Go string inside for the text.
fn matches<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [text, Value::String(pattern)] = args else {
        return ctx.error("no such overload");
    };
    let Some(text) = text.go_string() else {
        return ctx.error("no such overload");
    };
    match regex::get(ctx, pattern) {
        Ok(regex) => Value::Bool(regex.is_match(text)),
        Err(message) => ctx.errorf(format_args!("{message}")),
    }
}
