//! Functions on optional values (cel-go `cel/library.go`, `OptionalTypes`). `or` and `orValue` are the evaluator's.

use crate::context::EvalContext;
use crate::function::{EvalFn, Implementation, Library};
use crate::message::object;
use crate::mutants::{Mutant, planted};
use crate::ops::format::GoValue;
use crate::value::{ListView, MapView, Value};

/// The library.
pub static LIBRARY: Library = Library {
    name: "cel.lib.optional",
    functions: super::standard::decls::optional_functions,
    implementations: &[
        implementation("optional_of", of),
        implementation("optional_ofNonZeroValue", of_non_zero),
        implementation("optional_none", |_, _| Value::Optional(None)),
        implementation("optional_value", value),
        implementation("optional_hasValue", has_value),
        implementation("list_first", first),
        implementation("list_last", last),
        implementation("optional_unwrap", unwrap),
        implementation("optional_unwrapOpt", unwrap),
    ],
};

const fn implementation(id: &'static str, eval: EvalFn) -> Implementation {
    Implementation { id, eval, cost: None }
}

/// An optional that holds `value`.
pub(crate) fn some<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
    if matches!(value, Value::Halt) { value } else { Value::Optional(Some(ctx.arena.alloc(value))) }
}

fn of<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        [value] => some(ctx, *value),
        _ => ctx.error("no such overload"),
    }
}

fn of_non_zero<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        [value] if is_zero(*value) => Value::Optional(None),
        [value] => some(ctx, *value),
        _ => ctx.error("no such overload"),
    }
}

/// cel-go's `traits.Zeroer`; values read by reflection and most library types do not have it and are never zero.
fn is_zero(value: Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(b) => !b,
        Value::Int(i) => i == 0,
        Value::Uint(u) => u == 0,
        Value::Double(d) => d == 0.0 && !planted(Mutant::ZeroDoubleIsValue),
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::Duration(duration) => duration.nanos == 0,
        // Go's zero time is the first instant of year 1.
        Value::Timestamp(time) => time.seconds == crate::time::MIN_SECONDS && time.nanos == 0,
        Value::Record(record) => (!record.is_typed() || planted(Mutant::TypedZeroIsNone)) && record.is_empty(),
        Value::List(_) | Value::Constants(_) | Value::Concat(_) => {
            ListView::of(value).is_some_and(|list| list.is_empty())
        }
        Value::Map(map) => MapView::Entries(map).is_empty(),
        Value::Opaque(opaque) => object::is_zero(opaque),
        _ => false,
    }
}

fn value<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        [Value::Optional(Some(value))] => **value,
        [Value::Optional(None)] => ctx.error("optional.none() dereference"),
        _ => ctx.error("no such overload"),
    }
}

fn has_value<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        [Value::Optional(value)] => Value::Bool(value.is_some()),
        _ => ctx.error("no such overload"),
    }
}

fn first<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    element(ctx, args, |_| 0)
}

fn last<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    element(ctx, args, |len| len.wrapping_sub(1))
}

fn element<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], index: fn(usize) -> usize) -> Value<'a> {
    match args {
        [list] => match ListView::of(*list) {
            Some(list) => list.get(index(list.len())).map_or(Value::Optional(None), |value| some(ctx, value)),
            None => ctx.error("no such overload"),
        },
        _ => ctx.error("no such overload"),
    }
}

fn unwrap<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let list = match args {
        [list] => ListView::of(*list),
        _ => None,
    };
    let Some(list) = list else {
        return ctx.error("no such overload");
    };
    if let Some(halt) = ctx.no_room(list.len() * size_of::<Value<'a>>()) {
        return halt;
    }
    let mut values = bumpalo::collections::Vec::with_capacity_in(list.len(), ctx.arena);
    for element in list.iter() {
        match element {
            Value::Optional(Some(value)) => values.push(*value),
            Value::Optional(None) => {}
            other => return ctx.errorf(format_args!("value {} is not optional", GoValue(other))),
        }
    }
    Value::List(values.into_bump_slice())
}
