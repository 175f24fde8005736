//! What the libraries share: reading arguments, building results, and cel-go's answer to arguments of a wrong type.

use celgate_cel::context::EvalContext;
use celgate_cel::value::{Opaque, OpaqueType, Value};

/// cel-go's `decls.MaybeNoSuchOverload`: what a call gives whose arguments are not of the declared types.
pub(crate) fn mismatch<'a>(ctx: &EvalContext<'a>, function: &str, args: &[Value<'a>]) -> Value<'a> {
    if let Some(error) = args.iter().find(|v| matches!(v, Value::Error(_) | Value::Halt)) {
        return *error;
    }
    let types: Vec<&str> = args.iter().map(Value::type_name).collect();
    ctx.errorf(format_args!("no such overload: {function}({})", types.join(", ")))
}

/// cel-go's `types.MaybeNoSuchOverloadErr(value)`.
pub(crate) fn no_such_overload<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
    match value {
        Value::Error(_) | Value::Halt => value,
        _ => ctx.error("no such overload"),
    }
}

/// Copies text into the arena.
pub(crate) fn string<'a>(ctx: &EvalContext<'a>, text: &str) -> Value<'a> {
    Value::String(ctx.arena.alloc_str(text))
}

/// A list of strings in the arena.
pub(crate) fn string_list<'a, S: AsRef<str>>(ctx: &EvalContext<'a>, items: &[S]) -> Value<'a> {
    Value::List(ctx.arena.alloc_slice_fill_iter(items.iter().map(|s| string(ctx, s.as_ref()))))
}

/// A library value with the given state.
pub(crate) fn opaque<'a>(ctx: &EvalContext<'a>, ty: &'static OpaqueType, fields: &[Value<'a>]) -> Value<'a> {
    Value::Opaque(ctx.arena.alloc(Opaque { ty, fields: ctx.arena.alloc_slice_copy(fields) }))
}

/// The state of a library value of this very type.
pub(crate) fn fields<'a>(value: &Value<'a>, ty: &'static OpaqueType) -> Option<&'a [Value<'a>]> {
    match value {
        Value::Opaque(opaque) if std::ptr::eq(opaque.ty, ty) => Some(opaque.fields),
        _ => None,
    }
}
