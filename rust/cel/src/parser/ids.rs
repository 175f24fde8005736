//! Hands out expression ids and records where each expression stands (cel-go `parserHelper`).

use crate::ast::{ExprId, OffsetRange, SourceInfo};

/// A copy of a text counts as an id for each of so many bytes that it has.
const BYTES_PER_ID: usize = 64;

/// The ids of one expression.
pub(crate) struct Ids {
    next: ExprId,
    /// What copies of long texts count as.
    copied: ExprId,
    source: SourceInfo,
}

impl Ids {
    /// Ids from 1.
    pub(crate) fn new(source: SourceInfo) -> Ids {
        Ids { next: 1, copied: 0, source }
    }

    /// A new id for what stands at a range of the source; nothing is recorded for what stands nowhere.
    pub(crate) fn add(&mut self, range: Option<OffsetRange>) -> ExprId {
        let id = self.next;
        self.next += 1;
        if let Some(range) = range {
            self.source.offsets.insert(id, range);
        }
        id
    }

    /// Forgets an id's position; the last id is given out again.
    pub(crate) fn delete(&mut self, id: ExprId) {
        self.source.offsets.remove(&id);
        if id == self.next - 1 {
            self.next = id;
        }
    }

    /// Where an expression stands.
    pub(crate) fn range(&self, id: ExprId) -> Option<OffsetRange> {
        self.source.offsets.get(&id).copied()
    }

    /// Counts a copy of so many bytes of text.
    pub(crate) fn copied(&mut self, bytes: usize) {
        self.copied = self.copied.saturating_add((bytes / BYTES_PER_ID) as ExprId);
    }

    /// How many ids have been given out, or would have been if copied texts had any.
    pub(crate) fn count(&self) -> ExprId {
        (self.next - 1).saturating_add(self.copied)
    }

    /// The positions so far.
    pub(crate) fn source(&self) -> &SourceInfo {
        &self.source
    }

    /// The positions so far, to add macro calls to.
    pub(crate) fn source_mut(&mut self) -> &mut SourceInfo {
        &mut self.source
    }

    /// Ends the numbering.
    pub(crate) fn into_source(self) -> SourceInfo {
        self.source
    }
}
