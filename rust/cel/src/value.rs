//! Run-time values: `Copy`, at most 24 bytes, borrowing from the request record, the program or the evaluation's arena.

mod kind;
mod list;
mod map;

pub use kind::Traits;
pub use list::{ConcatList, ConstantList, ListIter, ListView};
pub(crate) use map::MapBuilder;
pub use map::{MapOrder, MapValue, MapView};

use std::cmp::Ordering;

use crate::context::EvalContext;
use crate::message::Message;
use crate::record::RecordRef;

/// A CEL value during evaluation.
///
/// Equality, ordering and operators are functions of their own (they need the arena and charge no cost by themselves);
/// `Value` deliberately has no `PartialEq`.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// `null`
    Null,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(i64),
    /// `uint`
    Uint(u64),
    /// `double`
    Double(f64),
    /// `string`
    String(&'a str),
    /// `bytes`
    Bytes(&'a [u8]),
    /// `google.protobuf.Duration`
    Duration(Duration),
    /// `google.protobuf.Timestamp`
    Timestamp(Timestamp),
    /// A list made by the expression.
    List(&'a [Value<'a>]),
    /// A constant list of the program, read in place. Read it through [`ListView`].
    Constants(ConstantList<'a>),
    /// Two non-empty lists joined by `+` (cel-go's `concatList`, whose equality keeps errors). Read it through [`ListView`].
    Concat(&'a ConcatList<'a>),
    /// A map made by the expression.
    Map(&'a MapValue<'a>),
    /// A list, map or struct that stays in its request record and is read in place.
    Record(RecordRef<'a>),
    /// A map whose values are computed when read (the policy's `variables`).
    Lazy(&'a dyn LazyMap<'a>),
    /// `optional_type`
    Optional(Option<&'a Value<'a>>),
    /// A type as a value: its run-time name (`int`, `list`, `net.IP`, ...).
    Type(&'a str),
    /// A library's own type.
    Opaque(&'a Opaque<'a>),
    /// An error; `||`, `&&`, `?:` and comprehensions absorb it as in cel-go.
    Error(EvalError<'a>),
    /// The list or map that a comprehension is building; never seen outside the evaluator.
    Accumulator,
    /// Evaluation has stopped for a reason that nothing absorbs; [`EvalContext::halt`] says which.
    Halt,
}

const _: () = assert!(size_of::<Value<'_>>() <= 24);

/// A signed span in nanoseconds (Go's `time.Duration`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration {
    /// Nanoseconds.
    pub nanos: i64,
}

/// An instant (Go's `time.Time`). The offset is kept for printing only and takes no part in comparison.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds within the second, 0 to 999,999,999.
    pub nanos: u32,
    /// Seconds east of UTC of the text it was parsed from.
    pub offset: i32,
}

impl Timestamp {
    /// An instant shown in UTC.
    pub fn utc(seconds: i64, nanos: u32) -> Timestamp {
        Timestamp { seconds, nanos, offset: 0 }
    }

    /// What Go's `time.Time` counts and compares: it wraps around beyond the year 292 billion, which messages can hold.
    fn since_year_one(&self) -> i64 {
        self.seconds.wrapping_add(62_135_596_800)
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.since_year_one(), self.nanos).cmp(&(other.since_year_one(), other.nanos))
    }
}

/// An error value. The text is cel-go's.
#[derive(Clone, Copy, Debug)]
pub struct EvalError<'a> {
    /// The message.
    pub message: &'a str,
}

/// A value of a type that a library defines. Its state is plain values, so that it needs no destructor.
pub struct Opaque<'a> {
    /// The type's behaviour.
    pub ty: &'static OpaqueType,
    /// The state, as the library lays it out.
    pub fields: &'a [Value<'a>],
}

impl Opaque<'_> {
    /// Whether it is a protobuf message: an object to cel-go, and no library's value to Kubernetes.
    pub fn is_message(&self) -> bool {
        matches!(self.ty.native, Native::Message(_))
    }
}

/// Behaviour that an opaque type shares among its values.
pub struct OpaqueType {
    /// The run-time type name, such as `kubernetes.Quantity`.
    pub name: &'static str,
    /// What Go's `%T` prints for upstream's values of the type, such as `cel.Quantity`.
    pub go_name: &'static str,
    /// What Go makes of upstream's values as keys of a map.
    pub go_key: GoKey,
    /// cel-go's `Equal` of this type with `other` on its right; the result may be an error (`no such overload`).
    pub equal: for<'a> fn(&EvalContext<'a>, this: &'a Opaque<'a>, other: Value<'a>) -> Value<'a>,
    /// cel-go's `traits.Sizer`, where the type has it (cost counts by it); `None` counts as 1.
    pub size: Option<for<'a> fn(this: &Opaque<'a>) -> u64>,
    /// What becomes of a value in a field of a protobuf message.
    pub native: Native,
}

/// How upstream's `ConvertToNative` treats values of an opaque type.
#[derive(Clone, Copy)]
pub enum Native {
    /// As nothing that a field can hold; the name is that of its error texts.
    Named(&'static str),
    /// As [`Native::Named`], but as a string where one is wanted.
    Text(&'static str, for<'a> fn(&EvalContext<'a>, this: &'a Opaque<'a>) -> Value<'a>),
    /// It is a message itself.
    Message(&'static Message),
}

/// What Go makes of a value as a key of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoKey {
    /// A pointer: each value is a key of its own.
    Identity,
    /// Values with the same state are one key.
    State,
    /// A panic, with this text.
    Unhashable(&'static str),
}

/// A map with string keys whose values are computed on first read (Kubernetes' `lazy.MapValue`).
pub trait LazyMap<'a> {
    /// Number of declared keys; a key is named by its index where the planner resolved it.
    fn len(&self) -> usize;
    /// Whether there are no keys.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The run-time type's name, as `type(variables)` shows it.
    fn type_name(&self) -> &'a str {
        "map"
    }
    /// The key at `index`, in declaration order.
    fn key(&self, index: usize) -> &'a str;
    /// The index of a key.
    fn index_of(&self, key: &str) -> Option<usize>;
    /// The value of the key at `index`; may evaluate an expression, charge cost and return an error or [`Value::Halt`].
    fn get(&self, ctx: &EvalContext<'a>, index: usize) -> Value<'a>;
}
