//! Values as field values (cel-go `msgSetField`, and the `ConvertToNative` methods of its value types).

use super::json::Json;
use super::{Field, FieldKind, Message};
use crate::context::EvalContext;
use crate::ops::format::type_text;
use crate::value::{ListView, MapView, Native, Value};

/// What a field holds, as Go names it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Scalar(FieldKind),
    Byte,
    Json,
    JsonStruct,
    JsonList,
}

impl Target {
    fn of(kind: FieldKind) -> Target {
        match kind {
            FieldKind::Json | FieldKind::JsonElements | FieldKind::JsonEntries => Target::Json,
            FieldKind::JsonStruct => Target::JsonStruct,
            FieldKind::JsonList => Target::JsonList,
            scalar => Target::Scalar(scalar),
        }
    }

    /// What Go's `%v` prints for the type.
    pub(super) fn go_type(self) -> &'static str {
        match self {
            Target::Byte => "uint8",
            Target::Json => "*structpb.Value",
            Target::JsonStruct => "*structpb.Struct",
            Target::JsonList => "*structpb.ListValue",
            Target::Scalar(kind) => match kind {
                FieldKind::Bool => "bool",
                FieldKind::Bytes => "[]uint8",
                FieldKind::Double => "float64",
                FieldKind::Float => "float32",
                FieldKind::Int32 => "int32",
                FieldKind::Int64 => "int64",
                FieldKind::Uint32 => "uint32",
                FieldKind::Uint64 => "uint64",
                FieldKind::Null => "protoreflect.EnumNumber",
                _ => "string",
            },
        }
    }

    /// What Go's `reflect.Type.Name` is.
    fn go_name(self) -> &'static str {
        match self {
            Target::Json | Target::JsonStruct | Target::JsonList | Target::Scalar(FieldKind::Bytes) => "",
            Target::Scalar(FieldKind::Null) => "EnumNumber",
            _ => self.go_type(),
        }
    }
}

/// A value for a field; the error is one or a halt.
pub(super) fn field<'a>(
    ctx: &EvalContext<'a>,
    message: &Message,
    field: &Field,
    value: Value<'a>,
) -> Result<Value<'a>, Value<'a>> {
    let mut json = Json::new(ctx);
    let unsupported = || {
        let (message, name, ty) = (message.name, field.name, type_text(value.type_name()));
        Err(ctx.errorf(format_args!("unsupported field type for {message}.{name}: {ty}")))
    };
    let converted = match field.kind {
        FieldKind::JsonElements => match ListView::of(value) {
            Some(list) => json.list(list),
            None => return unsupported(),
        },
        FieldKind::JsonEntries => match MapView::of(value) {
            Some(map) => json.map(map),
            None => return unsupported(),
        },
        kind => convert(ctx, &mut json, value, Target::of(kind)),
    };
    converted.map_err(|failure| match failure {
        Value::Error(error) => ctx.errorf(format_args!(
            "field type conversion error for {}.{} value type: {}",
            message.name, field.name, error.message
        )),
        other => other,
    })
}

pub(super) fn convert<'a>(
    ctx: &EvalContext<'a>,
    json: &mut Json<'a, '_>,
    value: Value<'a>,
    to: Target,
) -> Result<Value<'a>, Value<'a>> {
    match (value, to) {
        (_, Target::Json) => json.value(value),
        (_, Target::Scalar(kind)) if is_same(value, kind) => Ok(value),
        (Value::Int(i), Target::Scalar(FieldKind::Int32 | FieldKind::Null)) => match i32::try_from(i) {
            Ok(_) => Ok(value),
            Err(_) => Err(ctx.error("integer overflow")),
        },
        (Value::Uint(u), Target::Scalar(FieldKind::Uint32)) if u32::try_from(u).is_ok() => Ok(value),
        (Value::Uint(u), Target::Byte) if u8::try_from(u).is_ok() => Ok(value),
        (Value::Uint(_), Target::Scalar(FieldKind::Uint32) | Target::Byte) => {
            Err(ctx.error("unsigned integer overflow"))
        }
        (Value::Double(d), Target::Scalar(FieldKind::Float)) => Ok(Value::Double(f64::from(d as f32))),
        (Value::Optional(Some(inner)), _) => convert(ctx, json, *inner, to),
        (Value::Opaque(opaque), Target::Scalar(FieldKind::String)) => match opaque.ty.native {
            Native::Text(_, text) => Ok(text(ctx, opaque)),
            _ => Err(mismatch(ctx, value, to)),
        },
        (_, Target::JsonList) if !is_typed(value) => match (ListView::of(value), MapView::of(value)) {
            (Some(list), _) => json.list_value(list),
            (None, Some(map @ (MapView::Entries(_) | MapView::Record(_)))) => json.list_of_map(map),
            _ => Err(mismatch(ctx, value, to)),
        },
        (_, Target::JsonStruct) if !is_typed(value) => match MapView::of(value) {
            Some(map @ (MapView::Entries(_) | MapView::Record(_))) => json.map(map),
            _ => Err(mismatch(ctx, value, to)),
        },
        (_, Target::Scalar(FieldKind::Bytes)) if !is_typed(value) => match ListView::of(value) {
            Some(list) => bytes(ctx, json, list),
            None => Err(mismatch(ctx, value, to)),
        },
        _ => Err(mismatch(ctx, value, to)),
    }
}

fn is_same(value: Value<'_>, kind: FieldKind) -> bool {
    matches!(
        (value, kind),
        (Value::Bool(_), FieldKind::Bool)
            | (Value::Bytes(_), FieldKind::Bytes)
            | (Value::Double(_), FieldKind::Double)
            | (Value::Int(_), FieldKind::Int64)
            | (Value::Uint(_), FieldKind::Uint64)
            | (Value::String(_), FieldKind::String)
    )
}

pub(super) fn is_typed(value: Value<'_>) -> bool {
    matches!(value, Value::Record(record) if record.is_typed())
}

/// Go lets a list of small uints be bytes.
fn bytes<'a>(ctx: &EvalContext<'a>, json: &mut Json<'a, '_>, list: ListView<'a>) -> Result<Value<'a>, Value<'a>> {
    let mut bytes = bumpalo::collections::Vec::new_in(ctx.arena);
    for element in list.iter() {
        if let Value::Uint(byte) = convert(ctx, json, element, Target::Byte)? {
            bytes.push(byte as u8);
        }
    }
    Ok(Value::Bytes(bytes.into_bump_slice()))
}

/// The error of a value that cannot be what the field holds.
pub(super) fn mismatch<'a>(ctx: &EvalContext<'a>, value: Value<'a>, to: Target) -> Value<'a> {
    let go = to.go_type();
    match value {
        Value::Error(_) | Value::Halt => value,
        Value::Null => ctx.errorf(format_args!("type conversion error from 'null_type' to '{go}'")),
        Value::Bool(_) => ctx.errorf(format_args!("type conversion error from bool to '{go}'")),
        Value::Int(_) => ctx.errorf(format_args!("unsupported type conversion from 'int' to {go}")),
        Value::Uint(_) => ctx.errorf(format_args!("unsupported type conversion from 'uint' to {go}")),
        Value::Double(_) => ctx.errorf(format_args!("type conversion error from Double to '{go}'")),
        Value::String(_) => ctx.errorf(format_args!("unsupported native conversion from string to '{go}'")),
        Value::Bytes(_) => ctx.errorf(format_args!("type conversion error from Bytes to '{go}'")),
        Value::Duration(_) => ctx.errorf(format_args!("type conversion error from 'Duration' to '{go}'")),
        Value::Timestamp(_) => ctx.errorf(format_args!("type conversion error from 'Timestamp' to '{go}'")),
        Value::Type(_) => ctx.error("type conversion not supported for 'type'"),
        Value::Optional(_) => ctx.error("optional.none() dereference"),
        Value::Record(record) if record.is_struct() => {
            ctx.errorf(format_args!("type conversion error from struct type object to {go}"))
        }
        Value::Record(record) if record.is_typed() => {
            let ty = type_text(value.type_name());
            ctx.errorf(format_args!("type conversion error from '{ty}' to '{go}'"))
        }
        Value::Lazy(map) => {
            ctx.errorf(format_args!("disallowed conversion from \"{}\" to \"{}\"", map.type_name(), to.go_name()))
        }
        Value::Opaque(opaque) => match opaque.ty.native {
            Native::Named(name) | Native::Text(name, _) => {
                ctx.errorf(format_args!("type conversion error from '{name}' to '{go}'"))
            }
            Native::Message(message) => match go.strip_prefix("*structpb.") {
                Some(other) => ctx.errorf(format_args!(
                    "type conversion error: pb.Merge() arguments must be the same type. got: google.protobuf.{other}, {}",
                    message.name
                )),
                None => ctx.errorf(format_args!("type conversion error from '*dynamicpb.Message' to '{go}'")),
            },
        },
        Value::Map(_) | Value::Record(_) if MapView::of(value).is_some() => {
            ctx.errorf(format_args!("type conversion error from map to '{go}'"))
        }
        Value::Map(_) | Value::Record(_) | Value::List(_) | Value::Constants(_) | Value::Concat(_) | Value::Accumulator => {
            ctx.errorf(format_args!("type conversion error from list to '{go}'"))
        }
    }
}
