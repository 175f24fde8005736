//! Two texts as quantities.

use celgate_cel::context::EvalContext;
use celgate_cel::value::Value;
use celgate_k8s::quantity::LIBRARY;

use crate::library::{call, call_all, text, with_context};
use crate::two_texts;

/// Parsing and `isQuantity` agree, an integer's text is an equal quantity, comparison is an order, and arithmetic is exact.
pub fn run(data: &[u8]) {
    let (a, b) = two_texts(data);
    call_all(&LIBRARY, &[&a, &b], &[0, -1, i64::MAX, i64::MIN]);
    with_context(|ctx| {
        let (a, b) = (parse(ctx, &a), parse(ctx, &b));
        if let Some(a) = a {
            alone(ctx, a);
        }
        if let (Some(a), Some(b)) = (a, b) {
            together(ctx, a, b);
        }
    });
}

fn parse<'a>(ctx: &EvalContext<'a>, input: &str) -> Option<Value<'a>> {
    let input = text(ctx, input);
    let value = call(ctx, &LIBRARY, "string_to_quantity", &[input]);
    let valid = matches!(call(ctx, &LIBRARY, "is_quantity_string", &[input]), Value::Bool(true));
    assert_eq!(valid, !matches!(value, Value::Error(_)), "isQuantity and quantity disagree");
    valid.then_some(value)
}

fn number(value: Value<'_>) -> i64 {
    match value {
        Value::Int(i) => i,
        _ => panic!("not an int"),
    }
}

fn compare<'a>(ctx: &EvalContext<'a>, a: Value<'a>, b: Value<'a>) -> i64 {
    number(call(ctx, &LIBRARY, "quantity_compare_to", &[a, b]))
}

fn alone<'a>(ctx: &EvalContext<'a>, a: Value<'a>) {
    assert_eq!(compare(ctx, a, a), 0, "not equal to itself");
    let integer = call(ctx, &LIBRARY, "quantity_is_integer", &[a]);
    match call(ctx, &LIBRARY, "quantity_get_int", &[a]) {
        Value::Int(i) => {
            assert!(matches!(integer, Value::Bool(true)), "asInteger without isInteger");
            let Some(again) = parse(ctx, &i.to_string()) else { panic!("{i} is no quantity") };
            assert_eq!(compare(ctx, a, again), 0, "differs from its text {i}");
        }
        _ => assert!(matches!(integer, Value::Bool(false)), "isInteger without asInteger"),
    }
}

fn together<'a>(ctx: &EvalContext<'a>, a: Value<'a>, b: Value<'a>) {
    assert_eq!(compare(ctx, a, b), -compare(ctx, b, a), "not antisymmetric");
    let sum = call(ctx, &LIBRARY, "quantity_add", &[a, b]);
    let swapped = call(ctx, &LIBRARY, "quantity_add", &[b, a]);
    assert_eq!(compare(ctx, sum, swapped), 0, "a + b is not b + a");
    let back = call(ctx, &LIBRARY, "quantity_sub", &[sum, b]);
    assert_eq!(compare(ctx, back, a), 0, "a + b - b is not a");
}
