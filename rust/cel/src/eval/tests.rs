//! What the differential tests cannot see: halts, budgets, deep values. Values, texts and cost are compared there.

use bumpalo::Bump;

use crate::check::check;
use crate::context::{EvalContext, Halt, NoHost};
use crate::decls::VariableDecl;
use crate::env::EnvBuilder;
use crate::function::FunctionTable;
use crate::library::{comprehensions, optional, standard};
use crate::ops;
use crate::parser::{ParseOptions, parse};
use crate::plan::{PlanOptions, Program, plan};
use crate::types::Type;
use crate::value::{EvalError, LazyMap, Value};

fn program(text: &str) -> Program {
    let libraries = [&standard::LIBRARY, &optional::LIBRARY, &comprehensions::LIBRARY];
    let builder = libraries.iter().fold(EnvBuilder::new(), |builder, library| builder.functions((library.functions)()));
    let variable = VariableDecl { name: "x".to_owned(), ty: Type::Dyn };
    let env = builder.build().with_variables([variable]);
    let checked = parse(text, &ParseOptions::kubernetes()).and_then(|ast| check(ast, &env)).unwrap();
    plan(&checked, &PlanOptions { variables: &["x"], functions: &FunctionTable::new(libraries) }).unwrap()
}

const LOOP: &str = "[1, 2, 3, 4, 5].all(i, i > 0)";

#[test]
fn reaching_the_limit_is_allowed_and_passing_it_halts() {
    let unlimited = program(LOOP);
    let arena = Bump::new();
    let free = EvalContext::new(&arena, &NoHost, u64::MAX);
    assert!(matches!(unlimited.eval(&free, &[]), Value::Bool(true)));
    let cost = free.cost();
    for limit in 0..=cost {
        for program in [program(LOOP), program(LOOP).with_tracking()] {
            let arena = Bump::new();
            let ctx = EvalContext::new(&arena, &NoHost, limit);
            let value = program.eval(&ctx, &[]);
            if limit == cost {
                assert!(matches!(value, Value::Bool(true)));
            } else {
                assert!(matches!(value, Value::Halt) && ctx.halt() == Some(Halt::CostLimit));
                assert_eq!(ctx.cost(), limit + 1, "every step of this expression costs 1");
            }
        }
    }
}

/// What becomes of an expression that nobody waits for any more.
fn interrupted(expression: &str) -> String {
    let program = program(expression);
    let arena = Bump::new();
    let ctx = EvalContext::new(&arena, &NoHost, u64::MAX).ended(Some("context canceled"));
    // A program before it has no say.
    let before = self::program("[1, 2, 3].all(x, x > 0)");
    assert!(matches!(ctx.interruptible(|| before.eval(&ctx, &[])), Value::Bool(true)));
    match ctx.interruptible(|| program.eval(&ctx, &[])) {
        Value::Bool(value) => value.to_string(),
        Value::Error(error) => error.message.to_owned(),
        _ => "something else".to_owned(),
    }
}

/// What cel-go 0.29.2 gives for these where it checks every 100 rounds and the context has ended.
#[test]
fn comprehensions_are_interrupted_after_a_hundred_rounds() {
    const ENDED: &str = "operation interrupted: context canceled";
    let ten = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
    for (expression, expected) in [
        // 9 * 10 rounds and 9 of the outer one.
        ("[1, 2, 3, 4, 5, 6, 7, 8, 9].all(x, TEN.all(y, x * y >= 0))", "true"),
        ("TEN.all(x, TEN.all(y, x * y >= 0))", ENDED),
        ("TEN.all(x, TEN.all(y, x * y >= 0)) || true", "true"),
        ("TEN.all(x, TEN.all(y, x * y >= 0)) && false", "false"),
        ("TEN.all(x, TEN.all(y, x * y >= 0)) && true", ENDED),
        ("TEN.map(x, TEN.map(y, x * y)).size() == 10", ENDED),
        ("TEN.transformList(i, x, TEN.filter(y, x * y > i)).size() == 10", ENDED),
        // All of them together count, and once it is interrupted every round is.
        ("[1, 2, 3, 4, 5, 6, 7, 8, 9].all(x, TEN.all(y, x * y >= 0)) && [1].all(x, x == 1)", ENDED),
        ("(TEN.all(x, TEN.all(y, x * y >= 0)) || true) && [1].all(x, x == 1)", ENDED),
        ("(TEN.all(x, TEN.all(y, x * y >= 0)) || true) && [].all(x, x == 1)", "true"),
    ] {
        assert_eq!(interrupted(&expression.replace("TEN", ten)), expected, "{expression}");
    }
}

#[test]
fn a_panic_of_go_is_not_absorbed() {
    let program = program("dyn(b'a') in ['a'] || true");
    let arena = Bump::new();
    let ctx = EvalContext::new(&arena, &NoHost, u64::MAX);
    assert!(matches!(program.eval(&ctx, &[]), Value::Halt));
    let expected = "internal error: runtime error: hash of unhashable type types.Bytes";
    assert_eq!(ctx.halt(), Some(Halt::Panic(expected)));
}

fn nest(arena: &Bump, innermost: i64) -> Value<'_> {
    (0..200_000).fold(Value::Int(innermost), |value, _| Value::List(arena.alloc([value])))
}

/// Lists nested deeper than any stack would bear compare without recursion.
#[test]
fn deep_values_compare() {
    let arena = Bump::new();
    let ctx = EvalContext::new(&arena, &NoHost, u64::MAX);
    let (a, b, c) = (nest(&arena, 1), nest(&arena, 1), nest(&arena, 2));
    assert!(matches!(ops::equal(&ctx, a, b), Value::Bool(true)));
    assert!(matches!(ops::equal(&ctx, a, c), Value::Bool(false)));
}

struct Variables;

impl<'a> LazyMap<'a> for Variables {
    fn len(&self) -> usize {
        2
    }

    fn key(&self, index: usize) -> &'a str {
        ["good", "bad"].get(index).copied().unwrap_or("")
    }

    fn index_of(&self, key: &str) -> Option<usize> {
        ["good", "bad"].iter().position(|known| *known == key)
    }

    fn get(&self, _: &EvalContext<'a>, index: usize) -> Value<'a> {
        if index == 0 { Value::Int(7) } else { Value::Error(EvalError { message: "no good" }) }
    }
}

#[test]
fn lazy_maps_are_read_by_field() {
    for (text, expected) in [
        ("x.good == 7 && x['good'] == 7", Ok(true)),
        ("has(x.good) && !has(x.nope)", Ok(true)),
        ("has(x.bad)", Err("no good")),
        ("x.bad == 1 || true", Ok(true)),
        ("x.nope == 1", Err("no such key: nope")),
        ("x[1] == 1", Err("no such overload")),
        ("'good' in x", Err("no such overload")),
        ("x == x", Ok(true)),
        ("x == 1", Err("no such overload")),
        ("[1, 2].all(i, x.good > i)", Ok(true)),
    ] {
        let program = program(text);
        let arena = Bump::new();
        let ctx = EvalContext::new(&arena, &NoHost, u64::MAX);
        let variables = Variables;
        let result = match program.eval(&ctx, &[Some(Value::Lazy(arena.alloc(variables)))]) {
            Value::Bool(b) => Ok(b),
            Value::Error(error) => Err(error.message.to_owned()),
            _ => Err(String::new()),
        };
        assert_eq!(result, expected.map_err(str::to_owned), "{text}");
    }
}
