//! Equality as cel-go's value types define it. Iterative, so that deeply nested values cannot exhaust the stack.

use crate::context::EvalContext;
use crate::mutants::{Mutant, planted};
use crate::ops::{number, same_bytes, semantic};
use crate::value::{ListView, MapOrder, MapView, Value};

/// `types.Equal`: `null` equals only `null` and is never an error; otherwise the left value decides.
/// The result is a bool, or an error where cel-go raises one (`no such overload` from values read by reflection).
#[inline]
pub fn equal<'a>(ctx: &EvalContext<'a>, left: Value<'a>, right: Value<'a>) -> Value<'a> {
    match (left, right) {
        (Value::String(a), Value::String(b)) => Value::Bool(same_bytes(a.as_bytes(), b.as_bytes())),
        (Value::Int(a), Value::Int(b)) => Value::Bool(a == b),
        (Value::Bool(a), Value::Bool(b)) => Value::Bool(a == b),
        (Value::Null, Value::Null) => Value::Bool(true),
        (Value::Null, Value::Int(_)) if planted(Mutant::NullEqualsInt) => Value::Bool(true),
        (Value::Null, _) | (_, Value::Null) => Value::Bool(false),
        _ => equal_values(ctx, left, right),
    }
}

/// The left value's own `Equal` method.
pub fn equal_values<'a>(ctx: &EvalContext<'a>, left: Value<'a>, right: Value<'a>) -> Value<'a> {
    match start(ctx, left, right) {
        Step::Done(result) => result,
        Step::Open(frame) => run(ctx, frame),
    }
}

/// `in` for lists: `traits.Container.Contains` of cel-go's lists, and of upstream's lists read by reflection.
pub fn contains<'a>(ctx: &EvalContext<'a>, list: ListView<'a>, element: Value<'a>) -> Value<'a> {
    if !ctx.step(list.len() as u64) {
        return Value::Halt;
    }
    let typed = list.is_typed();
    for item in list.iter() {
        let (left, right) = if typed { (item, element) } else { (element, item) };
        match equal_values(ctx, left, right) {
            Value::Bool(true) => return Value::Bool(true),
            Value::Halt => return Value::Halt,
            _ => {}
        }
    }
    Value::Bool(false)
}

/// How a container combines the results of its parts.
#[derive(Clone, Copy, PartialEq)]
enum Rule {
    /// cel-go's own lists and maps: only `false` matters, errors count as equal.
    Lenient,
    /// Lists joined by `+`: as lenient, but the first error is the result if nothing differs.
    KeepError,
    /// Lists and maps read by reflection: anything but `true` is `false`.
    Strict,
    /// A struct read by reflection against another map: the first result that is not `true` is the result.
    Struct,
}

enum Parts<'a> {
    Lists(ListView<'a>, ListView<'a>, usize),
    Maps(MapView<'a>, MapOrder<'a>, MapView<'a>),
}

struct Frame<'a> {
    rule: Rule,
    parts: Parts<'a>,
    next: usize,
    error: Option<Value<'a>>,
}

enum Step<'a> {
    Done(Value<'a>),
    Open(Frame<'a>),
}

fn done<'a>(equal: bool) -> Step<'a> {
    Step::Done(Value::Bool(equal))
}

/// Decides scalars at once, and opens a frame for containers of the same size.
fn start<'a>(ctx: &EvalContext<'a>, left: Value<'a>, right: Value<'a>) -> Step<'a> {
    let (mut left, mut right) = (left, right);
    loop {
        return match (left, right) {
            (Value::Error(_) | Value::Halt, _) => Step::Done(left),
            (Value::Null, _) => done(matches!(right, Value::Null)),
            (Value::Bool(a), Value::Bool(b)) => done(a == b),
            (Value::Int(_) | Value::Uint(_) | Value::Double(_), _) => done(numbers_equal(left, right)),
            (Value::String(a), Value::String(b)) => done(a == b),
            (Value::Bytes(a), Value::Bytes(b)) => done(a == b),
            (Value::Duration(a), Value::Duration(b)) => done(a == b),
            (Value::Timestamp(a), Value::Timestamp(b)) => done(a == b),
            (Value::Type(a), Value::Type(b)) => done(a == b),
            (Value::Optional(None), Value::Optional(other)) => done(other.is_none()),
            (Value::Optional(Some(a)), Value::Optional(Some(b))) => {
                (left, right) = (*a, *b);
                continue;
            }
            (Value::Opaque(opaque), _) => Step::Done((opaque.ty.equal)(ctx, opaque, right)),
            (Value::Lazy(a), Value::Lazy(b)) => done(std::ptr::addr_eq(a, b)),
            (Value::Lazy(_), _) => Step::Done(no_such_overload(ctx, right)),
            (Value::List(_) | Value::Constants(_) | Value::Concat(_) | Value::Map(_) | Value::Record(_), _) => {
                containers(ctx, left, right)
            }
            _ => done(false),
        };
    }
}

fn no_such_overload<'a>(ctx: &EvalContext<'a>, other: Value<'a>) -> Value<'a> {
    if other.is_error_or_halt() { other } else { ctx.error("no such overload") }
}

fn containers<'a>(ctx: &EvalContext<'a>, left: Value<'a>, right: Value<'a>) -> Step<'a> {
    let typed = matches!(left, Value::Record(record) if record.is_typed());
    let mismatch = || {
        if typed && !planted(Mutant::TypedMismatchIsFalse) {
            Step::Done(no_such_overload(ctx, right))
        } else {
            done(false)
        }
    };
    let mut rule = if typed && !planted(Mutant::TypedIsLenient) { Rule::Strict } else { Rule::Lenient };
    let parts = if let Some(list) = ListView::of(left) {
        let Some(other) = ListView::of(right) else {
            return mismatch();
        };
        if list.len() != other.len() && !planted(Mutant::SizeIsNotCompared) {
            return done(false);
        }
        if matches!(left, Value::Concat(_)) {
            rule = Rule::KeepError;
        }
        Parts::Lists(list, other, list.len())
    } else {
        let (Some(map), Some(other)) = (MapView::of(left), MapView::of(right)) else {
            return mismatch();
        };
        if let Value::Record(a) = left
            && a.is_struct()
        {
            if let Value::Record(b) = right
                && b.is_struct()
            {
                let equal = semantic::deep_equal(ctx, a, b);
                return if ctx.halt().is_some() { Step::Done(Value::Halt) } else { done(equal) };
            }
            rule = Rule::Struct;
        }
        if map.len() != other.len() {
            return done(false);
        }
        Parts::Maps(map, map.order(ctx), other)
    };
    Step::Open(Frame { rule, parts, next: 0, error: None })
}

enum Pair<'a> {
    Next(Value<'a>, Value<'a>),
    Differ,
    End,
}

impl<'a> Frame<'a> {
    fn pair(&mut self, ctx: &EvalContext<'a>) -> Pair<'a> {
        let index = self.next;
        self.next += 1;
        match &self.parts {
            Parts::Lists(a, b, len) if index < *len => match (a.get(index), b.get(index)) {
                (Some(a), Some(b)) => Pair::Next(a, b),
                _ => Pair::Differ,
            },
            Parts::Maps(map, order, other) if index < order.len() => {
                let Some(key) = order.key(index) else {
                    return Pair::Differ;
                };
                match (map.find(ctx, key), other.find(ctx, key)) {
                    _ if other.refuses(key) => Pair::Differ,
                    (Some(a), Some(b)) => Pair::Next(a, b),
                    _ => Pair::Differ,
                }
            }
            _ => Pair::End,
        }
    }

    /// Takes in the result for one pair of parts; `Some` when it decides the whole.
    fn absorb(&mut self, part: Value<'a>) -> Option<Value<'a>> {
        match (self.rule, part) {
            (_, Value::Halt) => Some(Value::Halt),
            (_, Value::Bool(true)) => None,
            (Rule::Lenient | Rule::KeepError, Value::Bool(false)) => Some(part),
            (Rule::Lenient, _) => None,
            (Rule::KeepError, _) => {
                self.error.get_or_insert(part);
                None
            }
            (Rule::Strict, _) => Some(Value::Bool(false)),
            (Rule::Struct, _) => Some(part),
        }
    }
}

/// Lists that share their parts can stand for far more than memory holds, and upstream does not come to an end.
fn run<'a>(ctx: &EvalContext<'a>, first: Frame<'a>) -> Value<'a> {
    let mut outer: bumpalo::collections::Vec<'a, Frame<'a>> = bumpalo::collections::Vec::new_in(ctx.arena);
    let mut frame = first;
    while ctx.step(1) {
        // The result of `frame` once known; it is then a part of the frame around it.
        let mut result = match frame.pair(ctx) {
            Pair::End => Some(frame.error.unwrap_or(Value::Bool(true))),
            Pair::Differ => Some(Value::Bool(false)),
            Pair::Next(a, b) => {
                let strict = matches!(frame.rule, Rule::Strict | Rule::Struct);
                let null = matches!(a, Value::Null) || matches!(b, Value::Null);
                let step =
                    if null && !strict { done(matches!((a, b), (Value::Null, Value::Null))) } else { start(ctx, a, b) };
                match step {
                    Step::Done(part) => frame.absorb(part),
                    Step::Open(inner) => {
                        outer.push(std::mem::replace(&mut frame, inner));
                        None
                    }
                }
            }
        };
        while let Some(part) = result {
            let Some(parent) = outer.pop() else {
                return part;
            };
            frame = parent;
            result = frame.absorb(part);
        }
    }
    Value::Halt
}

fn numbers_equal(a: Value<'_>, b: Value<'_>) -> bool {
    use std::cmp::Ordering::Equal;
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Uint(a), Value::Uint(b)) => a == b,
        (Value::Double(a), Value::Double(b)) => a == b,
        (Value::Int(i), Value::Uint(u)) | (Value::Uint(u), Value::Int(i)) => number::compare_int_uint(i, u) == Equal,
        (Value::Int(i), Value::Double(d)) | (Value::Double(d), Value::Int(i)) => {
            !d.is_nan() && number::compare_double_int(d, i) == Equal
        }
        (Value::Uint(u), Value::Double(d)) | (Value::Double(d), Value::Uint(u)) => {
            !d.is_nan() && number::compare_double_uint(d, u) == Equal
        }
        _ => false,
    }
}
