//! A record that owns its bytes: checked when it is made, read any number of times after that.

use super::{CELL, Record, RecordError};

/// An owned record.
#[derive(Clone)]
pub struct OwnedRecord {
    cells: Box<[[u8; CELL]]>,
    heap: Box<str>,
    roots: u32,
}

impl OwnedRecord {
    /// Checks the bytes as [`Record::parse`] does, and copies them.
    pub fn parse(bytes: &[u8]) -> Result<OwnedRecord, RecordError> {
        let record = Record::parse(bytes)?;
        Ok(OwnedRecord { cells: record.cells.into(), heap: record.heap.into(), roots: record.roots })
    }

    /// The record, without checking it again.
    #[inline]
    pub fn as_record(&self) -> Record<'_> {
        Record { cells: &self.cells, heap: &self.heap, roots: self.roots, space: 0 }
    }
}

impl std::fmt::Debug for OwnedRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OwnedRecord({} cells, {} bytes of text)", self.cells.len(), self.heap.len())
    }
}
