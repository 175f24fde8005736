//! Functions on lists (cel-go `ext/lists.go`, version 3). `first` and `last` are in the library of optional values.

mod cost;
mod pdqsort;
#[cfg(test)]
mod tests;

use bumpalo::collections::Vec as ArenaVec;

use crate::context::EvalContext;
use crate::decls::{FunctionDecl, OverloadDecl};
use crate::function::{CostFn, EvalFn, Implementation, Library};
use crate::mutants::{Mutant, planted};
use crate::ops::compare::compare;
use crate::ops::equal_values;
use crate::ops::format::type_text;
use crate::types::Type;
use crate::value::{ListView, Traits, Value};

/// The library.
pub static LIBRARY: Library = Library { name: "cel.lib.ext.lists", functions, implementations: IMPLEMENTATIONS };

/// The longest list that `lists.range` makes.
const MAX_RANGE: i64 = 1_000_000;

const fn implementation(id: &'static str, eval: EvalFn, cost: CostFn) -> Implementation {
    Implementation { id, eval, cost: Some(cost) }
}

macro_rules! implementations {
    ($(($ty:ident, $name:literal)),*) => {
        /// The types that can be sorted, and the overload ids for them.
        const COMPARABLE: &[(Type, &str, &str)] = &[$(
            (Type::$ty, concat!("list_", $name, "_sort"), concat!("list_", $name, "_sortByAssociatedKeys")),
        )*];
        const IMPLEMENTATIONS: &[Implementation] = &[
            implementation("list_slice", slice, cost::of_result),
            implementation("list_flatten", flatten, cost::of_flatten),
            implementation("list_flatten_int", flatten, cost::of_flatten),
            $(
                implementation(concat!("list_", $name, "_sort"), sort, cost::of_sort),
                implementation(concat!("list_", $name, "_sortByAssociatedKeys"), sort_by_keys, cost::of_sort_by_keys),
            )*
            implementation("lists_range", range, cost::of_result),
            implementation("list_reverse", reverse, cost::of_result),
            implementation("list_distinct", distinct, cost::of_sort),
        ];
    };
}

implementations! {
    (Int, "int"), (Uint, "uint"), (Double, "double"), (Bool, "bool"), (Duration, "google.protobuf.Duration"),
    (Timestamp, "google.protobuf.Timestamp"), (String, "string"), (Bytes, "bytes")
}

fn functions() -> Vec<FunctionDecl> {
    let list = || Type::list(Type::param("T"));
    let dyns = || Type::list(Type::Dyn);
    let member = OverloadDecl::member;
    let one = |name, overload| FunctionDecl::new(name, vec![overload]);
    vec![
        one("slice", member("list_slice", vec![list(), Type::Int, Type::Int], list())),
        FunctionDecl::new(
            "flatten",
            vec![
                member("list_flatten", vec![Type::list(list())], list()),
                member("list_flatten_int", vec![dyns(), Type::Int], dyns()),
            ],
        ),
        FunctionDecl::new(
            "sort",
            COMPARABLE
                .iter()
                .map(|(ty, id, _)| member(id, vec![Type::list(ty.clone())], Type::list(ty.clone())))
                .collect(),
        ),
        FunctionDecl::new(
            "@sortByAssociatedKeys",
            COMPARABLE.iter().map(|(ty, _, id)| member(id, vec![list(), Type::list(ty.clone())], list())).collect(),
        ),
        one("lists.range", OverloadDecl::global("lists_range", vec![Type::Int], Type::list(Type::Int))),
        one("reverse", member("list_reverse", vec![list()], list())),
        one("distinct", member("list_distinct", vec![list()], list())),
    ]
}

/// What the type guards keep from happening.
fn no_such_overload<'a>(ctx: &EvalContext<'a>) -> Value<'a> {
    ctx.error("no such overload")
}

/// If so many elements more would be too many.
fn no_room<'a>(ctx: &EvalContext<'a>, elements: usize) -> Option<Value<'a>> {
    ctx.no_room(elements.saturating_mul(size_of::<Value<'a>>()))
}

fn only_list<'a>(args: &[Value<'a>]) -> Option<ListView<'a>> {
    match args {
        [list] => ListView::of(*list),
        _ => None,
    }
}

fn slice<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [list, Value::Int(start), Value::Int(end)] = args else {
        return no_such_overload(ctx);
    };
    let Some(list) = ListView::of(*list) else {
        return no_such_overload(ctx);
    };
    let (Ok(from), Ok(to)) = (usize::try_from(*start), usize::try_from(*end)) else {
        return ctx.errorf(format_args!("cannot slice({start}, {end}), negative indexes not supported"));
    };
    if from > to {
        let problem = "start index must be less than or equal to end index";
        return ctx.errorf(format_args!("cannot slice({start}, {end}), {problem}"));
    }
    if list.len() < to && !planted(Mutant::SliceIsClamped) {
        return ctx.errorf(format_args!("cannot slice({start}, {end}), list is length {}", list.len()));
    }
    if let ListView::Slice(elements) = list {
        return Value::List(elements.get(from..to).unwrap_or(&[]));
    }
    if let Some(halt) = no_room(ctx, to - from) {
        return halt;
    }
    let mut part = ArenaVec::with_capacity_in(to - from, ctx.arena);
    part.extend((from..to).filter_map(|index| list.get(index)));
    Value::List(part.into_bump_slice())
}

fn reverse<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let Some(list) = only_list(args) else {
        return no_such_overload(ctx);
    };
    if let Some(halt) = no_room(ctx, list.len()) {
        return halt;
    }
    let mut reversed = ArenaVec::with_capacity_in(list.len(), ctx.arena);
    reversed.extend((0..list.len()).rev().filter_map(|index| list.get(index)));
    Value::List(reversed.into_bump_slice())
}

fn range<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::Int(count)] = args else {
        return no_such_overload(ctx);
    };
    if *count < 0 {
        return ctx.errorf(format_args!("lists.range: size must be non-negative, got {count}"));
    }
    if *count > MAX_RANGE {
        return ctx.errorf(format_args!("lists.range: size {count} exceeds maximum allowed ({MAX_RANGE})"));
    }
    let size = usize::try_from(*count).unwrap_or(usize::MAX);
    match ctx.unaffordable(cost::allocating(1.0, count.unsigned_abs())).or_else(|| no_room(ctx, size)) {
        Some(halt) => halt,
        None => {
            let mut list = ArenaVec::with_capacity_in(size, ctx.arena);
            list.extend((0..*count).map(Value::Int));
            Value::List(list.into_bump_slice())
        }
    }
}

/// `list.flatten()` and `list.flatten(depth)`. The only functions here without type guards, so they complain for themselves.
fn flatten<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let (list, depth) = match args {
        [list] => (ListView::of(*list), 1 + i64::from(planted(Mutant::FlattenIsDeep))),
        [list, Value::Int(depth)] => (ListView::of(*list), *depth),
        _ => (None, 0),
    };
    let Some(list) = list else {
        let target = args.first().map_or("", |target| type_text(target.type_name()));
        return match args.get(1) {
            Some(depth) => {
                ctx.errorf(format_args!("no such overload: {target}.flatten({})", type_text(depth.type_name())))
            }
            None => ctx.errorf(format_args!("no such overload: {target}.flatten()")),
        };
    };
    if depth < 0 {
        return ctx.error("level must be non-negative");
    }
    if let Some(halt) = ctx.unaffordable(cost::flatten(list, depth)) {
        return halt;
    }
    let mut flat = ArenaVec::new_in(ctx.arena);
    // Lists that are open, innermost last; the depth may be greater than any stack.
    let mut open = vec![list.iter()];
    while let Some(top) = open.last_mut() {
        let Some(element) = top.next() else {
            open.pop();
            continue;
        };
        if !ctx.step(1) {
            return Value::Halt;
        }
        match ListView::of(element) {
            Some(nested) if open.len() as u64 <= depth.unsigned_abs() => open.push(nested.iter()),
            _ => {
                if flat.len() == flat.capacity()
                    && let Some(halt) = no_room(ctx, flat.len() * 2)
                {
                    return halt;
                }
                flat.push(element);
            }
        }
    }
    Value::List(flat.into_bump_slice())
}

fn distinct<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let Some(list) = only_list(args) else {
        return no_such_overload(ctx);
    };
    if list.is_empty() {
        return list.value();
    }
    if let Some(halt) = ctx.unaffordable(cost::self_compare(list)) {
        return halt;
    }
    let mut distinct: ArenaVec<'a, Value<'a>> = ArenaVec::new_in(ctx.arena);
    for element in list.iter() {
        let mut seen = false;
        for other in &distinct {
            match equal_values(ctx, element, *other) {
                Value::Bool(true) => {
                    seen = true;
                    break;
                }
                Value::Halt => return Value::Halt,
                _ => {}
            }
        }
        if !seen || (planted(Mutant::DistinctKeepsLast) && distinct.len() == 1) {
            distinct.push(element);
        }
    }
    Value::List(distinct.into_bump_slice())
}

fn sort<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let Some(list) = only_list(args) else {
        return no_such_overload(ctx);
    };
    sort_list(ctx, list, list)
}

fn sort_by_keys<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        [list, keys] => match (ListView::of(*list), ListView::of(*keys)) {
            (Some(list), Some(keys)) => sort_list(ctx, list, keys),
            _ => no_such_overload(ctx),
        },
        _ => no_such_overload(ctx),
    }
}

/// The elements of `list` in the order of their `keys`. Equal keys come in the order that Go's `sort.Slice` gives.
fn sort_list<'a>(ctx: &EvalContext<'a>, list: ListView<'a>, keys: ListView<'a>) -> Value<'a> {
    if list.len() != keys.len() {
        return ctx.errorf(format_args!(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got {} and {} elements respectively",
            list.len(),
            keys.len()
        ));
    }
    let Some(first) = keys.get(0) else {
        return list.value();
    };
    if first.traits() & Traits::COMPARER == 0 {
        return ctx.error("list elements must be comparable");
    }
    if keys.iter().any(|key| key.type_name() != first.type_name()) && !planted(Mutant::SortMixesTypes) {
        return ctx.error("list elements must have the same type");
    }
    if let Some(halt) = ctx.unaffordable(cost::self_compare(keys)).or_else(|| no_room(ctx, list.len() * 3)) {
        return halt;
    }
    let mut order = ArenaVec::with_capacity_in(list.len(), ctx.arena);
    order.extend(keys.iter().enumerate().map(|(index, key)| (key, index)));
    pdqsort::sort_by(&mut order, |(a, _), (b, _)| matches!(compare(ctx, *a, *b), Ok(std::cmp::Ordering::Less)));
    let mut sorted = ArenaVec::with_capacity_in(list.len(), ctx.arena);
    sorted.extend(order.iter().filter_map(|(_, index)| list.get(*index)));
    Value::List(sorted.into_bump_slice())
}
