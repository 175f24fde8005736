//! Paths of fields that many expressions follow in one record, or in edited copies of its parts, are followed once.
//!
//! The expressions of policies differ, but they look at the same fields. Where a path leads from a cell depends on the record alone; what it
//! costs is charged each time.

use std::cell::Cell;

use crate::mutants::{Mutant, planted};
use crate::record::{Record, RecordRef};

/// Entries of a memo; two paths that fall on the same one displace each other.
const ENTRIES: usize = 1024;

/// So many spaces edited copies can have, 0 included.
pub const SPACES: u8 = 64;

/// The bits of a cell's index in the origin of a path; above them is the space.
const CELL_BITS: u32 = 26;

/// The place where a tested field is not.
const NOWHERE: u32 = u32::MAX;

/// Where paths have led in one record.
#[derive(Debug)]
pub struct Memo {
    entries: Box<[Cell<Entry>; ENTRIES]>,
    /// Tells entries of this record from those of earlier ones.
    generation: Cell<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    generation: u32,
    /// See [`crate::plan::paths`]; never 0.
    path: u32,
    from: u32,
    to: u32,
}

/// An entry that no path has.
const EMPTY: Entry = Entry { generation: 0, path: 0, from: 0, to: 0 };

/// What a memo knows of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// It leads to this cell, which has a value that is no error.
    Cell(u32),
    /// It leads to a map that does not have the last field.
    Nowhere,
}

impl Default for Memo {
    fn default() -> Memo {
        Memo { entries: Box::new([const { Cell::new(EMPTY) }; ENTRIES]), generation: Cell::new(1) }
    }
}

impl Memo {
    /// Forgets all paths: the next record comes.
    pub fn begin(&self) {
        if planted(Mutant::PathsOutliveRecord) {
            return;
        }
        let next = self.generation.get().wrapping_add(1);
        if next == 0 {
            self.entries.iter().for_each(|entry| entry.set(EMPTY));
        }
        self.generation.set(next.max(1));
    }

    #[inline]
    fn entry(&self, from: u32, path: u32) -> Option<&Cell<Entry>> {
        let mixed = (from ^ path.rotate_left(16)).wrapping_mul(0x9e37_79b1);
        self.entries.get((mixed >> 22) as usize)
    }

    #[inline]
    fn find(&self, from: u32, path: u32) -> Option<Known> {
        let entry = self.entry(from, path)?.get();
        if entry.path != path || entry.from != from || entry.generation != self.generation.get() {
            return None;
        }
        Some(if entry.to == NOWHERE { Known::Nowhere } else { Known::Cell(entry.to) })
    }

    fn put(&self, from: u32, path: u32, known: Known) {
        let to = match known {
            Known::Cell(to) => to,
            Known::Nowhere => NOWHERE,
        };
        if let Some(entry) = self.entry(from, path) {
            entry.set(Entry { generation: self.generation.get(), path, from, to });
        }
    }
}

/// A memo with the record that it is about.
#[derive(Clone, Copy)]
pub(crate) struct MemoOf<'a> {
    pub(crate) memo: &'a Memo,
    pub(crate) record: &'a Record<'a>,
}

impl<'a> MemoOf<'a> {
    /// What is known of a path from there, if that is in the memo's record.
    #[inline]
    pub(crate) fn find(&self, from: RecordRef<'a>, path: u32) -> Option<Known> {
        self.memo.find(self.origin(from)?, path)
    }

    pub(crate) fn put(&self, from: RecordRef<'a>, path: u32, known: Known) {
        if let Some(origin) = self.origin(from) {
            self.memo.put(origin, path, known);
        }
    }

    /// A cell among all whose paths are remembered.
    #[inline]
    fn origin(&self, from: RecordRef<'a>) -> Option<u32> {
        let space = match from.space() {
            0 if from.is_in(self.record) => 0,
            0 | SPACES.. => return None,
            space => u32::from(space) << CELL_BITS,
        };
        let cell = from.cell_index();
        if cell >> CELL_BITS == 0 { Some(space | cell) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_known_until_the_next_record() {
        let memo = Memo::default();
        memo.begin();
        assert_eq!(memo.find(7, 3), None);
        memo.put(7, 3, Known::Cell(9));
        memo.put(8, 3, Known::Nowhere);
        assert_eq!((memo.find(7, 3), memo.find(8, 3)), (Some(Known::Cell(9)), Some(Known::Nowhere)));
        assert_eq!((memo.find(7, 4), memo.find(9, 3)), (None, None));
        memo.begin();
        assert_eq!(memo.find(7, 3), None);
    }

    #[test]
    fn generations_do_not_come_back() {
        let memo = Memo::default();
        memo.begin();
        memo.put(7, 3, Known::Cell(9));
        memo.generation.set(u32::MAX);
        memo.begin();
        assert_eq!(memo.generation.get(), 1);
        assert_eq!(memo.find(7, 3), None);
    }

    #[test]
    fn displaced_paths_are_not_mixed_up() {
        let memo = Memo::default();
        memo.begin();
        for (from, path) in (0..200).flat_map(|from| (1..20).map(move |path| (from, path))) {
            memo.put(from, path, Known::Cell(from * 100 + path));
        }
        for (from, path) in (0..200).flat_map(|from| (1..20).map(move |path| (from, path))) {
            assert!(memo.find(from, path).is_none_or(|known| known == Known::Cell(from * 100 + path)));
        }
    }
}
