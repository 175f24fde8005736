//! Operators, `size`, `in` and comprehension helpers (cel-go `common/stdlib/standard.go`).

use std::cmp::Ordering;

use crate::context::EvalContext;
use crate::function::Implementation;
use crate::ops::{self, arithmetic, compare};
use crate::value::{ListView, MapView, Value};

/// Implementations by function name: these have one for all overloads.
pub(super) const IMPLEMENTATIONS: [Implementation; 16] = [
    implementation("!_", not),
    implementation("_+_", |ctx, args| binary(ctx, args, arithmetic::add)),
    implementation("_-_", |ctx, args| binary(ctx, args, arithmetic::subtract)),
    implementation("_*_", |ctx, args| binary(ctx, args, arithmetic::multiply)),
    implementation("_/_", |ctx, args| binary(ctx, args, arithmetic::divide)),
    implementation("_%_", |ctx, args| binary(ctx, args, arithmetic::modulo)),
    implementation("-_", |ctx, args| unary(ctx, args, arithmetic::negate)),
    implementation("_<_", |ctx, args| ordered(ctx, args, Ordering::is_lt)),
    implementation("_<=_", |ctx, args| ordered(ctx, args, Ordering::is_le)),
    implementation("_>_", |ctx, args| ordered(ctx, args, Ordering::is_gt)),
    implementation("_>=_", |ctx, args| ordered(ctx, args, Ordering::is_ge)),
    implementation("@in", |ctx, args| binary(ctx, args, is_in)),
    implementation("size", |ctx, args| unary(ctx, args, size)),
    implementation("type", |ctx, args| unary(ctx, args, |_, value| ops::convert::to_type(value))),
    implementation("dyn", |ctx, args| unary(ctx, args, |_, value| value)),
    implementation("not_strictly_false", |ctx, args| unary(ctx, args, |_, value| not_strictly_false(value))),
];

const fn implementation(id: &'static str, eval: crate::function::EvalFn) -> Implementation {
    Implementation { id, eval, cost: None }
}

fn unary<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], op: fn(&EvalContext<'a>, Value<'a>) -> Value<'a>) -> Value<'a> {
    match args {
        [value] => op(ctx, *value),
        _ => ctx.error("no such overload"),
    }
}

fn binary<'a>(
    ctx: &EvalContext<'a>,
    args: &[Value<'a>],
    op: fn(&EvalContext<'a>, Value<'a>, Value<'a>) -> Value<'a>,
) -> Value<'a> {
    match args {
        [left, right] => op(ctx, *left, *right),
        _ => ctx.error("no such overload"),
    }
}

fn ordered<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], holds: fn(Ordering) -> bool) -> Value<'a> {
    match args {
        [left, right] => match compare::compare(ctx, *left, *right) {
            Ok(ordering) => Value::Bool(holds(ordering)),
            Err(error) => error,
        },
        _ => ctx.error("no such overload"),
    }
}

fn not<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        [Value::Bool(b)] => Value::Bool(!b),
        [error @ (Value::Error(_) | Value::Halt)] => *error,
        _ => ctx.error("no such overload"),
    }
}

/// `element in container`: an element of a list, or a key of a map.
pub(crate) fn is_in<'a>(ctx: &EvalContext<'a>, element: Value<'a>, container: Value<'a>) -> Value<'a> {
    if let Some(list) = ListView::of(container) {
        return ops::contains(ctx, list, element);
    }
    match MapView::of(container) {
        Some(map @ (MapView::Entries(_) | MapView::Record(_))) => match map.find(ctx, element) {
            Some(error @ (Value::Error(_) | Value::Halt)) => error,
            found => Value::Bool(found.is_some()),
        },
        // A lazy map has no `in`.
        _ if container.is_error_or_halt() => container,
        _ => ctx.error("no such overload"),
    }
}

fn size<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
    match ops::size(value) {
        Some(size) => Value::Int(size as i64),
        None => ctx.error("no such overload"),
    }
}

/// A bool stays; anything else, errors above all, is true.
pub(crate) fn not_strictly_false(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Bool(_) | Value::Halt => value,
        _ => Value::Bool(true),
    }
}
