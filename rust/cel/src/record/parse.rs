//! Checking a record's bytes once, so that reading it needs no more checks than Rust's own.

use super::{CELL, Cell, MAGIC, Record, Tag};

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
    pub fn parse(bytes: &'a [u8]) -> Result<Record<'a>, RecordError> {
        let (header, rest) = bytes.split_first_chunk::<16>().ok_or(RecordError::Truncated)?;
        let header = Cell::decode(header);
        // The header has a cell's shape: magic and cell count where a cell has tag to length, then heap size and roots.
        let magic = bytes.first_chunk::<4>().map(|magic| u32::from_le_bytes(*magic));
        if magic != Some(MAGIC) {
            return Err(RecordError::Magic);
        }
        let count = header.len as usize;
        let heap_len = (header.payload & 0xffff_ffff) as usize;
        let roots = (header.payload >> 32) as u32;
        let (cells, rest) = rest.split_at_checked(count.saturating_mul(CELL)).ok_or(RecordError::Truncated)?;
        let (heap, _) = rest.split_at_checked(heap_len).ok_or(RecordError::Truncated)?;
        let heap = std::str::from_utf8(heap).map_err(|_| RecordError::Utf8)?;
        let (cells, _) = cells.as_chunks::<CELL>();
        let record = Record { cells, heap, roots, space: 0 };
        if roots as usize > count {
            return Err(RecordError::Cell);
        }
        for index in 0..count {
            record.check(index).ok_or(RecordError::Cell)?;
        }
        Ok(record)
    }

    /// `None` if the cell at `index` is not what the format allows.
    fn check(&self, index: usize) -> Option<()> {
        let cell = Cell::decode(self.cells.get(index)?);
        match Tag::of(cell.tag)? {
            Tag::Absent | Tag::Null | Tag::Bool | Tag::Int | Tag::Uint | Tag::Double => {}
            Tag::String | Tag::Error => {
                let start = usize::try_from(cell.payload).ok()?;
                self.heap.get(start..start.checked_add(cell.len as usize)?)?;
            }
            Tag::List => {
                let children = self.children(index, cell, cell.len as usize)?;
                if children.iter().any(|child| child[0] == Tag::Absent as u8) {
                    return None;
                }
            }
            tag @ (Tag::Map | Tag::Struct) => {
                let children = self.children(index, cell, (cell.len as usize).checked_mul(2)?)?;
                let (pairs, _) = children.as_chunks::<2>();
                for [key, value] in pairs {
                    let unset = value[0] == Tag::Absent as u8;
                    if key[0] != Tag::String as u8 || (unset && tag == Tag::Map) {
                        return None;
                    }
                }
            }
        }
        Some(())
    }

    fn children(&self, parent: usize, cell: Cell, count: usize) -> Option<&'a [[u8; CELL]]> {
        let start = usize::try_from(cell.payload).ok()?;
        if count > 0 && start <= parent {
            return None;
        }
        let end = start.checked_add(count)?;
        if count == 0 {
            return Some(&[]);
        }
        self.cells.get(start..end)
    }
}
