//! Messages that stay messages (cel-go `common/types/object.go`): `google.protobuf.Empty`, and the entry of `Struct`'s map.

use super::{FieldKind, Fields, Message};
use crate::context::EvalContext;
use crate::ops::equality::equal;
use crate::value::{GoKey, MapBuilder, Native, Opaque, OpaqueType, Value};

/// State: none.
pub(super) static EMPTY: OpaqueType = object_type("google.protobuf.Empty", &super::EMPTY);
/// State: the fields in order, empty optionals for those that are not set.
pub(super) static FIELDS_ENTRY: OpaqueType = object_type("google.protobuf.Struct.FieldsEntry", &super::FIELDS_ENTRY);

const fn object_type(name: &'static str, message: &'static Message) -> OpaqueType {
    OpaqueType {
        name,
        go_name: "*types.protoObj",
        go_key: GoKey::Identity,
        equal: equal_objects,
        size: None,
        native: Native::Message(message),
    }
}

/// A field of an object.
pub(crate) enum Member<'a> {
    Set(Value<'a>),
    /// Not set: the default.
    Unset(Value<'a>),
    Fail(Value<'a>),
}

/// Selects from an object; `None` if it is none.
pub(crate) fn select<'a>(ctx: &EvalContext<'a>, opaque: &Opaque<'a>, key: Value<'a>) -> Option<Member<'a>> {
    let Native::Message(message) = opaque.ty.native else {
        return None;
    };
    let Value::String(name) = key else {
        return Some(Member::Fail(ctx.error("no such overload")));
    };
    let Some(at) = message.position(name) else {
        return Some(Member::Fail(ctx.errorf(format_args!("no such field '{name}'"))));
    };
    let (value, field) = (opaque.fields.get(at).copied()?, message.fields.get(at)?);
    Some(match value {
        Value::Optional(None) => Member::Unset(field.kind.default(ctx)),
        value => Member::Set(value),
    })
}

pub(super) fn new<'a>(
    ctx: &EvalContext<'a>,
    ty: &'static OpaqueType,
    message: &Message,
    set: &Fields<'a>,
) -> Value<'a> {
    let state = message.fields.iter().zip(&set.values).map(|(field, value)| match (field.kind, value) {
        // A text that is empty counts as not set.
        (FieldKind::String, Some(Value::String(""))) | (_, None) => Value::Optional(None),
        (_, Some(value)) => *value,
    });
    let fields = ctx.arena.alloc_slice_fill_iter(state.collect::<Vec<_>>());
    Value::Opaque(ctx.arena.alloc(Opaque { ty, fields }))
}

/// Whether it is an object of which no field is set.
pub(crate) fn is_zero(opaque: &Opaque<'_>) -> bool {
    opaque.is_message() && opaque.fields.iter().all(|field| matches!(field, Value::Optional(None)))
}

fn equal_objects<'a>(ctx: &EvalContext<'a>, this: &'a Opaque<'a>, other: Value<'a>) -> Value<'a> {
    let Value::Opaque(other) = other else {
        return Value::Bool(false);
    };
    // The parts are JSON values: their comparison does not come back here.
    let mut parts = this.fields.iter().zip(other.fields);
    let same = std::ptr::eq(this.ty, other.ty) && parts.all(|(a, b)| matches!(equal(ctx, *a, *b), Value::Bool(true)));
    if ctx.halt().is_some() { Value::Halt } else { Value::Bool(same) }
}

/// The object as JSON: its fields that are set.
pub(super) fn json<'a>(ctx: &EvalContext<'a>, message: &Message, object: &Opaque<'a>) -> Value<'a> {
    let mut map = MapBuilder::new(ctx.arena);
    for (field, value) in message.fields.iter().zip(object.fields) {
        if !matches!(value, Value::Optional(None)) {
            map.put(Value::String(field.name), *value);
        }
    }
    Value::Map(map.finish())
}
