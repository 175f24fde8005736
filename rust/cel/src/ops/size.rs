//! Sizes: what `size()` returns, and what cost counts by.

use crate::context::EvalContext;
use crate::mutants::{Mutant, planted};
use crate::value::{ListIter, ListView, MapOrder, MapView, Value};

/// cel-go's `traits.Sizer.Size`: code points of a string, bytes, elements, entries; `None` for what has no size.
pub fn size(value: Value<'_>) -> Option<u64> {
    match value {
        Value::String(text) => Some(code_points(text)),
        Value::Bytes(bytes) => Some(bytes.len() as u64),
        Value::List(elements) => Some(elements.len() as u64),
        Value::Opaque(opaque) => opaque.ty.size.map(|size| size(opaque)),
        Value::Map(map) => Some(map.entries.len() as u64),
        Value::Record(record) => Some(record.len() as u64),
        Value::Constants(_) | Value::Concat(_) => ListView::of(value).map(|list| list.len() as u64),
        Value::Lazy(map) => Some(map.len() as u64),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Double(_)
        | Value::Duration(_)
        | Value::Timestamp(_)
        | Value::Optional(_)
        | Value::Type(_)
        | Value::Error(_)
        | Value::Accumulator
        | Value::Halt => None,
    }
}

/// cel-go's `actualSize`: the size that cost counts by; 1 for what has none, an optional counts as what it holds.
pub fn cost_size(value: Value<'_>) -> u64 {
    let mut value = value;
    loop {
        match (size(value), value) {
            (Some(size), _) => return size,
            (None, Value::Optional(Some(inner))) if !planted(Mutant::OptionalHasNoSize) => value = *inner,
            (None, _) => return 1,
        }
    }
}

/// Number of code points.
pub fn code_points(text: &str) -> u64 {
    if text.is_ascii() || planted(Mutant::SizeInBytes) { text.len() as u64 } else { text.chars().count() as u64 }
}

/// What walking a value costs in Kubernetes (apiserver `traversalCost`): a tenth of each string's bytes, rounded down, and
/// 1 for every other leaf. Functions on lists and the searches in strings are charged by it.
pub fn walk<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> u64 {
    let tenth = |bytes: usize| (bytes as f64 * 0.1) as u64;
    let mut total = 0u64;
    let mut open: Vec<Open<'a>> = Vec::new();
    let mut next = Some(value);
    while let Some(value) = next {
        if !ctx.step(1) {
            return u64::MAX;
        }
        let cost = match value {
            Value::String(text) => tenth(text.len()),
            Value::Bytes(bytes) => tenth(bytes.len()),
            _ => {
                if let Some(list) = ListView::of(value) {
                    open.push(Open::List(list.iter()));
                    0
                } else if let Some(map) = MapView::of(value) {
                    open.push(Open::Map(map.order(ctx), 0));
                    0
                } else {
                    1
                }
            }
        };
        total = total.saturating_add(cost);
        next = part(ctx, &mut open);
    }
    total
}

/// A list or map in the midst of a walk.
enum Open<'a> {
    List(ListIter<'a>),
    /// The entries, and how many of keys and values have been met.
    Map(MapOrder<'a>, usize),
}

/// The next part of the innermost list or map that has one.
fn part<'a>(ctx: &EvalContext<'a>, open: &mut Vec<Open<'a>>) -> Option<Value<'a>> {
    loop {
        let part = match open.last_mut()? {
            Open::List(list) => list.next(),
            Open::Map(order, met) => {
                let entry = order.entry(ctx, *met / 2);
                *met += 1;
                entry.map(|(key, value)| if *met % 2 == 1 { key } else { value })
            }
        };
        if part.is_some() {
            return part;
        }
        open.pop();
    }
}
