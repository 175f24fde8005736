//! Copies of a struct with a few fields more or fewer, for values that upstream composes from parts.

use bumpalo::Bump;
use bumpalo::collections::{String, Vec};

use super::{CELL, Cell, Record, RecordRef, Tag, flags};
use crate::value::Value;

/// A change to a struct.
#[derive(Clone, Copy, Debug)]
pub enum Edit<'e> {
    /// Leaves out the field of this name.
    Drop(&'e str),
    /// Leaves out fields of a struct or map that is itself a field: its name, then theirs. One edit for each outer field.
    DropInner(&'e str, &'e [&'e str]),
    /// Adds a typed struct with these string fields; the name must not be there yet.
    Add(&'e str, &'e [(&'e str, &'e str)]),
}

impl<'a> RecordRef<'a> {
    /// A copy of this map or struct with the edits, in a record of its own in the arena. Costs time linear in its size.
    ///
    /// Copies of one space that are made while one record is remembered ([`crate::context::EvalContext::remembering`]) must be equal:
    /// paths in them are remembered, too. The space 0 is that of any copies; there are [`crate::memo::SPACES`].
    pub fn edited(&self, arena: &'a Bump, space: u8, edits: &[Edit<'_>]) -> Value<'a> {
        let mut copy = Copy { cells: Vec::new_in(arena), heap: String::new_in(arena), from: self.record };
        copy.struct_with(self.header(), edits);
        let record: &'a Record<'a> = arena.alloc(Record {
            cells: copy.cells.into_bump_slice(),
            heap: copy.heap.into_bump_str(),
            roots: 1,
            space,
        });
        record.root(0).unwrap_or(Value::Null)
    }
}

struct Copy<'a> {
    cells: Vec<'a, [u8; CELL]>,
    heap: String<'a>,
    from: &'a Record<'a>,
}

/// A cell to copy: where it is, where it goes, and the names of children to leave out.
struct Todo<'e> {
    from: u32,
    to: usize,
    drop: &'e [&'e str],
}

impl<'a> Copy<'a> {
    fn struct_with<'e>(&mut self, source: Cell, edits: &[Edit<'e>]) {
        let dropped = |name: &str| edits.iter().any(|edit| matches!(edit, Edit::Drop(drop) if *drop == name));
        let inner = |name: &str| {
            let names = edits.iter().find_map(|edit| match edit {
                Edit::DropInner(outer, inner) if *outer == name => Some(*inner),
                _ => None,
            });
            names.unwrap_or_default()
        };
        let bump = self.cells.bump();
        let mut todo: Vec<'_, Todo<'_>> = Vec::new_in(bump);
        self.cells.push([0; CELL]);
        let first = self.cells.len();
        for position in 0..source.len {
            let (key, value) = entry(source, position);
            let name = self.from.cell(key).map_or("", |cell| self.from.text(cell));
            if !dropped(name) {
                self.pair(name, &mut todo, value, inner(name));
            }
        }
        for edit in edits {
            if let Edit::Add(name, fields) = edit {
                self.added(name, fields);
            }
        }
        // Structs that were added put their children after the others of this struct.
        let pairs = (self.cells.len() - first) / 2;
        let root =
            Cell { len: pairs as u32, payload: first as u64, flags: source.flags & !flags::SORTED, tag: source.tag };
        self.set(0, root);
        self.children_of_added(first, edits);
        while let Some(next) = todo.pop() {
            self.copy(next, &mut todo);
        }
    }

    /// Pushes a key, and a cell that becomes the copy of `value`.
    fn pair<'e>(&mut self, name: &str, todo: &mut Vec<'_, Todo<'e>>, value: u32, drop: &'e [&'e str]) {
        let key = self.string(Tag::String, 0, name);
        self.cells.push(encode(key));
        todo.push(Todo { from: value, to: self.cells.len(), drop });
        self.cells.push([0; CELL]);
    }

    fn added(&mut self, name: &str, fields: &[(&str, &str)]) {
        let key = self.string(Tag::String, 0, name);
        self.cells.push(encode(key));
        self.cells.push(encode(Cell {
            tag: Tag::Struct as u8,
            flags: flags::TYPED,
            len: fields.len() as u32,
            payload: 0,
        }));
    }

    fn children_of_added(&mut self, first: usize, edits: &[Edit<'_>]) {
        let added = edits.iter().filter_map(|edit| match edit {
            Edit::Add(_, fields) => Some(*fields),
            _ => None,
        });
        // The added structs are the last pairs.
        let count = added.clone().count();
        let mut at = (self.cells.len().saturating_sub(2 * count)).max(first) + 1;
        for fields in added {
            let children = self.cells.len() as u64;
            self.set(
                at,
                Cell { tag: Tag::Struct as u8, flags: flags::TYPED, len: fields.len() as u32, payload: children },
            );
            for (name, value) in fields {
                for text in [name, value] {
                    let cell = self.string(Tag::String, 0, text);
                    self.cells.push(encode(cell));
                }
            }
            at += 2;
        }
    }

    fn copy<'e>(&mut self, next: Todo<'e>, todo: &mut Vec<'_, Todo<'e>>) {
        let Some(cell) = self.from.cell(next.from) else { return };
        let copied = match Tag::of(cell.tag) {
            Some(tag @ (Tag::String | Tag::Error)) => {
                let text = self.from.text(cell);
                self.string(tag, cell.flags, text)
            }
            Some(Tag::List) => {
                let start = self.cells.len();
                for index in 0..cell.len {
                    todo.push(Todo {
                        from: (cell.payload as u32).wrapping_add(index),
                        to: self.cells.len(),
                        drop: &[],
                    });
                    self.cells.push([0; CELL]);
                }
                Cell { payload: start as u64, ..cell }
            }
            Some(Tag::Map | Tag::Struct) => {
                let start = self.cells.len();
                for position in 0..cell.len {
                    let (key, value) = entry(cell, position);
                    let name = self.from.cell(key).map_or("", |cell| self.from.text(cell));
                    if !next.drop.contains(&name) {
                        self.pair(name, todo, value, &[]);
                    }
                }
                Cell { len: ((self.cells.len() - start) / 2) as u32, payload: start as u64, ..cell }
            }
            _ => cell,
        };
        self.set(next.to, copied);
    }

    fn string(&mut self, tag: Tag, flags: u8, text: &str) -> Cell {
        let payload = self.heap.len() as u64;
        self.heap.push_str(text);
        Cell { tag: tag as u8, flags, len: text.len() as u32, payload }
    }

    fn set(&mut self, index: usize, cell: Cell) {
        if let Some(slot) = self.cells.get_mut(index) {
            *slot = encode(cell);
        }
    }
}

/// The cells of key and value at a position of a map or struct.
fn entry(parent: Cell, position: u32) -> (u32, u32) {
    let key = (parent.payload as u32).wrapping_add(position.wrapping_mul(2));
    (key, key.wrapping_add(1))
}

fn encode(cell: Cell) -> [u8; CELL] {
    let [l0, l1, l2, l3] = cell.len.to_le_bytes();
    let [p0, p1, p2, p3, p4, p5, p6, p7] = cell.payload.to_le_bytes();
    [cell.tag, cell.flags, 0, 0, l0, l1, l2, l3, p0, p1, p2, p3, p4, p5, p6, p7]
}
