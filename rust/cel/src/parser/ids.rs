//! Hands out expression ids and records where each expression stands (cel-go `parserHelper`).

use crate::ast::{ExprId, OffsetRange, SourceInfo};

/// The ids of one expression.
pub(crate) struct Ids {
    next: ExprId,
    source: SourceInfo,
}

impl Ids {
    /// Ids from 1.
    pub(crate) fn new(source: SourceInfo) -> Ids {
        Ids { next: 1, source }
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

    /// How many ids have been given out.
    pub(crate) fn count(&self) -> ExprId {
        self.next - 1
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
