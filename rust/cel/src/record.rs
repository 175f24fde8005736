//! The record format: how objects cross from Go, read in place. `docs/record-format.md` is its definition.

use crate::value::Value;

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
}

/// A record whose header and UTF-8 have been checked; cells are checked when read, so hostile bytes give errors, not panics.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    cells: &'a [u8],
    heap: &'a str,
    roots: u32,
}

/// A list, map or struct inside a record.
#[derive(Clone, Copy)]
pub struct RecordRef<'a> {
    record: &'a Record<'a>,
    cell: u32,
}

/// Why bytes are not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordError {
    /// Shorter than its header or the sizes in it.
    Truncated,
    /// Not this format or version.
    Magic,
    /// The heap is not UTF-8.
    Utf8,
    /// A cell points outside the record, or backwards, or has an unknown tag.
    Cell,
}

impl<'a> Record<'a> {
    /// Reads the header and checks every cell once: tags, bounds, and that children lie after their parent (so there are no cycles).
    pub fn parse(_bytes: &'a [u8]) -> Result<Record<'a>, RecordError> {
        Err(RecordError::Magic)
    }

    /// Number of root cells.
    pub fn roots(&self) -> u32 {
        self.roots
    }

    /// The value of a root; `None` when there is no such root or it is [`Tag::Absent`].
    pub fn root(&'a self, _index: u32) -> Option<Value<'a>> {
        None
    }
}
