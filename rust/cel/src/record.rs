//! The record format: how objects cross from Go, read in place. `docs/record-format.md` is its definition.

mod edit;
mod owned;
mod parse;
#[cfg(test)]
mod tests;

pub use edit::Edit;
pub use owned::OwnedRecord;
pub use parse::RecordError;

use bumpalo::Bump;

use crate::ops;
use crate::value::{EvalError, Value};

/// Bytes per cell.
pub const CELL: usize = 16;

/// Version of the format, in a record's first word.
pub const MAGIC: u32 = 0x3152_4743; // "CGR1", little-endian

/// The kind of a cell (byte 0).
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// A slot whose field is not set.
    Absent = 0,
    /// `null`
    Null = 1,
    /// payload 0 or 1
    Bool = 2,
    /// payload is an i64
    Int = 3,
    /// payload is a u64
    Uint = 4,
    /// payload is the bits of an f64
    Double = 5,
    /// `len` bytes of UTF-8 at heap offset `payload`
    String = 6,
    /// `len` cells from cell index `payload`
    List = 7,
    /// `len` entries from cell index `payload`: key cell, value cell, ...
    Map = 8,
    /// as `Map`, of a Go struct
    Struct = 9,
    /// a value that upstream gives as an error: text as in `String`
    Error = 10,
}

impl Tag {
    // As bytes, for patterns.
    const ABSENT: u8 = Tag::Absent as u8;
    const BOOL: u8 = Tag::Bool as u8;
    const INT: u8 = Tag::Int as u8;
    const UINT: u8 = Tag::Uint as u8;
    const DOUBLE: u8 = Tag::Double as u8;
    const STRING: u8 = Tag::String as u8;
    const LIST: u8 = Tag::List as u8;
    const MAP: u8 = Tag::Map as u8;
    const STRUCT: u8 = Tag::Struct as u8;
    const ERROR: u8 = Tag::Error as u8;

    fn of(byte: u8) -> Option<Tag> {
        Some(match byte {
            0 => Tag::Absent,
            1 => Tag::Null,
            2 => Tag::Bool,
            3 => Tag::Int,
            4 => Tag::Uint,
            5 => Tag::Double,
            6 => Tag::String,
            7 => Tag::List,
            8 => Tag::Map,
            9 => Tag::Struct,
            10 => Tag::Error,
            _ => return None,
        })
    }
}

/// Flag bits of a cell (byte 1).
pub mod flags {
    /// The list or map is read by reflection from a Go type (upstream's `reflectSchemalessTyped*` values): strict about operand types.
    pub const TYPED: u8 = 1;
    /// The string is a `resource.Quantity` (compared by value inside whole-struct equality).
    pub const QUANTITY: u8 = 2;
    /// The string is a `metav1.Time` or `MicroTime` (compared as an instant inside whole-struct equality).
    pub const TIME: u8 = 4;
    /// A map whose keys are known to be sorted bytewise.
    pub const SORTED: u8 = 8;
    /// The string or null is a Go `[]byte` (a nil one is equal to an empty one inside whole-struct equality).
    pub const BYTES: u8 = 16;
}

/// A record whose bytes have been checked by [`Record::parse`].
#[derive(Clone, Copy)]
pub struct Record<'a> {
    cells: &'a [[u8; CELL]],
    heap: &'a str,
    roots: u32,
    /// Tells edited copies apart whose paths are remembered; 0 is none.
    space: u8,
}

/// One cell, decoded.
#[derive(Clone, Copy)]
struct Cell {
    tag: u8,
    flags: u8,
    len: u32,
    payload: u64,
}

impl Cell {
    #[inline]
    fn decode(bytes: &[u8; CELL]) -> Cell {
        let [tag, flags, _, _, l0, l1, l2, l3, p0, p1, p2, p3, p4, p5, p6, p7] = *bytes;
        Cell {
            tag,
            flags,
            len: u32::from_le_bytes([l0, l1, l2, l3]),
            payload: u64::from_le_bytes([p0, p1, p2, p3, p4, p5, p6, p7]),
        }
    }
}

impl<'a> Record<'a> {
    /// Number of root cells.
    pub fn roots(&self) -> u32 {
        self.roots
    }

    /// The value of a root; `None` when there is no such root or it is [`Tag::Absent`].
    pub fn root(&'a self, index: u32) -> Option<Value<'a>> {
        if index < self.roots { self.value(index) } else { None }
    }

    #[inline]
    fn cell(&self, index: u32) -> Option<Cell> {
        self.cells.get(index as usize).map(Cell::decode)
    }

    #[inline]
    fn text(&self, cell: Cell) -> &'a str {
        let start = cell.payload as usize;
        // The range was checked when the record was parsed.
        self.heap.get(start..start.wrapping_add(cell.len as usize)).unwrap_or_default()
    }

    /// Whether a string cell has this text.
    #[inline]
    fn text_is(&self, cell: &[u8; CELL], text: &str) -> bool {
        let cell = Cell::decode(cell);
        if cell.len as usize != text.len() {
            return false;
        }
        let start = cell.payload as usize;
        let known = self.heap.as_bytes().get(start..start.wrapping_add(text.len()));
        known.is_some_and(|known| ops::same_bytes(known, text.as_bytes()))
    }

    /// The value in a cell, `None` if the cell is absent.
    #[inline]
    fn value(&'a self, index: u32) -> Option<Value<'a>> {
        self.decoded(self.cell(index)?, index)
    }

    /// The value of the cell of this index, `None` if it is absent.
    #[inline]
    fn decoded(&'a self, cell: Cell, index: u32) -> Option<Value<'a>> {
        if cell.tag == Tag::ABSENT { None } else { Some(self.present(cell, index)) }
    }

    /// The value of the cell of this index, which is not absent. (Not an `Option` on the way to those who know: taking values out of one
    /// costs more than reading them.)
    #[inline(always)]
    fn present(&'a self, cell: Cell, index: u32) -> Value<'a> {
        match cell.tag {
            Tag::BOOL => Value::Bool(cell.payload != 0),
            Tag::INT => Value::Int(cell.payload as i64),
            Tag::UINT => Value::Uint(cell.payload),
            Tag::DOUBLE => Value::Double(f64::from_bits(cell.payload)),
            Tag::STRING => Value::String(self.text(cell)),
            Tag::LIST | Tag::MAP | Tag::STRUCT => Value::Record(RecordRef { record: self, cell: index }),
            Tag::ERROR => Value::Error(EvalError { message: self.text(cell) }),
            _ => Value::Null,
        }
    }
}

/// A list, map or struct inside a record.
#[derive(Clone, Copy)]
pub struct RecordRef<'a> {
    record: &'a Record<'a>,
    cell: u32,
}

impl<'a> RecordRef<'a> {
    #[inline]
    fn header(&self) -> Cell {
        self.record.cell(self.cell).unwrap_or(Cell { tag: Tag::List as u8, flags: 0, len: 0, payload: 0 })
    }

    /// The kind: [`Tag::List`], [`Tag::Map`] or [`Tag::Struct`].
    pub fn tag(&self) -> Tag {
        Tag::of(self.header().tag).unwrap_or(Tag::List)
    }

    /// Whether it is a list.
    #[inline]
    pub fn is_list(&self) -> bool {
        self.header().tag == Tag::List as u8
    }

    /// Whether upstream reads it by reflection from a Go type.
    #[inline]
    pub fn is_typed(&self) -> bool {
        self.header().flags & flags::TYPED != 0
    }

    /// Whether it is a Go struct.
    pub fn is_struct(&self) -> bool {
        let header = self.header();
        header.tag == Tag::Struct as u8 && header.flags & flags::TYPED != 0
    }

    /// A number of the Go struct's type, the same for all of that type in the process; 0 if it is not known, or for what is no struct.
    pub(crate) fn go_type(&self) -> u16 {
        self.record.cells.get(self.cell as usize).map_or(0, |cell| u16::from_le_bytes([cell[2], cell[3]]))
    }

    /// Whether it is in this record.
    #[inline]
    pub(crate) fn is_in(&self, record: &Record<'a>) -> bool {
        std::ptr::eq(self.record, record)
    }

    /// The space of its record: what [`Self::edited`] was given, otherwise 0.
    #[inline]
    pub(crate) fn space(&self) -> u8 {
        self.record.space
    }

    /// The index of its cell.
    #[inline]
    pub(crate) fn cell_index(&self) -> u32 {
        self.cell
    }

    /// The value in another cell of its record, which is not absent.
    #[inline]
    pub(crate) fn value_at(&self, index: u32) -> Value<'a> {
        match self.record.cell(index) {
            Some(cell) => self.record.present(cell, index),
            None => Value::Null,
        }
    }

    /// Whether the two are the same cell of the same record.
    pub(crate) fn same(&self, other: &RecordRef<'a>) -> bool {
        std::ptr::eq(self.record, other.record) && self.cell == other.cell
    }

    /// Number of elements or entries.
    #[inline]
    pub fn len(&self) -> usize {
        let header = self.header();
        if header.tag == Tag::Struct as u8 {
            let present = |i: &u32| self.entry_value(header, *i).is_some();
            return (0..header.len).filter(present).count();
        }
        header.len as usize
    }

    /// Number of stored positions, unset slots of a struct included.
    pub(crate) fn stored_len(&self) -> usize {
        self.header().len as usize
    }

    /// Whether there are no elements or entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element of a list.
    #[inline]
    pub fn element(&self, index: usize) -> Option<Value<'a>> {
        let header = self.header();
        if index >= header.len as usize {
            return None;
        }
        self.record.value((header.payload as u32).wrapping_add(index as u32))
    }

    /// The value under a key of a map or struct.
    #[inline]
    pub fn field(&self, name: &str) -> Option<Value<'a>> {
        let mut place = Place::of(*self);
        if place.enter(name, &mut 0) { place.value() } else { None }
    }

    /// Whether a map or struct has this key; `None` if its value is an error.
    #[inline]
    pub(crate) fn has_key(&self, name: &str) -> Option<bool> {
        let mut place = Place::of(*self);
        if !place.enter(name, &mut 0) {
            return Some(false);
        }
        match place.cell.tag {
            Tag::ERROR => None,
            tag => Some(tag != Tag::ABSENT),
        }
    }

    /// Whether a text is among a list's elements.
    #[inline]
    pub(crate) fn has_element(&self, text: &str) -> bool {
        let header = self.header();
        let first = header.payload as usize;
        let cells = self.record.cells.get(first..first.wrapping_add(header.len as usize)).unwrap_or_default();
        cells.iter().any(|cell| Cell::decode(cell).tag == Tag::STRING && self.record.text_is(cell, text))
    }

    /// The list's elements.
    pub(crate) fn elements(&self) -> RecordElements<'a> {
        let header = self.header();
        let first = header.payload as u32;
        RecordElements { record: self.record, next: first, end: first.wrapping_add(header.len) }
    }

    /// Key and value at a stored position; `None` past the end, and for a slot of a struct that is not set.
    pub fn entry(&self, position: usize) -> Option<(&'a str, Value<'a>)> {
        let header = self.header();
        let position = u32::try_from(position).ok().filter(|&position| position < header.len)?;
        Some((self.entry_key(header, position), self.entry_value(header, position)?))
    }

    /// Stored positions in order of keys, without unset slots; `None` when all positions in stored order are just that.
    pub(crate) fn order(&self, arena: &'a Bump) -> Option<&'a [u32]> {
        let header = self.header();
        let sorted = header.flags & flags::SORTED != 0
            || (1..header.len).all(|i| self.entry_key(header, i - 1) <= self.entry_key(header, i));
        let gaps = header.tag == Tag::Struct as u8 && self.len() != header.len as usize;
        if sorted && !gaps {
            return None;
        }
        let present = (0..header.len).filter(|&i| self.entry_value(header, i).is_some());
        let mut order = bumpalo::collections::Vec::from_iter_in(present, arena);
        order.sort_unstable_by_key(|&i| self.entry_key(header, i));
        Some(order.into_bump_slice())
    }

    /// Flags of the value cell at a stored position of a map or struct, or of a list's element.
    pub(crate) fn child_flags(&self, position: usize) -> u8 {
        let header = self.header();
        let stride = if header.tag == Tag::List as u8 { position } else { position * 2 + 1 };
        self.record.cell((header.payload as u32).wrapping_add(stride as u32)).map_or(0, |cell| cell.flags)
    }

    #[inline]
    fn entry_key(&self, header: Cell, position: u32) -> &'a str {
        let index = (header.payload as u32).wrapping_add(position.wrapping_mul(2));
        self.record.cell(index).map_or("", |cell| self.record.text(cell))
    }

    #[inline]
    fn entry_value(&self, header: Cell, position: u32) -> Option<Value<'a>> {
        self.record.value(value_index(header, position))
    }
}

/// A cell of a record, read: how paths of fields are followed without making a [`Value`] of each step.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    record: &'a Record<'a>,
    index: u32,
    cell: Cell,
}

impl<'a> Place<'a> {
    #[inline]
    pub(crate) fn of(value: RecordRef<'a>) -> Place<'a> {
        Place { record: value.record, index: value.cell, cell: value.header() }
    }

    /// Whether it has fields.
    #[inline]
    pub(crate) fn is_map(&self) -> bool {
        self.cell.tag == Tag::Map as u8 || self.cell.tag == Tag::Struct as u8
    }

    /// The index of the cell.
    #[inline]
    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    /// The value here, where there is one.
    #[inline(always)]
    pub(crate) fn present(&self) -> Value<'a> {
        self.record.present(self.cell, self.index)
    }

    /// The value here; `None` for the field of a struct that is not set.
    #[inline]
    pub(crate) fn value(&self) -> Option<Value<'a>> {
        self.record.decoded(self.cell, self.index)
    }

    /// Whether there is a value here, and not an error.
    #[inline]
    pub(crate) fn is_good(&self) -> bool {
        self.cell.tag != Tag::Absent as u8 && self.cell.tag != Tag::Error as u8
    }

    /// Goes to the field of a map or struct, false if there is none; `hint` is the position to look at first, and becomes the
    /// position found.
    #[inline(always)]
    pub(crate) fn enter(&mut self, name: &str, hint: &mut u32) -> bool {
        if let Some([key, value]) = self.pair(*hint)
            && self.record.text_is(key, name)
        {
            self.index = value_index(self.cell, *hint);
            self.cell = Cell::decode(value);
            return true;
        }
        self.search(name, hint)
    }

    /// Goes to a field that is not where it was expected.
    #[inline(never)]
    fn search(&mut self, name: &str, hint: &mut u32) -> bool {
        let Some(position) = position(self.record, self.cell, self.pairs(), name) else { return false };
        let Some([_, value]) = self.pair(position) else { return false };
        *hint = position;
        self.index = value_index(self.cell, position);
        self.cell = Cell::decode(value);
        true
    }

    /// The key and value cells at a position.
    #[inline]
    fn pair(&self, position: u32) -> Option<&'a [[u8; CELL]; 2]> {
        if position >= self.cell.len {
            return None;
        }
        let first = self.cell.payload as usize;
        self.record.cells.get(first.wrapping_add(position as usize * 2)..)?.first_chunk()
    }

    /// Key and value cells.
    #[inline]
    fn pairs(&self) -> &'a [[[u8; CELL]; 2]] {
        let start = self.cell.payload as usize;
        let cells = self.record.cells.get(start..start.wrapping_add(self.cell.len as usize * 2));
        cells.unwrap_or_default().as_chunks::<2>().0
    }
}

/// Where a field is, looked for among all.
fn position(record: &Record<'_>, cell: Cell, pairs: &[[[u8; CELL]; 2]], name: &str) -> Option<u32> {
    let found = if cell.flags & flags::SORTED != 0 && pairs.len() > 16 {
        pairs.binary_search_by(|[key, _]| record.text(Cell::decode(key)).cmp(name)).ok()
    } else {
        pairs.iter().position(|[key, _]| record.text_is(key, name))
    };
    found.map(|position| position as u32)
}

/// The elements of a list in a record.
pub(crate) struct RecordElements<'a> {
    record: &'a Record<'a>,
    next: u32,
    end: u32,
}

impl<'a> Iterator for RecordElements<'a> {
    type Item = Value<'a>;

    #[inline]
    fn next(&mut self) -> Option<Value<'a>> {
        if self.next >= self.end {
            return None;
        }
        self.next += 1;
        self.record.value(self.next - 1)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end.saturating_sub(self.next) as usize;
        (left, Some(left))
    }
}

/// The cell of the value at a position of a map or struct.
#[inline]
fn value_index(header: Cell, position: u32) -> u32 {
    (header.payload as u32).wrapping_add(position.wrapping_mul(2)).wrapping_add(1)
}
