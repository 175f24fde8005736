//! Helpers of this crate's unit tests: call an implementation by overload id, and print values.

use bumpalo::Bump;
use celgate_cel::context::{EvalContext, NoHost};
use celgate_cel::function::Library;
use celgate_cel::value::Value;

/// Runs a test with a context whose host knows nothing.
pub(crate) fn with_context(test: impl for<'a> FnOnce(&EvalContext<'a>)) {
    let arena = Bump::new();
    test(&EvalContext::new(&arena, &NoHost, u64::MAX));
}

/// Calls the overload `id` of a library.
pub(crate) fn call<'a>(ctx: &EvalContext<'a>, library: &Library, id: &str, args: &[Value<'a>]) -> Value<'a> {
    match library.implementations.iter().find(|i| i.id == id) {
        Some(implementation) => (implementation.eval)(ctx, args),
        None => panic!("no overload {id}"),
    }
}

/// A string value in the arena.
pub(crate) fn text<'a>(ctx: &EvalContext<'a>, text: &str) -> Value<'a> {
    Value::String(ctx.arena.alloc_str(text))
}

/// `a == b` as a library type defines it.
pub(crate) fn equal<'a>(ctx: &EvalContext<'a>, a: Value<'a>, b: Value<'a>) -> String {
    match a {
        Value::Opaque(a) => show((a.ty.equal)(ctx, a, b)),
        _ => panic!("not an opaque value"),
    }
}

/// A value as text.
pub(crate) fn show(value: Value<'_>) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Uint(u) => format!("{u}u"),
        Value::Double(d) => format!("{d:?}"),
        Value::String(s) => format!("{s:?}"),
        Value::List(items) => format!("[{}]", items.iter().map(|v| show(*v)).collect::<Vec<_>>().join(", ")),
        Value::Map(map) => {
            let entry = |(k, v): &(Value<'_>, Value<'_>)| format!("{}: {}", show(*k), show(*v));
            format!("{{{}}}", map.entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Value::Optional(inner) => inner.map_or("none".into(), |v| format!("some({})", show(*v))),
        Value::Opaque(opaque) => opaque.ty.name.into(),
        Value::Error(error) => format!("error: {}", error.message),
        Value::Halt => "halt".into(),
        _ => "other".into(),
    }
}
