//! `+ - * / %` and negation, as the methods of cel-go's value types. The left value must have the operator's trait.

use crate::context::{EvalContext, Halt};
use crate::mutants::{Mutant, planted};
use crate::time::{MAX_SECONDS, MIN_SECONDS};
use crate::value::{ConcatList, Duration, ListView, Timestamp, Value};

/// Joining makes no list of more elements than this, since some functions go through a list at no cost.
const MAX_ELEMENTS: usize = 1 << 24;

const INT_OVERFLOW: &str = "integer overflow";
const UINT_OVERFLOW: &str = "unsigned integer overflow";
const DIVIDE_BY_ZERO: &str = "division by zero";
const MODULUS_BY_ZERO: &str = "modulus by zero";

fn mismatch<'a>(ctx: &EvalContext<'a>, right: Value<'a>) -> Value<'a> {
    if right.is_error_or_halt() { right } else { ctx.error("no such overload") }
}

fn int_or<'a>(ctx: &EvalContext<'a>, result: Option<i64>, message: &'static str) -> Value<'a> {
    result.map_or_else(|| ctx.error(message), Value::Int)
}

fn uint_or<'a>(ctx: &EvalContext<'a>, result: Option<u64>, message: &'static str) -> Value<'a> {
    result.map_or_else(|| ctx.error(message), Value::Uint)
}

fn duration_or<'a>(ctx: &EvalContext<'a>, result: Option<i64>) -> Value<'a> {
    result.map_or_else(|| ctx.error(INT_OVERFLOW), |nanos| Value::Duration(Duration { nanos }))
}

/// `left + right`
pub fn add<'a>(ctx: &EvalContext<'a>, left: Value<'a>, right: Value<'a>) -> Value<'a> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) if planted(Mutant::IntAddSaturates) => Value::Int(a.saturating_add(b)),
        (Value::Int(a), Value::Int(b)) => int_or(ctx, a.checked_add(b), INT_OVERFLOW),
        (Value::Uint(a), Value::Uint(b)) => uint_or(ctx, a.checked_add(b), UINT_OVERFLOW),
        (Value::Double(a), Value::Double(b)) => Value::Double(a + b),
        (Value::String(a), Value::String(b)) => join_texts(ctx, &[a, b]),
        (Value::Bytes(a), Value::Bytes(b)) => {
            if let Some(halt) = ctx.no_room(a.len() + b.len()) {
                return halt;
            }
            let joined = bumpalo::collections::Vec::from_iter_in(a.iter().chain(b).copied(), ctx.arena);
            Value::Bytes(joined.into_bump_slice())
        }
        (Value::Duration(a), Value::Duration(b)) => duration_or(ctx, a.nanos.checked_add(b.nanos)),
        (Value::Duration(d), Value::Timestamp(t)) | (Value::Timestamp(t), Value::Duration(d)) => {
            add_to_time(ctx, t, d.nanos)
        }
        _ => match (ListView::of(left), ListView::of(right)) {
            (Some(a), Some(b)) => join_lists(ctx, a, b),
            _ => mismatch(ctx, right),
        },
    }
}

/// Texts one after the other, all at once.
pub(crate) fn join_texts<'a>(ctx: &EvalContext<'a>, parts: &[&'a str]) -> Value<'a> {
    let bytes = parts.iter().map(|part| part.len()).fold(0, usize::saturating_add);
    if let Some(whole) = parts.iter().find(|part| part.len() == bytes) {
        return Value::String(whole);
    }
    if let Some(halt) = ctx.no_room(bytes) {
        return halt;
    }
    let mut joined = bumpalo::collections::String::with_capacity_in(bytes, ctx.arena);
    parts.iter().for_each(|part| joined.push_str(part));
    Value::String(joined.into_bump_str())
}

/// Joins two lists: lazily for cel-go's own lists, by copying for lists read by reflection.
pub fn join_lists<'a>(ctx: &EvalContext<'a>, a: ListView<'a>, b: ListView<'a>) -> Value<'a> {
    // Doubling a list in variable after variable makes it as long as one likes; upstream then runs out of time or memory.
    let len = a.len().saturating_add(b.len());
    if len > MAX_ELEMENTS {
        return ctx.set_halt(Halt::CostLimit);
    }
    if !a.is_typed() {
        if a.is_empty() {
            return b.value();
        }
        if b.is_empty() {
            return a.value();
        }
        if let Some(list) = ConcatList::join(a, b) {
            return Value::Concat(ctx.arena.alloc(list));
        }
    }
    if let Some(halt) = ctx.no_room(len * size_of::<Value<'a>>()) {
        return halt;
    }
    let mut elements = bumpalo::collections::Vec::with_capacity_in(len, ctx.arena);
    elements.extend(a.iter().chain(b.iter()));
    Value::List(elements.into_bump_slice())
}

/// `left - right`
pub fn subtract<'a>(ctx: &EvalContext<'a>, left: Value<'a>, right: Value<'a>) -> Value<'a> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => int_or(ctx, a.checked_sub(b), INT_OVERFLOW),
        (Value::Uint(a), Value::Uint(b)) if planted(Mutant::UintSubtractWraps) => Value::Uint(a.wrapping_sub(b)),
        (Value::Uint(a), Value::Uint(b)) => uint_or(ctx, a.checked_sub(b), UINT_OVERFLOW),
        (Value::Double(a), Value::Double(b)) => Value::Double(a - b),
        (Value::Duration(a), Value::Duration(b)) => duration_or(ctx, a.nanos.checked_sub(b.nanos)),
        (Value::Timestamp(t), Value::Duration(d)) => match d.nanos.checked_neg() {
            Some(nanos) => add_to_time(ctx, t, nanos),
            None => ctx.error(INT_OVERFLOW),
        },
        (Value::Timestamp(a), Value::Timestamp(b)) => {
            let nanos = i64::from(a.nanos) - i64::from(b.nanos);
            let whole = a.seconds.checked_sub(b.seconds).and_then(|seconds| seconds.checked_mul(1_000_000_000));
            duration_or(ctx, whole.and_then(|whole| whole.checked_add(nanos)))
        }
        _ => mismatch(ctx, right),
    }
}

fn add_to_time<'a>(ctx: &EvalContext<'a>, time: Timestamp, nanos: i64) -> Value<'a> {
    // As in Go, which rounds to zero: a message can hold any seconds, whose sum overflows.
    let sum = i64::from(time.nanos) + nanos % 1_000_000_000;
    let whole = time.seconds.checked_add(nanos / 1_000_000_000);
    let Some(seconds) = whole.and_then(|whole| whole.checked_add(sum.div_euclid(1_000_000_000))) else {
        return ctx.error(INT_OVERFLOW);
    };
    if !(MIN_SECONDS..=MAX_SECONDS).contains(&seconds) {
        return ctx.error("timestamp overflow");
    }
    Value::Timestamp(Timestamp {
        seconds,
        nanos: if planted(Mutant::TimeDropsNanoseconds) { 0 } else { sum.rem_euclid(1_000_000_000) as u32 },
        offset: time.offset,
    })
}

/// `left * right`
pub fn multiply<'a>(ctx: &EvalContext<'a>, left: Value<'a>, right: Value<'a>) -> Value<'a> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => int_or(ctx, a.checked_mul(b), INT_OVERFLOW),
        (Value::Uint(a), Value::Uint(b)) => uint_or(ctx, a.checked_mul(b), UINT_OVERFLOW),
        (Value::Double(a), Value::Double(b)) => Value::Double(a * b),
        _ => mismatch(ctx, right),
    }
}

/// `left / right`
pub fn divide<'a>(ctx: &EvalContext<'a>, left: Value<'a>, right: Value<'a>) -> Value<'a> {
    match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => ctx.error(DIVIDE_BY_ZERO),
        (Value::Int(a), Value::Int(b)) => int_or(ctx, a.checked_div(b), INT_OVERFLOW),
        (Value::Uint(a), Value::Uint(b)) => uint_or(ctx, a.checked_div(b), DIVIDE_BY_ZERO),
        (Value::Double(a), Value::Double(b)) => Value::Double(a / b),
        _ => mismatch(ctx, right),
    }
}

/// `left % right`
pub fn modulo<'a>(ctx: &EvalContext<'a>, left: Value<'a>, right: Value<'a>) -> Value<'a> {
    match (left, right) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => ctx.error(MODULUS_BY_ZERO),
        (Value::Int(a), Value::Int(b)) if planted(Mutant::ModuloIsEuclidean) => {
            int_or(ctx, a.checked_rem_euclid(b), INT_OVERFLOW)
        }
        (Value::Int(a), Value::Int(b)) => int_or(ctx, a.checked_rem(b), INT_OVERFLOW),
        (Value::Uint(a), Value::Uint(b)) => uint_or(ctx, a.checked_rem(b), MODULUS_BY_ZERO),
        _ => mismatch(ctx, right),
    }
}

/// `-value`
pub fn negate<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
    match value {
        Value::Int(i) if planted(Mutant::NegateMinimum) => Value::Int(i.wrapping_neg()),
        Value::Int(i) => int_or(ctx, i.checked_neg(), INT_OVERFLOW),
        Value::Double(d) => Value::Double(-d),
        Value::Duration(d) => duration_or(ctx, d.nanos.checked_neg()),
        _ => mismatch(ctx, value),
    }
}
