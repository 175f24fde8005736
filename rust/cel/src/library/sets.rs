//! Lists as sets (cel-go `ext/sets.go`).

use crate::context::EvalContext;
use crate::decls::{FunctionDecl, OverloadDecl};
use crate::function::{CostFn, EvalFn, Implementation, Library};
use crate::mutants::{Mutant, planted};
use crate::ops::{contains as list_contains, size};
use crate::types::Type;
use crate::value::{ListView, Value};

/// The library.
pub static LIBRARY: Library = Library {
    name: "cel.lib.ext.sets",
    functions,
    implementations: &[
        implementation("list_sets_contains_list", contains, product),
        implementation("list_sets_equivalent_list", equivalent, twice_product),
        implementation("list_sets_intersects_list", intersects, product),
    ],
};

const fn implementation(id: &'static str, eval: EvalFn, cost: CostFn) -> Implementation {
    Implementation { id, eval, cost: Some(cost) }
}

fn functions() -> Vec<FunctionDecl> {
    let function = |name, id| {
        let list = || Type::list(Type::param("T"));
        FunctionDecl::new(name, vec![OverloadDecl::global(id, vec![list(), list()], Type::Bool)])
    };
    vec![
        function("sets.contains", "list_sets_contains_list"),
        function("sets.equivalent", "list_sets_equivalent_list"),
        function("sets.intersects", "list_sets_intersects_list"),
    ]
}

/// Decides about two lists, unless that costs more than is left.
fn decide<'a>(
    ctx: &EvalContext<'a>,
    args: &[Value<'a>],
    factor: f64,
    decide: fn(&EvalContext<'a>, ListView<'a>, ListView<'a>) -> Value<'a>,
) -> Value<'a> {
    let (Some(a), Some(b)) =
        (args.first().copied().and_then(ListView::of), args.get(1).copied().and_then(ListView::of))
    else {
        return ctx.error("no such overload");
    };
    match ctx.unaffordable(cost(args, factor)) {
        Some(halt) => halt,
        None => decide(ctx, a, b),
    }
}

fn contains<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    decide(ctx, args, 1.0, contains_all)
}

fn equivalent<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    decide(ctx, args, 2.0, |ctx, a, b| match contains_all(ctx, a, b) {
        Value::Bool(true) if !planted(Mutant::EquivalentIsOneSided) => contains_all(ctx, b, a),
        other => other,
    })
}

fn intersects<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    decide(ctx, args, 1.0, |ctx, a, b| {
        let found =
            a.iter().map(|element| list_contains(ctx, b, element)).find(|found| !matches!(found, Value::Bool(false)));
        match found {
            Some(halt @ Value::Halt) => halt,
            found => Value::Bool(found.is_some()),
        }
    })
}

/// Whether every element of `part` is in `list`; the first answer that is not "true".
fn contains_all<'a>(ctx: &EvalContext<'a>, list: ListView<'a>, part: ListView<'a>) -> Value<'a> {
    let mut answers = part.iter().map(|element| list_contains(ctx, list, element));
    answers.find(|answer| !matches!(answer, Value::Bool(true))).unwrap_or(Value::Bool(true))
}

fn product<'a>(_: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    cost(args, 1.0)
}

fn twice_product<'a>(_: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    cost(args, 2.0)
}

fn cost(args: &[Value<'_>], factor: f64) -> u64 {
    let size = |index: usize| args.get(index).and_then(|arg| size(*arg)).unwrap_or(1);
    ((size(0).saturating_mul(size(1)) as f64 * factor) as u64).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::context::{Halt, NoHost};

    #[test]
    fn relations_between_lists() {
        let arena = Bump::new();
        let ctx = EvalContext::new(&arena, &NoHost, 1_000_000);
        let list = |values: &[i64]| Value::List(arena.alloc_slice_fill_iter(values.iter().map(|i| Value::Int(*i))));
        let holds = |eval: EvalFn, a: &[i64], b: &[i64]| matches!(eval(&ctx, &[list(a), list(b)]), Value::Bool(true));
        assert!(holds(contains, &[1, 2, 3], &[3, 2]));
        assert!(holds(contains, &[1], &[]));
        assert!(!holds(contains, &[], &[1]));
        assert!(holds(equivalent, &[1, 2], &[2, 1, 1]));
        assert!(!holds(equivalent, &[1, 2], &[1]));
        assert!(holds(intersects, &[1, 2], &[2, 3]));
        assert!(!holds(intersects, &[], &[2, 3]));
        assert_eq!(cost(&[list(&[1, 2]), list(&[2, 3])], 2.0), 9);
        assert_eq!(cost(&[ctx.error("e"), list(&[2, 3])], 1.0), 3);
    }

    #[test]
    fn too_much_work_is_not_done() {
        let arena = Bump::new();
        let ctx = EvalContext::new(&arena, &NoHost, 1_000_000);
        let list = Value::List(arena.alloc_slice_fill_copy(2_000, Value::Int(1)));
        assert!(matches!(contains(&ctx, &[list, list]), Value::Halt));
        assert_eq!((ctx.halt(), ctx.cost()), (Some(Halt::CostLimit), 4_000_001));
    }
}
