//! Calls everything that a library has, with arguments that fit its declarations.

use bumpalo::Bump;
use celgate_cel::context::{EvalContext, NoHost};
use celgate_cel::decls::OverloadDecl;
use celgate_cel::function::Library;
use celgate_cel::types::Type;
use celgate_cel::value::Value;

use crate::show::show;

/// The most combinations of arguments that one overload is called with.
const MAX_CALLS: usize = 27;
/// The most values of one kind that are kept as arguments.
const MAX_VALUES: usize = 8;

/// A context without a host and without a cost limit.
pub(crate) fn with_context(test: impl for<'a> FnOnce(&EvalContext<'a>)) {
    let arena = Bump::new();
    test(&EvalContext::new(&arena, &NoHost, u64::MAX));
}

/// Calls the overload `id`.
pub(crate) fn call<'a>(ctx: &EvalContext<'a>, library: &Library, id: &str, args: &[Value<'a>]) -> Value<'a> {
    match library.implementations.iter().find(|implementation| implementation.id == id) {
        Some(implementation) => (implementation.eval)(ctx, args),
        None => panic!("no overload {id}"),
    }
}

/// A string value in the arena.
pub(crate) fn text<'a>(ctx: &EvalContext<'a>, text: &str) -> Value<'a> {
    Value::String(ctx.arena.alloc_str(text))
}

/// Calls every overload of a library, twice over, with these texts and numbers and what the calls return; both times with
/// the same results.
pub(crate) fn call_all(library: &'static Library, texts: &[&str], numbers: &[i64]) {
    assert_eq!(results(library, texts, numbers), results(library, texts, numbers), "called twice");
}

fn results(library: &'static Library, texts: &[&str], numbers: &[i64]) -> Vec<String> {
    let mut shown = Vec::new();
    with_context(|ctx| {
        let strings: Vec<Value<'_>> = texts.iter().map(|part| text(ctx, part)).collect();
        let mut values = strings.clone();
        values.push(Value::List(ctx.arena.alloc_slice_copy(&strings)));
        values.extend(numbers.iter().map(|number| Value::Int(*number)));
        values.extend([Value::Bool(false), Value::Bool(true)]);
        for overload in (library.functions)().iter().flat_map(|function| &function.overloads).chain(
            // Once more, for those whose arguments are made by later ones.
            (library.functions)().iter().flat_map(|function| &function.overloads),
        ) {
            for result in overload_results(ctx, library, overload, &values) {
                shown.push(show(ctx, result));
                if let Value::Optional(Some(inner)) = result {
                    keep(&mut values, *inner);
                }
                keep(&mut values, result);
            }
        }
    });
    shown
}

fn keep<'a>(values: &mut Vec<Value<'a>>, value: Value<'a>) {
    let name = value.type_name();
    let known = values.iter().filter(|known| known.type_name() == name).count();
    if known < MAX_VALUES && !matches!(value, Value::Error(_) | Value::Halt) {
        values.push(value);
    }
}

fn overload_results<'a>(
    ctx: &EvalContext<'a>,
    library: &Library,
    overload: &OverloadDecl,
    values: &[Value<'a>],
) -> Vec<Value<'a>> {
    let choices: Vec<Vec<Value<'a>>> =
        overload.args.iter().map(|ty| values.iter().copied().filter(|value| fits(ty, value)).collect()).collect();
    let combinations = choices.iter().map(Vec::len).product::<usize>();
    let mut results = Vec::new();
    for number in 0..combinations.min(MAX_CALLS) {
        let mut rest = number;
        let mut args = Vec::new();
        for choice in &choices {
            args.extend(choice.get(rest % choice.len()).copied());
            rest /= choice.len();
        }
        results.push(call(ctx, library, overload.id, &args));
    }
    results
}

fn fits(ty: &Type, value: &Value<'_>) -> bool {
    match ty {
        Type::Dyn | Type::Param(_) => true,
        Type::List(of) => matches!(**of, Type::String | Type::Dyn | Type::Param(_)) && matches!(value, Value::List(_)),
        ty => ty.type_name() == value.type_name(),
    }
}
