//! What the macros of two-variable comprehensions expand to (cel-go `ext/comprehensions.go`): `cel.@mapInsert`.

use crate::context::EvalContext;
use crate::function::{Implementation, Library};
use crate::mutants::{Mutant, planted};
use crate::ops::format::GoValue;
use crate::value::{MapBuilder, MapView, Value};

/// The function's name.
pub(crate) const MAP_INSERT: &str = "cel.@mapInsert";

/// The library.
pub static LIBRARY: Library = Library {
    name: "cel.lib.ext.comprev2",
    functions: super::standard::decls::two_variable_comprehension_functions,
    implementations: &[
        Implementation { id: "@mapInsert_map_key_value", eval: insert, cost: None },
        Implementation { id: "@mapInsert_map_map", eval: insert, cost: None },
    ],
};

/// Inserts by copying; the evaluator builds a comprehension's map in place instead.
fn insert<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [target, rest @ ..] = args else {
        return ctx.error("no such overload");
    };
    let Some(target) = MapView::of(*target) else {
        return ctx.error("no such overload");
    };
    let mut builder = MapBuilder::new(ctx.arena);
    let order = target.order(ctx);
    for (key, value) in (0..order.len()).filter_map(|i| order.entry(ctx, i)) {
        builder.put(key, value);
    }
    match insert_into(ctx, &mut builder, rest) {
        Some(error) => error,
        None => Value::Map(builder.finish()),
    }
}

/// Inserts a key and value, or all entries of a map; the error if a key is there already or cannot be one.
pub(crate) fn insert_into<'a>(
    ctx: &EvalContext<'a>,
    builder: &mut MapBuilder<'a>,
    args: &[Value<'a>],
) -> Option<Value<'a>> {
    match args {
        [key, value] => insert_one(ctx, builder, *key, *value),
        [update] => {
            let Some(update) = MapView::of(*update) else {
                return Some(ctx.error("no such overload"));
            };
            let order = update.order(ctx);
            let mut entries = (0..order.len()).filter_map(|i| order.entry(ctx, i));
            entries.find_map(|(key, value)| insert_one(ctx, builder, key, value))
        }
        _ => Some(ctx.error("no such overload")),
    }
}

fn insert_one<'a>(
    ctx: &EvalContext<'a>,
    builder: &mut MapBuilder<'a>,
    key: Value<'a>,
    value: Value<'a>,
) -> Option<Value<'a>> {
    if matches!(value, Value::Halt) {
        return Some(value);
    }
    if key.unhashable().is_some() {
        return Some(ctx.unhashable(key));
    }
    if builder.contains(key) && !planted(Mutant::InsertReplaces) {
        return Some(ctx.errorf(format_args!("insert failed: key {} already exists", GoValue(key))));
    }
    builder.put(key, value);
    None
}
