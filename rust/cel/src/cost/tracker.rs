//! cel-go's stack of observed values, by which its tracker finds the arguments of calls.
//!
//! Every step pushes its value under its expression id, and parents take their parts off again. What is not taken off stays,
//! is found again when the same step is repeated by a comprehension, and then hides what lies above it: such calls are not
//! charged. Searching from the top is linear in cel-go; here each id remembers its topmost entry.

use bumpalo::Bump;

use crate::value::Value;

struct Entry<'a> {
    value: Value<'a>,
    id: u32,
    /// The entry of the same id below, counted from 1; 0 if there is none.
    below: u32,
}

/// The stack. Entries are counted from 1, so that 0 says "none".
pub(crate) struct Tracker<'a> {
    stack: bumpalo::collections::Vec<'a, Entry<'a>>,
    /// The topmost entry of each id.
    top: &'a mut [u32],
}

impl<'a> Tracker<'a> {
    /// A stack for a program whose ids are below `ids`; without ids for programs that need none.
    pub(crate) fn new(arena: &'a Bump, ids: u32) -> Tracker<'a> {
        Tracker { stack: bumpalo::collections::Vec::new_in(arena), top: arena.alloc_slice_fill_copy(ids as usize, 0) }
    }

    pub(crate) fn push(&mut self, id: u32, value: Value<'a>) {
        if let Some(top) = self.top.get_mut(id as usize) {
            self.stack.push(Entry { value, id, below: *top });
            *top = self.stack.len() as u32;
        }
    }

    /// Removes the topmost entry of an id with all above it (cel-go `refValStack.drop` of one id).
    pub(crate) fn drop(&mut self, id: u32) -> Option<Value<'a>> {
        let position = self.top.get(id as usize).copied().filter(|&position| position != 0)?;
        let value = self.stack.get(position as usize - 1).map(|entry| entry.value);
        while self.stack.len() >= position as usize {
            let Some(entry) = self.stack.pop() else { break };
            if let Some(top) = self.top.get_mut(entry.id as usize) {
                *top = entry.below;
            }
        }
        value
    }
}
