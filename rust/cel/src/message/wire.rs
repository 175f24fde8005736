//! Reads messages from protobuf's wire format, which only `Any` needs.

use super::{FIELDS_ENTRY, Field, FieldKind, Fields, LIST_VALUE, Message, STRUCT, VALUE};
use crate::context::EvalContext;
use crate::value::{MapBuilder, Value};

/// Messages nest no deeper than this.
const MAX_DEPTH: u32 = 500;

/// What stands before a field's number.
enum Item<'a> {
    Number(u64),
    Fixed(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
    Group,
}

/// The fields in `bytes`; those that the message does not have are passed over. `None` if the bytes are malformed.
pub(super) fn decode<'a>(
    ctx: &EvalContext<'a>,
    message: &'static Message,
    bytes: &'a [u8],
    depth: u32,
) -> Option<Fields<'a>> {
    if depth > MAX_DEPTH {
        return None;
    }
    let mut rest = bytes;
    let mut fields = Fields::default();
    let mut elements = bumpalo::collections::Vec::new_in(ctx.arena);
    let mut entries = MapBuilder::new(ctx.arena);
    while !rest.is_empty() {
        let (number, kind) = tag(&mut rest)?;
        let item = item(&mut rest, number, kind, depth)?;
        let Some(at) = message.fields.iter().position(|field| field.number == number) else {
            continue;
        };
        let field = message.fields.get(at)?;
        match (field.kind, &item) {
            (FieldKind::JsonElements, Item::Bytes(bytes)) => elements.push(value(ctx, &VALUE, bytes, depth)?),
            (FieldKind::JsonEntries, Item::Bytes(bytes)) => {
                let entry = decode(ctx, &FIELDS_ENTRY, bytes, depth + 1)?;
                entries.put(entry.get(0).unwrap_or(Value::String("")), entry.get(1).unwrap_or(Value::Null));
            }
            _ => {
                if let Some(read) = read(ctx, field, &item, depth)? {
                    fields.put(message, at, Some(read));
                }
            }
        }
    }
    match message.fields.first().map(|field| field.kind) {
        Some(FieldKind::JsonElements) => fields.put(message, 0, Some(Value::List(elements.into_bump_slice()))),
        Some(FieldKind::JsonEntries) => fields.put(message, 0, Some(Value::Map(entries.finish()))),
        _ => {}
    }
    Some(fields)
}

fn value<'a>(ctx: &EvalContext<'a>, message: &'static Message, bytes: &'a [u8], depth: u32) -> Option<Value<'a>> {
    decode(ctx, message, bytes, depth + 1)?.value(ctx, message).ok()
}

/// A field's value, none if it is written as another type.
fn read<'a>(ctx: &EvalContext<'a>, field: &Field, item: &Item<'a>, depth: u32) -> Option<Option<Value<'a>>> {
    Some(Some(match (field.kind, item) {
        (FieldKind::Bool, Item::Number(n)) => Value::Bool(*n != 0),
        (FieldKind::Int32 | FieldKind::Null, Item::Number(n)) => Value::Int(i64::from(*n as i32)),
        (FieldKind::Int64, Item::Number(n)) => Value::Int(*n as i64),
        (FieldKind::Uint32, Item::Number(n)) => Value::Uint(u64::from(*n as u32)),
        (FieldKind::Uint64, Item::Number(n)) => Value::Uint(*n),
        (FieldKind::Double, Item::Fixed(bits)) => Value::Double(f64::from_bits(*bits)),
        (FieldKind::Float, Item::Fixed32(bits)) => Value::Double(f64::from(f32::from_bits(*bits))),
        (FieldKind::String, Item::Bytes(bytes)) => Value::String(std::str::from_utf8(bytes).ok()?),
        (FieldKind::Bytes, Item::Bytes(bytes)) => Value::Bytes(bytes),
        (FieldKind::Json, Item::Bytes(bytes)) => value(ctx, &VALUE, bytes, depth)?,
        (FieldKind::JsonStruct, Item::Bytes(bytes)) => value(ctx, &STRUCT, bytes, depth)?,
        (FieldKind::JsonList, Item::Bytes(bytes)) => value(ctx, &LIST_VALUE, bytes, depth)?,
        _ => return Some(None),
    }))
}

fn item<'a>(rest: &mut &'a [u8], number: u32, kind: u64, depth: u32) -> Option<Item<'a>> {
    Some(match kind {
        0 => Item::Number(varint(rest)?),
        1 => Item::Fixed(u64::from_le_bytes(take(rest, 8)?.try_into().ok()?)),
        2 => {
            let len = usize::try_from(varint(rest)?).ok()?;
            Item::Bytes(take(rest, len)?)
        }
        3 => {
            group(rest, number, depth)?;
            Item::Group
        }
        5 => Item::Fixed32(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?)),
        _ => return None,
    })
}

/// Passes over a group, which ends where its number says so.
fn group(rest: &mut &[u8], number: u32, depth: u32) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    loop {
        match tag(rest)? {
            (end, 4) => return (end == number).then_some(()),
            (inner, kind) => item(rest, inner, kind, depth + 1).map(|_| ())?,
        }
    }
}

/// A field's number and how it is written.
fn tag(rest: &mut &[u8]) -> Option<(u32, u64)> {
    let tag = varint(rest)?;
    let number = u32::try_from(tag >> 3).ok().filter(|number| (1..1 << 29).contains(number))?;
    Some((number, tag & 7))
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(len)?;
    *rest = left;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for place in 0..10 {
        let byte = *take(rest, 1)?.first()?;
        if place == 9 && byte > 1 {
            return None;
        }
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
