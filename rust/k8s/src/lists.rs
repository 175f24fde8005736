//! `kubernetes.lists`: functions on lists (`pkg/cel/library/lists.go`).

use std::cmp::Ordering;

use celgate_cel::context::EvalContext;
use celgate_cel::decls::{FunctionDecl, OverloadDecl};
use celgate_cel::function::{EvalFn, Implementation, Library};
use celgate_cel::ops::arithmetic::add;
use celgate_cel::ops::compare::compare;
use celgate_cel::ops::equality::equal_values;
use celgate_cel::types::Type;
use celgate_cel::value::{Duration, ListView, Traits, Value};

use crate::args::{mismatch, no_such_overload};
use crate::cost;

/// The library, version 1.
pub static LIBRARY: Library = Library { name: NAME, functions: functions_1, implementations: IMPLEMENTATIONS };

/// The library as it was before `includes`.
pub static LIBRARY_0: Library = Library { name: NAME, functions: functions_0, implementations: IMPLEMENTATIONS };

const NAME: &str = "kubernetes.lists";

/// Each function walks its list once.
const fn on_list(id: &'static str, eval: EvalFn) -> Implementation {
    Implementation { id, eval, cost: Some(cost::first_argument_tree) }
}

/// A type whose values can be ordered, and the overload ids for lists of it.
struct Comparable {
    ty: Type,
    is_sorted: &'static str,
    max: &'static str,
    min: &'static str,
}

/// A type whose values can be added up.
struct Summable {
    ty: Type,
    sum: &'static str,
}

macro_rules! ids {
    ($($comparable:ident $name:literal),*; $($summable:ident $sum_name:literal $zero:expr),*) => {
        const COMPARABLE: &[Comparable] = &[$(Comparable {
            ty: Type::$comparable,
            is_sorted: concat!("list_", $name, "_is_sorted_bool"),
            max: concat!("list_", $name, "_max_", $name),
            min: concat!("list_", $name, "_min_", $name),
        }),*];
        const SUMMABLE: &[Summable] =
            &[$(Summable { ty: Type::$summable, sum: concat!("list_", $sum_name, "_sum_", $sum_name) }),*];
        const IMPLEMENTATIONS: &[Implementation] = &[
            $(on_list(concat!("list_", $name, "_is_sorted_bool"), is_sorted),
            on_list(concat!("list_", $name, "_max_", $name), max),
            on_list(concat!("list_", $name, "_min_", $name), min),)*
            $(on_list(concat!("list_", $sum_name, "_sum_", $sum_name), |ctx, args| sum(ctx, args, $zero)),)*
            on_list("list_a_index_of_int", index_of),
            on_list("list_a_last_index_of_int", last_index_of),
            on_list("list_includes_dyn_dyn", includes),
        ];
    };
}

ids! {
    Int "int", Uint "uint", Double "double", Bool "bool", Duration "duration", Timestamp "timestamp",
    String "string", Bytes "bytes";
    Int "int" Value::Int(0), Uint "uint" Value::Uint(0), Double "double" Value::Double(0.0),
    Duration "duration" Value::Duration(Duration { nanos: 0 })
}

fn functions_0() -> Vec<FunctionDecl> {
    let on_comparable = |name, overload: fn(&Comparable) -> OverloadDecl| {
        FunctionDecl::new(name, COMPARABLE.iter().map(overload).collect())
    };
    let list = |ty: &Type| vec![Type::list(ty.clone())];
    let search = |name, id| {
        let a = Type::param("A");
        FunctionDecl::new(name, vec![OverloadDecl::member(id, vec![Type::list(a.clone()), a], Type::Int)])
    };
    vec![
        on_comparable("isSorted", |c| OverloadDecl::member(c.is_sorted, vec![Type::list(c.ty.clone())], Type::Bool)),
        FunctionDecl::new(
            "sum",
            SUMMABLE.iter().map(|s| OverloadDecl::member(s.sum, list(&s.ty), s.ty.clone())).collect(),
        ),
        on_comparable("max", |c| OverloadDecl::member(c.max, vec![Type::list(c.ty.clone())], c.ty.clone())),
        on_comparable("min", |c| OverloadDecl::member(c.min, vec![Type::list(c.ty.clone())], c.ty.clone())),
        search("indexOf", "list_a_index_of_int"),
        search("lastIndexOf", "list_a_last_index_of_int"),
    ]
}

fn functions_1() -> Vec<FunctionDecl> {
    let mut out = functions_0();
    let includes = OverloadDecl::member("list_includes_dyn_dyn", vec![Type::Dyn, Type::Dyn], Type::Bool);
    out.push(FunctionDecl::new("includes", vec![includes]));
    out
}

/// The list that is the only argument.
fn only<'a>(args: &[Value<'a>]) -> Option<ListView<'a>> {
    match args {
        [list] => ListView::of(*list),
        _ => None,
    }
}

/// The order of two elements; upstream ignores errors of comparing here.
fn order<'a>(ctx: &EvalContext<'a>, a: Value<'a>, b: Value<'a>) -> Option<Ordering> {
    compare(ctx, a, b).ok()
}

fn is_comparable(value: &Value<'_>) -> bool {
    value.traits() & Traits::COMPARER != 0
}

fn is_sorted<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let Some(list) = only(args) else { return mismatch(ctx, "isSorted", args) };
    let mut previous = None;
    for next in list.iter() {
        if !is_comparable(&next) {
            return no_such_overload(ctx, next);
        }
        if previous.and_then(|previous| order(ctx, previous, next)) == Some(Ordering::Greater) {
            return Value::Bool(false);
        }
        previous = Some(next);
    }
    Value::Bool(true)
}

fn sum<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], zero: Value<'a>) -> Value<'a> {
    let Some(list) = only(args) else { return mismatch(ctx, "sum", args) };
    let mut total = zero;
    for next in list.iter() {
        if next.traits() & Traits::ADDER == 0 {
            return no_such_overload(ctx, next);
        }
        total = add(ctx, total, next);
        if total.traits() & Traits::ADDER == 0 {
            return no_such_overload(ctx, total);
        }
    }
    total
}

/// The element that no other beats, the first of equals.
fn best<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], function: &str, loses: Ordering) -> Value<'a> {
    let Some(list) = only(args) else { return mismatch(ctx, function, args) };
    let mut best = None;
    for next in list.iter() {
        if !is_comparable(&next) {
            return no_such_overload(ctx, next);
        }
        best = match best {
            Some(best) if order(ctx, best, next) != Some(loses) => Some(best),
            _ => Some(next),
        };
    }
    best.unwrap_or_else(|| ctx.errorf(format_args!("{function} called on empty list")))
}

fn min<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    best(ctx, args, "min", Ordering::Greater)
}

fn max<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    best(ctx, args, "max", Ordering::Less)
}

/// Whether an element equals an item; errors and halts of comparing count as unequal, as upstream.
fn is_equal<'a>(ctx: &EvalContext<'a>, element: Value<'a>, item: Value<'a>) -> bool {
    matches!(equal_values(ctx, element, item), Value::Bool(true))
}

fn position<'a>(index: Option<usize>) -> Value<'a> {
    Value::Int(index.and_then(|i| i64::try_from(i).ok()).unwrap_or(-1))
}

fn index_of<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        [list, item] => ListView::of(*list).map(|list| position(list.iter().position(|e| is_equal(ctx, e, *item)))),
        _ => None,
    }
    .unwrap_or_else(|| mismatch(ctx, "indexOf", args))
}

fn last_index_of<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        [list, item] => ListView::of(*list).map(|list| {
            let found = |i: &usize| list.get(*i).is_some_and(|e| is_equal(ctx, e, *item));
            position((0..list.len()).rev().find(found))
        }),
        _ => None,
    }
    .unwrap_or_else(|| mismatch(ctx, "lastIndexOf", args))
}

fn includes<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [target, item] = args else { return mismatch(ctx, "includes", args) };
    Value::Bool(match ListView::of(*target) {
        Some(list) => list.iter().any(|e| is_equal(ctx, e, *item)),
        None => is_equal(ctx, *target, *item),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{call, show, text, with_context};

    #[test]
    fn elements_of_one_type() {
        with_context(|ctx| {
            let ints = Value::List(ctx.arena.alloc_slice_copy(&[Value::Int(2), Value::Int(1), Value::Int(2)]));
            let on = |id| show(call(ctx, &LIBRARY, id, &[ints]));
            assert_eq!(on("list_int_is_sorted_bool"), "false");
            assert_eq!(on("list_int_sum_int"), "5");
            assert_eq!(on("list_int_min_int"), "1");
            assert_eq!(on("list_int_max_int"), "2");
            let find = |id| show(call(ctx, &LIBRARY, id, &[ints, Value::Int(2)]));
            assert_eq!((find("list_a_index_of_int"), find("list_a_last_index_of_int")), ("0".into(), "2".into()));
            assert_eq!(show(call(ctx, &LIBRARY, "list_a_index_of_int", &[ints, text(ctx, "2")])), "-1");
            assert_eq!(show(call(ctx, &LIBRARY, "list_includes_dyn_dyn", &[ints, Value::Uint(1)])), "true");
            assert_eq!(show(call(ctx, &LIBRARY, "list_includes_dyn_dyn", &[text(ctx, "a"), text(ctx, "a")])), "true");
        });
    }

    #[test]
    fn empty_lists_and_overflow() {
        with_context(|ctx| {
            let empty = Value::List(&[]);
            let on = |id| show(call(ctx, &LIBRARY, id, &[empty]));
            assert_eq!(on("list_double_sum_double"), "0.0");
            assert_eq!(on("list_int_min_int"), "error: min called on empty list");
            assert_eq!(on("list_bytes_is_sorted_bool"), "true");
            let large = Value::List(ctx.arena.alloc_slice_copy(&[Value::Int(i64::MAX), Value::Int(1)]));
            assert_eq!(show(call(ctx, &LIBRARY, "list_int_sum_int", &[large])), "error: integer overflow");
        });
    }
}
