//! Reading lists, whatever they are made of.

use super::Value;
use crate::plan::Constant;
use crate::record::{RecordElements, RecordRef};

/// Two non-empty lists seen as one. Joining is O(1) as in cel-go; elements are found by walking down.
pub struct ConcatList<'a> {
    left: ListView<'a>,
    right: ListView<'a>,
    len: usize,
    depth: u32,
}

/// Joins nest no deeper than this; beyond it the elements are copied.
const MAX_CONCAT_DEPTH: u32 = 1000;

impl<'a> ConcatList<'a> {
    /// Joins two lists; `None` when the result would nest too deep or have more elements than can be counted.
    pub(crate) fn join(left: ListView<'a>, right: ListView<'a>) -> Option<ConcatList<'a>> {
        let depth = left.depth().max(right.depth()) + 1;
        let len = left.len().checked_add(right.len())?;
        (depth <= MAX_CONCAT_DEPTH).then_some(ConcatList { left, right, len, depth })
    }

    fn get(&self, index: usize) -> Option<Value<'a>> {
        let mut list = self;
        let mut index = index;
        loop {
            let split = list.left.len();
            let side = if index < split {
                list.left
            } else {
                index -= split;
                list.right
            };
            match side {
                ListView::Concat(inner) => list = inner,
                other => return other.get(index),
            }
        }
    }
}

/// A list of constants that the program owns. None of them is a map, so that they can be read without an arena.
#[derive(Clone, Copy)]
pub struct ConstantList<'a>(&'a [Constant]);

impl<'a> ConstantList<'a> {
    pub(crate) fn new(elements: &'a [Constant]) -> Self {
        ConstantList(elements)
    }

    /// Whether the two are the same place in the program.
    pub(crate) fn same(self, other: Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

/// A list for reading.
#[derive(Clone, Copy)]
pub enum ListView<'a> {
    /// Elements in memory.
    Slice(&'a [Value<'a>]),
    /// Elements in the program.
    Constants(ConstantList<'a>),
    /// Two lists joined.
    Concat(&'a ConcatList<'a>),
    /// Elements in a record.
    Record(RecordRef<'a>),
}

impl<'a> ListView<'a> {
    /// The list in `value`, if it is one.
    #[inline]
    pub fn of(value: Value<'a>) -> Option<ListView<'a>> {
        match value {
            Value::List(elements) => Some(ListView::Slice(elements)),
            Value::Constants(list) => Some(ListView::Constants(list)),
            Value::Concat(list) => Some(ListView::Concat(list)),
            Value::Record(record) if record.is_list() => Some(ListView::Record(record)),
            _ => None,
        }
    }

    /// The list as a value.
    pub fn value(self) -> Value<'a> {
        match self {
            ListView::Slice(elements) => Value::List(elements),
            ListView::Constants(list) => Value::Constants(list),
            ListView::Concat(list) => Value::Concat(list),
            ListView::Record(record) => Value::Record(record),
        }
    }

    /// Number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            ListView::Slice(elements) => elements.len(),
            ListView::Constants(list) => list.0.len(),
            ListView::Concat(list) => list.len,
            ListView::Record(record) => record.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Value<'a>> {
        match self {
            ListView::Slice(elements) => elements.get(index).copied(),
            ListView::Constants(list) => list.0.get(index)?.in_place(),
            ListView::Concat(list) => list.get(index),
            ListView::Record(record) => record.element(index),
        }
    }

    /// The elements in order.
    pub fn iter(&self) -> ListIter<'a> {
        ListIter(match *self {
            ListView::Slice(elements) => Elements::Slice(elements.iter()),
            ListView::Record(record) => Elements::Record(record.elements()),
            list => Elements::Other { list, next: 0, len: list.len() },
        })
    }

    /// Whether it is read by reflection upstream (strict about operand types).
    pub fn is_typed(&self) -> bool {
        matches!(self, ListView::Record(record) if record.is_typed())
    }

    fn depth(&self) -> u32 {
        match self {
            ListView::Concat(list) => list.depth,
            _ => 0,
        }
    }
}

/// Iterates over a list's elements.
pub struct ListIter<'a>(Elements<'a>);

enum Elements<'a> {
    Slice(std::slice::Iter<'a, Value<'a>>),
    Record(RecordElements<'a>),
    Other { list: ListView<'a>, next: usize, len: usize },
}

impl<'a> Iterator for ListIter<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        match &mut self.0 {
            Elements::Slice(elements) => elements.next().copied(),
            Elements::Record(elements) => elements.next(),
            Elements::Other { next, len, .. } if *next >= *len => None,
            Elements::Other { list, next, .. } => {
                *next += 1;
                list.get(*next - 1)
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match &self.0 {
            Elements::Slice(elements) => elements.len(),
            Elements::Record(elements) => elements.size_hint().0,
            Elements::Other { next, len, .. } => len - next,
        };
        (left, Some(left))
    }
}

impl ExactSizeIterator for ListIter<'_> {}
