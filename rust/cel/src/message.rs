//! The protobuf messages that every cel-go environment knows: the files any, duration, empty, struct, timestamp and
//! wrappers of `google/protobuf` (cel-go `common/types/pb`). One table says what the checker and the evaluator know of them.
//!
//! Nearly all of them are other values to CEL: a literal `google.protobuf.Int32Value{value: 1}` is the int 1. What remains
//! are `Empty` and the entry of `Struct`'s map, see [`object`].

mod any;
mod convert;
mod json;
pub(crate) mod object;
mod wire;

use crate::context::EvalContext;
use crate::types::Type;
use crate::value::{Duration, MapValue, OpaqueType, Timestamp, Value};

/// A message type.
pub struct Message {
    /// The full name.
    pub(crate) name: &'static str,
    form: Form,
    pub(crate) fields: &'static [Field],
}

/// What a message is to CEL.
enum Form {
    /// The value of its only field.
    Wrapper,
    Duration,
    Timestamp,
    Any,
    /// The value of the field that is set, or null.
    Value,
    /// An object with fields.
    Object(&'static OpaqueType),
}

/// A field of a message.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    number: u32,
    kind: FieldKind,
}

/// A field's protobuf type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Bool,
    Bytes,
    Double,
    Float,
    Int32,
    Int64,
    Uint32,
    Uint64,
    String,
    /// The enum `google.protobuf.NullValue`.
    Null,
    /// `google.protobuf.Value`
    Json,
    /// `google.protobuf.Struct`
    JsonStruct,
    /// `google.protobuf.ListValue`
    JsonList,
    /// `repeated google.protobuf.Value`
    JsonElements,
    /// `map<string, google.protobuf.Value>`
    JsonEntries,
}

impl FieldKind {
    /// The type that the checker has for it.
    fn ty(self) -> Type {
        match self {
            FieldKind::Bool => Type::Bool,
            FieldKind::Bytes => Type::Bytes,
            FieldKind::Double | FieldKind::Float => Type::Double,
            FieldKind::Int32 | FieldKind::Int64 | FieldKind::Null => Type::Int,
            FieldKind::Uint32 | FieldKind::Uint64 => Type::Uint,
            FieldKind::String => Type::String,
            FieldKind::Json => Type::Dyn,
            FieldKind::JsonStruct | FieldKind::JsonEntries => Type::map(Type::String, Type::Dyn),
            FieldKind::JsonList | FieldKind::JsonElements => Type::list(Type::Dyn),
        }
    }

    /// The value of a field that is not set.
    fn default<'a>(self, ctx: &EvalContext<'a>) -> Value<'a> {
        match self {
            FieldKind::Bool => Value::Bool(false),
            FieldKind::Bytes => Value::Bytes(&[]),
            FieldKind::Double | FieldKind::Float => Value::Double(0.0),
            FieldKind::Int32 | FieldKind::Int64 => Value::Int(0),
            FieldKind::Uint32 | FieldKind::Uint64 => Value::Uint(0),
            FieldKind::String => Value::String(""),
            FieldKind::Null | FieldKind::Json => Value::Null,
            FieldKind::JsonStruct | FieldKind::JsonEntries => Value::Map(MapValue::new(ctx.arena, &[])),
            FieldKind::JsonList | FieldKind::JsonElements => Value::List(&[]),
        }
    }
}

const fn field(number: u32, name: &'static str, kind: FieldKind) -> Field {
    Field { name, number, kind }
}

const fn message(name: &'static str, form: Form, fields: &'static [Field]) -> Message {
    Message { name, form, fields }
}

const SPAN: &[Field] = &[field(1, "seconds", FieldKind::Int64), field(2, "nanos", FieldKind::Int32)];

static ANY: Message = message(
    "google.protobuf.Any",
    Form::Any,
    &[field(1, "type_url", FieldKind::String), field(2, "value", FieldKind::Bytes)],
);
static VALUE: Message = message(
    "google.protobuf.Value",
    Form::Value,
    &[
        field(1, "null_value", FieldKind::Null),
        field(2, "number_value", FieldKind::Double),
        field(3, "string_value", FieldKind::String),
        field(4, "bool_value", FieldKind::Bool),
        field(5, "struct_value", FieldKind::JsonStruct),
        field(6, "list_value", FieldKind::JsonList),
    ],
);
static STRUCT: Message =
    message("google.protobuf.Struct", Form::Wrapper, &[field(1, "fields", FieldKind::JsonEntries)]);
static LIST_VALUE: Message =
    message("google.protobuf.ListValue", Form::Wrapper, &[field(1, "values", FieldKind::JsonElements)]);
static EMPTY: Message = message("google.protobuf.Empty", Form::Object(&object::EMPTY), &[]);
static FIELDS_ENTRY: Message = message(
    "google.protobuf.Struct.FieldsEntry",
    Form::Object(&object::FIELDS_ENTRY),
    &[field(1, "key", FieldKind::String), field(2, "value", FieldKind::Json)],
);

macro_rules! wrappers {
    ($($constant:ident $name:literal $kind:ident;)*) => {
        $(static $constant: Message = message($name, Form::Wrapper, &[field(1, "value", FieldKind::$kind)]);)*
        static MESSAGES: &[&Message] = &[
            &ANY, &VALUE, &STRUCT, &LIST_VALUE, &EMPTY, &FIELDS_ENTRY, &DURATION, &TIMESTAMP, $(&$constant,)*
        ];
    };
}

static DURATION: Message = message("google.protobuf.Duration", Form::Duration, SPAN);
static TIMESTAMP: Message = message("google.protobuf.Timestamp", Form::Timestamp, SPAN);
wrappers! {
    BOOL_VALUE "google.protobuf.BoolValue" Bool;
    BYTES_VALUE "google.protobuf.BytesValue" Bytes;
    DOUBLE_VALUE "google.protobuf.DoubleValue" Double;
    FLOAT_VALUE "google.protobuf.FloatValue" Float;
    INT64_VALUE "google.protobuf.Int64Value" Int64;
    INT32_VALUE "google.protobuf.Int32Value" Int32;
    UINT64_VALUE "google.protobuf.UInt64Value" Uint64;
    UINT32_VALUE "google.protobuf.UInt32Value" Uint32;
    STRING_VALUE "google.protobuf.StringValue" String;
}

/// The message of exactly this name.
pub(crate) fn find(name: &str) -> Option<&'static Message> {
    MESSAGES.iter().copied().find(|message| message.name == name)
}

/// The value of a protobuf enum constant of exactly this name.
pub(crate) fn enum_constant(name: &str) -> Option<i64> {
    (name == "google.protobuf.NullValue.NULL_VALUE").then_some(0)
}

impl Message {
    /// The index of a field.
    pub(crate) fn position(&self, field: &str) -> Option<usize> {
        self.fields.iter().position(|known| known.name == field)
    }

    /// The type of a field.
    pub(crate) fn field_type(&self, field: &str) -> Option<Type> {
        self.position(field).and_then(|at| self.fields.get(at)).map(|field| field.kind.ty())
    }
}

/// The value of a literal with these fields, by index into the message's; of a field that is there twice the last counts.
/// An error, a halt, or the value that the message is to CEL (cel-go `Registry.NewValue`).
pub(crate) fn literal<'a>(
    ctx: &EvalContext<'a>,
    message: &'static Message,
    given: impl Iterator<Item = (usize, Option<Value<'a>>)>,
) -> Value<'a> {
    let mut set = Fields::default();
    for (at, value) in given {
        set.put(message, at, value);
    }
    for (field, place) in message.fields.iter().zip(&mut set.values) {
        if let Some(value) = place {
            match convert::field(ctx, message, field, *value) {
                Ok(converted) => *place = Some(converted),
                Err(failure) => return failure,
            }
        }
    }
    set.value(ctx, message).unwrap_or_else(|unusable| any::refuse(ctx, &unusable))
}

const MAX_FIELDS: usize = 6;

/// The fields of one message, by index.
#[derive(Default)]
struct Fields<'a> {
    values: [Option<Value<'a>>; MAX_FIELDS],
    /// The field that was set last.
    last: Option<usize>,
}

impl<'a> Fields<'a> {
    fn put(&mut self, message: &Message, at: usize, value: Option<Value<'a>>) {
        if let (Some(place), true) = (self.values.get_mut(at), at < message.fields.len()) {
            *place = value;
            self.last = value.map_or(self.last, |_| Some(at));
        }
    }

    fn get(&self, at: usize) -> Option<Value<'a>> {
        self.values.get(at).copied().flatten()
    }

    fn int(&self, at: usize) -> i64 {
        match self.get(at) {
            Some(Value::Int(i)) => i,
            _ => 0,
        }
    }

    /// What the message is to CEL; an `Any` that cannot be unpacked is returned as it is.
    fn value(&self, ctx: &EvalContext<'a>, message: &'static Message) -> Result<Value<'a>, any::Packed<'a>> {
        Ok(match &message.form {
            Form::Wrapper => match (self.get(0), message.fields.first()) {
                (Some(value), _) => value,
                (None, Some(field)) => field.kind.default(ctx),
                (None, None) => Value::Null,
            },
            Form::Duration => Value::Duration(Duration { nanos: nanoseconds(self.int(0), self.int(1)) }),
            Form::Timestamp => Value::Timestamp(instant(self.int(0), self.int(1))),
            Form::Value => match self.last {
                // The only value of the enum.
                None | Some(0) => Value::Null,
                Some(at) => self.get(at).unwrap_or(Value::Null),
            },
            Form::Any => return any::unpack(ctx, any::Packed::of(self)),
            Form::Object(ty) => object::new(ctx, ty, message, self),
        })
    }
}

/// Go's `durationpb.Duration.AsDuration`: what does not fit is the longest duration of its sign.
fn nanoseconds(seconds: i64, nanos: i64) -> i64 {
    let whole = seconds.wrapping_mul(1_000_000_000);
    let sum = whole.wrapping_add(nanos);
    let overflow = whole / 1_000_000_000 != seconds
        || (seconds < 0 && nanos < 0 && sum > 0)
        || (seconds > 0 && nanos > 0 && sum < 0);
    match overflow {
        true if seconds < 0 => i64::MIN,
        true => i64::MAX,
        false => sum,
    }
}

/// Go's `time.Unix`, which lets the nanoseconds have any value.
fn instant(seconds: i64, nanos: i64) -> Timestamp {
    let carried = nanos.div_euclid(1_000_000_000);
    Timestamp::utc(seconds.wrapping_add(carried), nanos.rem_euclid(1_000_000_000) as u32)
}

#[cfg(test)]
mod tests;
