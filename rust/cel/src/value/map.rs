//! Maps made by expressions, and reading maps whatever they are made of.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use bumpalo::Bump;

use super::{GoKey, LazyMap, Opaque, Value};
use crate::context::EvalContext;
use crate::mutants::{Mutant, planted};
use crate::ops::number;
use crate::record::RecordRef;

/// Maps with more entries than this get a hash index.
const LINEAR: usize = 8;

/// Marks a free slot of an index.
const FREE: u32 = u32::MAX;

/// Keys come from requests, so the index is seeded per process.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A map made by an expression: entries in insertion order, with an index once it is large.
pub struct MapValue<'a> {
    /// Key and value of each entry; keys are distinct as Go map keys are (so `1` and `1u` are two).
    pub entries: &'a [(Value<'a>, Value<'a>)],
    index: &'a [u32],
}

impl<'a> MapValue<'a> {
    /// A map with these entries, whose keys the caller knows to be distinct.
    pub fn new(arena: &'a Bump, entries: &'a [(Value<'a>, Value<'a>)]) -> &'a MapValue<'a> {
        let mut index: &'a [u32] = &[];
        if entries.len() > LINEAR {
            let slots = (entries.len() * 2).next_power_of_two();
            let table = arena.alloc_slice_fill_copy(slots, FREE);
            for (i, (key, _)) in entries.iter().enumerate() {
                let free = probe(table.len(), key).find(|&slot| table.get(slot) == Some(&FREE));
                if let Some(cell) = free.and_then(|slot| table.get_mut(slot)) {
                    *cell = i as u32;
                }
            }
            index = table;
        }
        arena.alloc(MapValue { entries, index })
    }

    /// A map in which a later entry replaces an earlier one of the same key, in the place of the earlier.
    pub fn from_pairs(arena: &'a Bump, pairs: impl IntoIterator<Item = (Value<'a>, Value<'a>)>) -> &'a MapValue<'a> {
        let mut builder = MapBuilder::new(arena);
        for (key, value) in pairs {
            builder.put(key, value);
        }
        builder.finish()
    }

    /// Position of the entry with exactly this key (type and value), as a Go map finds it.
    fn position(&self, key: &Value<'a>) -> Option<usize> {
        position(self.entries, self.index, key)
    }

    /// The value under a key; an int, uint or double key also finds an equal int or uint key (cel-go `refValMapAccessor.Find`).
    pub fn find(&self, key: Value<'a>) -> Option<Value<'a>> {
        let at = |key: Value<'a>| self.position(&key).and_then(|i| self.entries.get(i)).map(|entry| entry.1);
        if let Some(value) = at(key) {
            return Some(value);
        }
        match key {
            Value::Double(d) => {
                let as_int = number::double_to_int_lossless(d).and_then(|i| at(Value::Int(i)));
                as_int.or_else(|| number::double_to_uint_lossless(d).and_then(|u| at(Value::Uint(u))))
            }
            Value::Int(i) => u64::try_from(i).ok().and_then(|u| at(Value::Uint(u))),
            Value::Uint(u) if !planted(Mutant::KeysDoNotCross) => i64::try_from(u).ok().and_then(|i| at(Value::Int(i))),
            _ => None,
        }
    }
}

/// Builds a map entry by entry, keeping keys distinct.
pub(crate) struct MapBuilder<'a> {
    arena: &'a Bump,
    entries: bumpalo::collections::Vec<'a, (Value<'a>, Value<'a>)>,
    index: bumpalo::collections::Vec<'a, u32>,
}

impl<'a> MapBuilder<'a> {
    pub(crate) fn new(arena: &'a Bump) -> Self {
        MapBuilder {
            arena,
            entries: bumpalo::collections::Vec::new_in(arena),
            index: bumpalo::collections::Vec::new_in(arena),
        }
    }

    /// Sets a key, replacing the value of an entry with the same Go map key.
    pub(crate) fn put(&mut self, key: Value<'a>, value: Value<'a>) {
        match position(&self.entries, &self.index, &key) {
            Some(i) => {
                if let Some(entry) = self.entries.get_mut(i) {
                    entry.1 = value;
                }
            }
            None => self.push(key, value),
        }
    }

    /// Whether a key that is equal under CEL's rules is there.
    pub(crate) fn contains(&self, key: Value<'a>) -> bool {
        let at = |key: Value<'a>| position(&self.entries, &self.index, &key).is_some();
        at(key)
            || match key {
                Value::Double(d) => {
                    number::double_to_int_lossless(d).is_some_and(|i| at(Value::Int(i)))
                        || number::double_to_uint_lossless(d).is_some_and(|u| at(Value::Uint(u)))
                }
                Value::Int(i) => u64::try_from(i).is_ok_and(|u| at(Value::Uint(u))),
                Value::Uint(u) => i64::try_from(u).is_ok_and(|i| at(Value::Int(i))),
                _ => false,
            }
    }

    /// Removes a key.
    pub(crate) fn remove(&mut self, key: Value<'a>) {
        if let Some(i) = position(&self.entries, &self.index, &key) {
            self.entries.remove(i);
            self.reindex();
        }
    }

    fn push(&mut self, key: Value<'a>, value: Value<'a>) {
        self.entries.push((key, value));
        if self.entries.len() <= LINEAR {
            return;
        }
        if self.entries.len() * 2 > self.index.len() {
            self.reindex();
        } else {
            let last = self.entries.len() - 1;
            insert(&mut self.index, &key, last);
        }
    }

    fn reindex(&mut self) {
        self.index.clear();
        if self.entries.len() > LINEAR {
            self.index.resize((self.entries.len() * 4).next_power_of_two(), FREE);
            for (i, (key, _)) in self.entries.iter().enumerate() {
                insert(&mut self.index, key, i);
            }
        }
    }

    pub(crate) fn finish(self) -> &'a MapValue<'a> {
        let MapBuilder { arena, entries, index } = self;
        arena.alloc(MapValue { entries: entries.into_bump_slice(), index: index.into_bump_slice() })
    }
}

fn insert(table: &mut [u32], key: &Value<'_>, entry: usize) {
    let free = probe(table.len(), key).find(|&slot| table.get(slot) == Some(&FREE));
    if let Some(cell) = free.and_then(|slot| table.get_mut(slot)) {
        *cell = entry as u32;
    }
}

fn position<'a>(entries: &[(Value<'a>, Value<'a>)], index: &[u32], key: &Value<'a>) -> Option<usize> {
    if index.is_empty() {
        return entries.iter().position(|entry| same_go_key(&entry.0, key));
    }
    for slot in probe(index.len(), key) {
        let entry = *index.get(slot)?;
        if entry == FREE {
            return None;
        }
        if entries.get(entry as usize).is_some_and(|entry| same_go_key(&entry.0, key)) {
            return Some(entry as usize);
        }
    }
    None
}

/// The slots to try for a key in a table of `slots` (a power of two).
fn probe(slots: usize, key: &Value<'_>) -> impl Iterator<Item = usize> {
    let mask = slots.wrapping_sub(1);
    let start = hash(key) as usize;
    (0..slots).map(move |step| start.wrapping_add(step) & mask)
}

fn hash(key: &Value<'_>) -> u64 {
    match key {
        Value::String(text) => HASHER.hash_one(text),
        Value::Int(i) => HASHER.hash_one(i),
        Value::Uint(u) => HASHER.hash_one((u, 1u8)),
        // Go hashes -0.0 as 0.0.
        Value::Double(d) => HASHER.hash_one((d + 0.0).to_bits()),
        Value::Bool(b) => HASHER.hash_one(b),
        Value::Duration(d) => HASHER.hash_one(d.nanos),
        Value::Timestamp(t) => HASHER.hash_one((t.seconds, t.nanos)),
        Value::Type(name) => HASHER.hash_one((name, 2u8)),
        _ => 0,
    }
}

/// Whether Go would take the two for the same key of a `map[ref.Val]ref.Val`.
fn same_go_key<'a>(a: &Value<'a>, b: &Value<'a>) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Uint(a), Value::Uint(b)) => a == b,
        (Value::Double(a), Value::Double(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Null, Value::Null) => true,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b && a.offset == b.offset,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::Optional(None), Value::Optional(None)) => true,
        (Value::Opaque(a), Value::Opaque(b)) => std::ptr::eq(*a, *b) || same_state(a, b),
        (Value::List(a), Value::List(b)) => std::ptr::eq(*a, *b),
        (Value::Constants(a), Value::Constants(b)) => a.same(*b),
        (Value::Map(a), Value::Map(b)) => std::ptr::eq(*a, *b),
        (Value::Concat(a), Value::Concat(b)) => std::ptr::eq(*a, *b),
        (Value::Optional(Some(a)), Value::Optional(Some(b))) => std::ptr::eq(*a, *b),
        (Value::Record(a), Value::Record(b)) => a.same(b),
        (Value::Lazy(a), Value::Lazy(b)) => std::ptr::addr_eq(*a, *b),
        _ => false,
    }
}

/// Whether two values of a library's type are one key, as their type says.
fn same_state<'a>(a: &Opaque<'a>, b: &Opaque<'a>) -> bool {
    std::ptr::eq(a.ty, b.ty)
        && a.ty.go_key == GoKey::State
        && a.fields.len() == b.fields.len()
        && a.fields.iter().zip(b.fields).all(|fields| match fields {
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (a, b) => same_go_key(a, b),
        })
}

/// A map for reading.
#[derive(Clone, Copy)]
pub enum MapView<'a> {
    /// Entries in memory.
    Entries(&'a MapValue<'a>),
    /// Entries in a record.
    Record(RecordRef<'a>),
    /// Values computed when read.
    Lazy(&'a dyn LazyMap<'a>),
}

impl<'a> MapView<'a> {
    /// The map in `value`, if it is one.
    #[inline]
    pub fn of(value: Value<'a>) -> Option<MapView<'a>> {
        match value {
            Value::Map(map) => Some(MapView::Entries(map)),
            Value::Record(record) if !record.is_list() => Some(MapView::Record(record)),
            Value::Lazy(map) => Some(MapView::Lazy(map)),
            _ => None,
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        match self {
            MapView::Entries(map) => map.entries.len(),
            MapView::Record(record) => record.len(),
            MapView::Lazy(map) => map.len(),
        }
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under a key, `None` when there is none; an error when the key has a type that the map rejects, or when the
    /// value is an error itself (cel-go `traits.Mapper.Find`).
    pub fn find(&self, ctx: &EvalContext<'a>, key: Value<'a>) -> Option<Value<'a>> {
        match self {
            MapView::Entries(map) if key.unhashable().is_some() && !map.entries.is_empty() => Some(ctx.unhashable(key)),
            MapView::Entries(map) => map.find(key),
            MapView::Record(record) => match key {
                Value::String(name) => record.field(name),
                Value::Error(_) => Some(key),
                _ if record.is_typed() => {
                    Some(ctx.errorf(format_args!("unsupported map key type: {}", key.go_type_name())))
                }
                _ => None,
            },
            MapView::Lazy(map) => match key {
                Value::String(name) => map.index_of(name).map(|index| map.get(ctx, index)),
                _ => Some(ctx.error("no such overload")),
            },
        }
    }

    /// Whether the error that [`Self::find`] gives says that the map can have no such key (upstream's `Find` then says "not found" beside
    /// it; that of a struct says "found").
    pub(crate) fn refuses(&self, key: Value<'a>) -> bool {
        matches!(self, MapView::Record(record) if record.is_typed() && !record.is_struct())
            && !matches!(key, Value::String(_))
    }

    /// How to iterate: entries in order of keys for records (Go's own order is random), as written for literals.
    pub fn order(&self, ctx: &EvalContext<'a>) -> MapOrder<'a> {
        let positions = match self {
            MapView::Record(record) => record.order(ctx.arena),
            MapView::Entries(_) | MapView::Lazy(_) => None,
        };
        MapOrder { map: *self, positions, len: positions.map_or_else(|| self.len(), <[u32]>::len) }
    }

    /// The keys in iteration order.
    pub fn keys(&self, ctx: &EvalContext<'a>) -> impl Iterator<Item = Value<'a>> + use<'a> {
        let order = self.order(ctx);
        (0..order.len).filter_map(move |index| order.key(index))
    }
}

/// A map's entries in the order of iteration.
#[derive(Clone, Copy)]
pub struct MapOrder<'a> {
    map: MapView<'a>,
    positions: Option<&'a [u32]>,
    len: usize,
}

impl<'a> MapOrder<'a> {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn position(&self, index: usize) -> Option<usize> {
        match self.positions {
            Some(positions) => positions.get(index).map(|&position| position as usize),
            None => Some(index),
        }
    }

    /// The key of the entry that comes at `index`.
    pub fn key(&self, index: usize) -> Option<Value<'a>> {
        let position = self.position(index)?;
        match self.map {
            MapView::Entries(map) => map.entries.get(position).map(|entry| entry.0),
            MapView::Record(record) => record.entry(position).map(|entry| Value::String(entry.0)),
            MapView::Lazy(map) => (position < map.len()).then(|| Value::String(map.key(position))),
        }
    }

    /// Key and value of the entry that comes at `index`.
    pub fn entry(&self, ctx: &EvalContext<'a>, index: usize) -> Option<(Value<'a>, Value<'a>)> {
        let position = self.position(index)?;
        match self.map {
            MapView::Entries(map) => map.entries.get(position).copied(),
            MapView::Record(record) => record.entry(position).map(|(key, value)| (Value::String(key), value)),
            MapView::Lazy(map) => {
                (position < map.len()).then(|| (Value::String(map.key(position)), map.get(ctx, position)))
            }
        }
    }
}
