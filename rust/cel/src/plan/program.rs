//! A planned expression: flat arrays that refer to each other by index, immutable and shared between threads.

use std::sync::atomic::{AtomicU32, Ordering};

use bumpalo::Bump;

use super::names::Name;
use super::paths::Path;
use crate::cost::Cost;
use crate::function::{Binding, EvalFn, Shape};
use crate::message::Message;
use crate::ops::same_bytes;
use crate::regex::Regex;
use crate::value::{ConstantList, Duration, EvalError, MapValue, Timestamp, Value};

/// A range of one of the program's arrays.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub(crate) first: u32,
    pub(crate) len: u32,
}

impl Span {
    pub(crate) fn of<T>(self, array: &[T]) -> &[T] {
        let first = self.first as usize;
        array.get(first..first + self.len as usize).unwrap_or_default()
    }
}

/// A planned expression, ready to evaluate any number of times.
///
/// A request evaluates hundreds of programs, more than a processor's nearest cache holds: what most of them use stands first, in two of its lines.
#[repr(C)]
pub struct Program {
    pub(crate) nodes: Box<[Node]>,
    pub(crate) root: u32,
    /// Variables of comprehensions.
    pub(crate) locals: u32,
    /// Places for lists and maps that comprehensions build: as many as `locals`, or none.
    pub(crate) builders: u32,
    /// Places for constants that evaluation lays out: as many as `constants`, or none.
    pub(crate) laid_out: u32,
    pub(crate) attributes: Box<[Attribute]>,
    pub(crate) qualifiers: Box<[Qualifier]>,
    /// The names of variables, fields and functions, and constant strings, one after the other.
    pub(super) texts: Box<str>,
    /// Whether cost must be counted by simulating cel-go's stack of observed values; see [`super::tracking`].
    pub(crate) tracked: bool,
    pub(crate) folds: Box<[Fold]>,
    pub(crate) calls: Box<[Call]>,
    /// Node indices that calls and lists refer to.
    pub(crate) operands: Box<[u32]>,
    /// `None` if all of it is empty.
    pub(super) rare: Option<Box<Rare>>,
    /// The expression ids under which cel-go's cost tracker knows the nodes.
    pub(crate) node_ids: Box<[u32]>,
    /// One more than the largest expression id.
    pub(crate) ids: u32,
}

/// What few programs have.
pub(crate) struct Rare {
    pub(crate) sets: Vec<super::set::Set>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) regexes: Vec<Regex>,
    pub(crate) aggregates: Vec<Aggregate>,
    pub(crate) messages: Vec<MessageLiteral>,
}

static NOTHING_RARE: Rare =
    Rare { sets: Vec::new(), constants: Vec::new(), regexes: Vec::new(), aggregates: Vec::new(), messages: Vec::new() };

impl Rare {
    /// `None` if there is nothing in it.
    pub(super) fn kept(mut self) -> Option<Box<Rare>> {
        let Rare { sets, constants, regexes, aggregates, messages } = &mut self;
        let kept = sets.len() + constants.len() + regexes.len() + aggregates.len() + messages.len();
        sets.shrink_to_fit();
        constants.shrink_to_fit();
        regexes.shrink_to_fit();
        aggregates.shrink_to_fit();
        messages.shrink_to_fit();
        (kept > 0).then(|| Box::new(self))
    }
}

const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<Program>();
    assert!(size_of::<Node>() == 16, "four nodes are a line of the cache");
};

impl Program {
    /// Counts cost by simulating cel-go's stack even where that makes no difference; for tests.
    #[must_use]
    pub fn with_tracking(mut self) -> Program {
        self.tracked = true;
        self
    }

    /// Takes the bytes of the compiled constant patterns from `room`. If they are more, the program gives them up and compiles
    /// patterns when they are used.
    pub fn keep_patterns(&mut self, room: &mut usize) {
        let Some(rare) = &mut self.rare else { return };
        match room.checked_sub(rare.regexes.iter().map(Regex::memory).sum()) {
            Some(left) => *room = left,
            None => rare.regexes = Vec::new(),
        }
    }

    /// What few programs have; nothing if this one has none of it.
    #[inline]
    pub(crate) fn rare(&self) -> &Rare {
        self.rare.as_deref().unwrap_or(&NOTHING_RARE)
    }

    /// The text of a name.
    #[inline]
    pub(crate) fn text(&self, name: Name) -> &str {
        name.of(&self.texts)
    }

    /// Whether cost is counted by simulating cel-go's stack.
    pub fn is_tracked(&self) -> bool {
        self.tracked
    }
}

/// One step of evaluation. Nodes that it refers to are indices; where it refers to a call as well, they are the call's arguments, so that these
/// are found without it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Node {
    Bool(bool),
    /// An int that is small; others are constants.
    Int(i32),
    /// A string.
    Text(Name),
    /// An index into `constants`.
    Constant(u32),
    /// An index into `constants`, of a list that is read in place.
    ConstantList(u32),
    /// An iteration variable of which nothing is selected: an attribute in short.
    Local(u32),
    /// A variable or computed value with its selections.
    Attribute(u32),
    /// `has()` of an attribute.
    Test(u32),
    Or(u32, u32),
    And(u32, u32),
    Not(u32),
    Equal(u32, u32),
    NotEqual(u32, u32),
    /// `a < b`, ...; if the flag is set it is charged by the size of the smaller operand, otherwise 1.
    Compare(Comparison, bool, u32, u32),
    Call(u32),
    /// As `Call`, of a function that looks for a string in another, with its arguments.
    Search(Search, u32, u32, u32),
    /// As `Call`, of `in`, with its arguments; if the flag is set it is charged by the size of the second, otherwise 1.
    In(bool, u32, u32, u32),
    /// `x in [constants]`: the operand, and an index into `sets`.
    InSet(u32, u32),
    /// `a.or(b)` of optionals.
    OptionalOr(u32, u32),
    /// `a.orValue(b)`.
    OptionalOrValue(u32, u32),
    /// An index into `aggregates`.
    List(u32),
    /// An index into `aggregates`; keys and values alternate.
    Map(u32),
    /// An index into `aggregates`, and one into `messages`.
    Message(u32, u32),
    Fold(u32),
}

/// An ordering operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// The operator that cel-go knows by this name.
    pub(crate) fn of(function: &str) -> Option<Comparison> {
        let all = [Comparison::Less, Comparison::LessOrEqual, Comparison::Greater, Comparison::GreaterOrEqual];
        all.into_iter().find(|comparison| comparison.function() == function)
    }

    pub(crate) fn function(self) -> &'static str {
        match self {
            Comparison::Less => "_<_",
            Comparison::LessOrEqual => "_<=_",
            Comparison::Greater => "_>_",
            Comparison::GreaterOrEqual => "_>=_",
        }
    }

    /// Whether operands of this order satisfy it.
    #[inline]
    pub(crate) fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// A function that looks for a string in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Search {
    Contains,
    StartsWith,
    EndsWith,
}

impl Search {
    /// The search that an overload is.
    pub(crate) fn of(overload: &str) -> Option<Search> {
        match overload {
            "contains_string" => Some(Search::Contains),
            "starts_with_string" => Some(Search::StartsWith),
            "ends_with_string" => Some(Search::EndsWith),
            _ => None,
        }
    }

    /// Whether the text has the part.
    #[inline]
    pub(crate) fn finds(self, text: &str, part: &str) -> bool {
        let (text_bytes, part_bytes) = (text.as_bytes(), part.as_bytes());
        match self {
            Search::Contains => text.contains(part),
            Search::StartsWith => text_bytes.get(..part.len()).is_some_and(|start| same_bytes(start, part_bytes)),
            Search::EndsWith => {
                let start = text.len().checked_sub(part.len());
                start.and_then(|start| text_bytes.get(start..)).is_some_and(|end| same_bytes(end, part_bytes))
            }
        }
    }
}

/// A literal list, map or message.
#[derive(Debug)]
pub(crate) struct Aggregate {
    /// Elements, or keys and values in turn, in `operands`.
    pub(crate) parts: Span,
    /// Marks elements or entries written with `?`; empty if there are none.
    pub(crate) optional: Box<[bool]>,
}

/// What a literal message is.
pub(crate) struct MessageLiteral {
    /// The type's name.
    pub(crate) name: Box<str>,
    /// `None` for types that only the checker knows.
    pub(crate) message: Option<&'static Message>,
    /// The names of its fields as written, with their indices in the message.
    pub(crate) fields: Box<[(Box<str>, usize)]>,
}

/// A variable or computed value, and what is selected from it.
#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) base: Base,
    /// In `qualifiers`.
    pub(crate) path: Span,
    pub(crate) id: u32,
    /// That of a plain attribute.
    pub(crate) numbered: Path,
    /// Whether it is fields, none of them optional, of a variable: what [`crate::eval`] can follow in one go.
    pub(crate) plain: bool,
    /// Whether it is a `has()`.
    pub(crate) tests: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Base {
    /// A variable of the caller: its slot and its name.
    Slot(u32, Name),
    /// A variable that the caller does not have.
    Missing(Name),
    /// An iteration variable.
    Local(u32),
    /// An accumulator: its place, and the node that gives its first value.
    Accumulator(u32, u32),
    /// A computed value.
    Node(u32),
    /// `condition ? a : b`: a node and two attributes, to which selections have been distributed.
    Conditional(u32, u32, u32),
}

/// A field or index selected.
#[derive(Debug)]
pub(crate) struct Qualifier {
    pub(crate) id: u32,
    pub(crate) optional: bool,
    pub(crate) kind: QualifierKind,
    /// Where the field was found last, a guess for the next time.
    pub(crate) hint: Hint,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum QualifierKind {
    /// A field.
    String(Name),
    /// A number or bool; an index into `constants`.
    Constant(u32),
    /// The value of an attribute.
    Attribute(u32),
    /// A computed value, as an attribute.
    Computed(u32),
    /// The last field of `has()`.
    Test(Name),
}

/// A position remembered between evaluations and shared by threads. Only a guess: any value is right.
#[derive(Debug, Default)]
pub(crate) struct Hint(AtomicU32);

impl Hint {
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self, position: u32) {
        self.0.store(position, Ordering::Relaxed);
    }
}

/// A function call.
pub(crate) struct Call {
    /// Its expression id.
    pub(crate) id: u32,
    pub(crate) function: Name,
    pub(crate) operation: Operation,
    /// In `operands`; the receiver first.
    pub(crate) args: Span,
    pub(crate) shape: Shape,
    pub(crate) cost: Cost,
    /// Whether errors are arguments like others.
    pub(crate) non_strict: bool,
    /// The constant pattern, in `regexes`.
    pub(crate) regex: Option<u32>,
}

/// What a call does.
pub(crate) enum Operation {
    /// `@not_strictly_false(x)`
    NotStrictlyFalse,
    /// `x + y`
    Add,
    /// `accumulator + list` in a comprehension's step: the accumulator's place, and the only element of a list `[element]`.
    Append(u32, Option<u32>),
    /// `cel.@mapInsert(accumulator, ...)` in a comprehension's step.
    Insert(u32),
    /// A function without type guards.
    Direct(EvalFn),
    /// Everything else.
    Bound(Binding),
}

/// A comprehension.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) range: u32,
    pub(crate) accumulator: u32,
    pub(crate) variable: u32,
    /// The second variable's place.
    pub(crate) variable2: Option<u32>,
    pub(crate) condition: u32,
    pub(crate) step: u32,
    pub(crate) result: u32,
    /// Whether the step builds a list or map in place.
    pub(crate) builds: bool,
    /// The predicate, if this is what `all` or `exists` expands to; true for `all`.
    pub(crate) quantifier: Option<(u32, bool)>,
}

/// A constant, owned by the program.
#[derive(Debug, Clone)]
pub(crate) enum Constant {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Box<str>),
    Bytes(Box<[u8]>),
    Duration(Duration),
    Timestamp(Timestamp),
    Type(Box<str>),
    List(Box<[Constant]>),
    Map(Box<[(Constant, Constant)]>),
    Error(Box<str>),
}

impl Constant {
    /// The constant as a value. Lists and maps are laid out in the arena, the rest is borrowed.
    pub(crate) fn value<'a>(&'a self, arena: &'a Bump) -> Value<'a> {
        match self {
            Constant::List(elements) => {
                Value::List(arena.alloc_slice_fill_iter(elements.iter().map(|element| element.value(arena))))
            }
            Constant::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| (key.value(arena), value.value(arena)));
                Value::Map(MapValue::new(arena, arena.alloc_slice_fill_iter(entries)))
            }
            other => other.in_place().unwrap_or(Value::Null),
        }
    }

    /// The constant as a value without an arena, which only maps need; a list's elements are read in place as well.
    #[inline]
    pub(crate) fn in_place(&self) -> Option<Value<'_>> {
        Some(match self {
            Constant::String(text) => Value::String(text),
            Constant::Int(i) => Value::Int(*i),
            Constant::List(elements) => Value::Constants(ConstantList::new(elements)),
            Constant::Null => Value::Null,
            Constant::Bool(b) => Value::Bool(*b),
            Constant::Uint(u) => Value::Uint(*u),
            Constant::Double(d) => Value::Double(*d),
            Constant::Bytes(bytes) => Value::Bytes(bytes),
            Constant::Duration(duration) => Value::Duration(*duration),
            Constant::Timestamp(timestamp) => Value::Timestamp(*timestamp),
            Constant::Type(name) => Value::Type(name),
            Constant::Error(message) => Value::Error(EvalError { message }),
            Constant::Map(_) => return None,
        })
    }

    /// Whether there is a map in it.
    pub(crate) fn has_map(&self) -> bool {
        match self {
            Constant::Map(_) => true,
            Constant::List(elements) => elements.iter().any(Constant::has_map),
            _ => false,
        }
    }

    /// A value as a constant, `None` if it is of a kind that only evaluation makes.
    pub(crate) fn of(value: Value<'_>) -> Option<Constant> {
        Some(match value {
            Value::Null => Constant::Null,
            Value::Bool(b) => Constant::Bool(b),
            Value::Int(i) => Constant::Int(i),
            Value::Uint(u) => Constant::Uint(u),
            Value::Double(d) => Constant::Double(d),
            Value::String(text) => Constant::String(Box::from(text)),
            Value::Bytes(bytes) => Constant::Bytes(Box::from(bytes)),
            Value::Duration(duration) => Constant::Duration(duration),
            Value::Timestamp(timestamp) => Constant::Timestamp(timestamp),
            Value::Type(name) => Constant::Type(Box::from(name)),
            Value::Error(error) => Constant::Error(Box::from(error.message)),
            Value::List(elements) => {
                Constant::List(elements.iter().map(|element| Constant::of(*element)).collect::<Option<_>>()?)
            }
            Value::Map(map) => {
                let entry = |(key, value): &(Value<'_>, Value<'_>)| Some((Constant::of(*key)?, Constant::of(*value)?));
                Constant::Map(map.entries.iter().map(entry).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
}
