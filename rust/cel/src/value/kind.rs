//! What a value is: its run-time type, the Go type behind it (shown in some error texts) and its operator traits.

use super::{GoKey, Value};
use crate::record::Tag;

/// Which operators a run-time type takes part in (cel-go `common/types/traits`, by type as in `common/types/types.go`).
pub struct Traits;

impl Traits {
    /// `+`
    pub const ADDER: u16 = 1;
    /// `<`, `<=`, `>`, `>=`
    pub const COMPARER: u16 = 1 << 1;
    /// `in`
    pub const CONTAINER: u16 = 1 << 2;
    /// `/`
    pub const DIVIDER: u16 = 1 << 3;
    /// comprehensions
    pub const ITERABLE: u16 = 1 << 4;
    /// `matches`
    pub const MATCHER: u16 = 1 << 5;
    /// `%`
    pub const MODDER: u16 = 1 << 6;
    /// `*`
    pub const MULTIPLIER: u16 = 1 << 7;
    /// `-x`, `!x`
    pub const NEGATOR: u16 = 1 << 8;
    /// methods dispatched by the value itself
    pub const RECEIVER: u16 = 1 << 9;
    /// `size`
    pub const SIZER: u16 = 1 << 10;
    /// `-`
    pub const SUBTRACTOR: u16 = 1 << 11;
    /// `_[_]`
    pub const INDEXER: u16 = 1 << 12;
}

impl<'a> Value<'a> {
    /// Whether the value is an error.
    #[inline]
    pub fn is_error(&self) -> bool {
        matches!(self, Value::Error(_))
    }

    /// Whether evaluation of the surrounding expression must stop with this value: an error, or a halt.
    #[inline]
    pub fn is_error_or_halt(&self) -> bool {
        matches!(self, Value::Error(_) | Value::Halt)
    }

    /// The name of the run-time type, as `type(x)` and "no such overload" texts show it.
    pub fn type_name(&self) -> &'a str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::List(_) | Value::Constants(_) | Value::Concat(_) => "list",
            Value::Map(_) => "map",
            Value::Record(record) if record.is_list() => "list",
            Value::Record(_) => "map",
            Value::Lazy(map) => map.type_name(),
            Value::Optional(_) => "optional_type",
            Value::Type(_) => "type",
            Value::Opaque(opaque) => opaque.ty.name,
            Value::Accumulator => "list",
            Value::Error(_) | Value::Halt => "error",
        }
    }

    /// The name that Go's `%T` prints for upstream's value.
    pub fn go_type_name(&self) -> &'a str {
        match self {
            Value::Null => "types.Null",
            Value::Bool(_) => "types.Bool",
            Value::Int(_) => "types.Int",
            Value::Uint(_) => "types.Uint",
            Value::Double(_) => "types.Double",
            Value::String(_) => "types.String",
            Value::Bytes(_) => "types.Bytes",
            Value::Duration(_) => "types.Duration",
            Value::Timestamp(_) => "types.Timestamp",
            Value::List(_) | Value::Constants(_) | Value::Accumulator => "*types.baseList",
            Value::Concat(_) => "*types.concatList",
            Value::Map(_) => "*types.baseMap",
            Value::Record(record) => match (record.is_typed(), record.tag()) {
                (true, Tag::List) => "*common.reflectSchemalessTypedList",
                (true, Tag::Struct) => "*common.reflectSchemalessTypedStruct",
                (true, _) => "*common.reflectSchemalessTypedMap",
                (false, Tag::List) => "*types.baseList",
                (false, _) => "*types.baseMap",
            },
            Value::Lazy(_) => "*lazy.MapValue",
            Value::Optional(_) => "*types.Optional",
            Value::Type(_) => "*types.Type",
            Value::Opaque(opaque) => opaque.ty.go_name,
            Value::Error(_) | Value::Halt => "*types.Err",
        }
    }

    /// The text of Go's panic when the value is a key of a map; `None` if Go can hash it.
    pub fn unhashable(&self) -> Option<&'static str> {
        match self {
            Value::Bytes(_) => Some("internal error: runtime error: hash of unhashable type types.Bytes"),
            Value::Opaque(opaque) => match opaque.ty.go_key {
                GoKey::Unhashable(text) => Some(text),
                GoKey::Identity | GoKey::State => None,
            },
            _ => None,
        }
    }

    /// The operator traits of the run-time type.
    pub fn traits(&self) -> u16 {
        use Traits as T;
        match self {
            Value::Bool(_) => T::COMPARER | T::NEGATOR,
            Value::Bytes(_) => T::ADDER | T::COMPARER | T::SIZER,
            Value::Double(_) => T::ADDER | T::COMPARER | T::DIVIDER | T::MULTIPLIER | T::NEGATOR | T::SUBTRACTOR,
            Value::Duration(_) => T::ADDER | T::COMPARER | T::NEGATOR | T::RECEIVER | T::SUBTRACTOR,
            Value::Int(_) => {
                T::ADDER | T::COMPARER | T::DIVIDER | T::MODDER | T::MULTIPLIER | T::NEGATOR | T::SUBTRACTOR
            }
            Value::Uint(_) => T::ADDER | T::COMPARER | T::DIVIDER | T::MODDER | T::MULTIPLIER | T::SUBTRACTOR,
            Value::String(_) => T::ADDER | T::COMPARER | T::MATCHER | T::RECEIVER | T::SIZER,
            Value::Timestamp(_) => T::ADDER | T::COMPARER | T::RECEIVER | T::SUBTRACTOR,
            Value::Lazy(_) => T::INDEXER | T::ITERABLE,
            Value::List(_) | Value::Constants(_) | Value::Concat(_) | Value::Accumulator => {
                T::ADDER | T::CONTAINER | T::INDEXER | T::ITERABLE | T::SIZER
            }
            Value::Record(record) if record.is_list() => T::ADDER | T::CONTAINER | T::INDEXER | T::ITERABLE | T::SIZER,
            Value::Map(_) | Value::Record(_) => T::CONTAINER | T::INDEXER | T::ITERABLE | T::SIZER,
            Value::Opaque(_) => T::INDEXER,
            Value::Null | Value::Optional(_) | Value::Type(_) | Value::Error(_) | Value::Halt => 0,
        }
    }

    /// The string behind the value where Go's `Value().(string)` finds one: strings, type names, optionals of these.
    pub fn go_string(&self) -> Option<&'a str> {
        let mut value = *self;
        loop {
            match value {
                Value::String(text) | Value::Type(text) => return Some(text),
                Value::Optional(Some(inner)) => value = *inner,
                _ => return None,
            }
        }
    }
}
