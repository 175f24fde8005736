//! The protobuf messages that every cel-go environment knows: the files any, duration, empty, struct, timestamp and
//! wrappers of `google/protobuf` (cel-go `common/types/pb`).

use crate::types::Type;

const PREFIX: &str = "google.protobuf.";

/// A message's fields, or `None` if it is not one of these messages.
pub(super) fn fields(message: &str) -> Option<Vec<(&'static str, Type)>> {
    let any_map = || Type::map(Type::String, Type::Dyn);
    Some(match message.strip_prefix(PREFIX)? {
        "Any" => vec![("type_url", Type::String), ("value", Type::Bytes)],
        "Duration" | "Timestamp" => vec![("seconds", Type::Int), ("nanos", Type::Int)],
        "Empty" => vec![],
        "Struct" => vec![("fields", any_map())],
        "Struct.FieldsEntry" => vec![("key", Type::String), ("value", Type::Dyn)],
        "Value" => vec![
            ("null_value", Type::Int),
            ("number_value", Type::Double),
            ("string_value", Type::String),
            ("bool_value", Type::Bool),
            ("struct_value", any_map()),
            ("list_value", Type::list(Type::Dyn)),
        ],
        "ListValue" => vec![("values", Type::list(Type::Dyn))],
        "BoolValue" => vec![("value", Type::Bool)],
        "BytesValue" => vec![("value", Type::Bytes)],
        "DoubleValue" | "FloatValue" => vec![("value", Type::Double)],
        "Int64Value" | "Int32Value" => vec![("value", Type::Int)],
        "UInt64Value" | "UInt32Value" => vec![("value", Type::Uint)],
        "StringValue" => vec![("value", Type::String)],
        _ => return None,
    })
}

/// The type of a message's field.
pub(super) fn field_type(message: &str, field: &str) -> Option<Type> {
    fields(message)?.into_iter().find(|(name, _)| *name == field).map(|(_, ty)| ty)
}

/// The value of an enum constant.
pub(super) fn enum_constant(name: &str) -> Option<i64> {
    (name == "google.protobuf.NullValue.NULL_VALUE").then_some(0)
}
