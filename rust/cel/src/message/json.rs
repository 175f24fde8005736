//! Values as JSON, which `google.protobuf.Value` holds: numbers are doubles, and what JSON does not have is text.

use std::fmt::Write;

use super::convert::{Target, convert, is_typed, mismatch};
use super::{FieldKind, object};
use crate::context::{EvalContext, Halt};
use crate::ops::convert::to_string;
use crate::value::{ListView, MapBuilder, MapView, Native, Value};

/// Lists that share their parts can stand for far more than memory holds.
const MAX_PARTS: usize = 1 << 22;
/// Values nest no deeper than this.
const MAX_DEPTH: u32 = 1000;
/// Integers beyond this are text.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// One conversion.
pub(super) struct Json<'a, 'e> {
    ctx: &'e EvalContext<'a>,
    parts: usize,
    depth: u32,
}

impl<'a, 'e> Json<'a, 'e> {
    pub(super) fn new(ctx: &'e EvalContext<'a>) -> Self {
        Json { ctx, parts: 0, depth: 0 }
    }

    /// A value as JSON, or an error or halt.
    pub(super) fn value(&mut self, value: Value<'a>) -> Result<Value<'a>, Value<'a>> {
        self.parts += 1;
        if self.parts > MAX_PARTS || self.depth > MAX_DEPTH {
            return Err(self.ctx.set_halt(Halt::CostLimit));
        }
        self.depth += 1;
        let converted = self.part(value);
        self.depth -= 1;
        converted
    }

    fn part(&mut self, value: Value<'a>) -> Result<Value<'a>, Value<'a>> {
        match value {
            Value::Null | Value::Bool(_) | Value::Double(_) | Value::String(_) => Ok(value),
            Value::Int(i) if i.unsigned_abs() <= MAX_SAFE => Ok(Value::Double(i as f64)),
            Value::Uint(u) if u <= MAX_SAFE => Ok(Value::Double(u as f64)),
            Value::Int(_) | Value::Uint(_) | Value::Duration(_) | Value::Timestamp(_) => Ok(to_string(self.ctx, value)),
            Value::Bytes(bytes) => Ok(self.base64(bytes)),
            Value::Optional(Some(inner)) => self.value(*inner),
            Value::Opaque(opaque) => match opaque.ty.native {
                Native::Message(message) => Ok(object::json(self.ctx, message, opaque)),
                _ => Err(mismatch(self.ctx, value, Target::Json)),
            },
            Value::List(_) | Value::Constants(_) | Value::Concat(_) | Value::Map(_) | Value::Record(_)
                if !is_typed(value) =>
            {
                match (ListView::of(value), MapView::of(value)) {
                    (Some(list), _) => self.list_value(list),
                    (None, Some(map)) => self.map(map),
                    (None, None) => Err(mismatch(self.ctx, value, Target::Json)),
                }
            }
            _ => Err(mismatch(self.ctx, value, Target::Json)),
        }
    }

    /// A list as JSON. Upstream copies one that was joined by `+`, and a type becomes its name.
    pub(super) fn list_value(&mut self, list: ListView<'a>) -> Result<Value<'a>, Value<'a>> {
        let named = |value| if let Value::Type(name) = value { Value::String(name) } else { value };
        match list {
            ListView::Concat(_) => self.elements(list.iter().map(named)),
            _ => self.list(list),
        }
    }

    /// A list's elements as JSON.
    pub(super) fn list(&mut self, list: ListView<'a>) -> Result<Value<'a>, Value<'a>> {
        self.elements(list.iter())
    }

    fn elements(&mut self, list: impl Iterator<Item = Value<'a>>) -> Result<Value<'a>, Value<'a>> {
        let mut elements = bumpalo::collections::Vec::new_in(self.ctx.arena);
        for element in list {
            elements.push(self.value(element)?);
        }
        Ok(Value::List(elements.into_bump_slice()))
    }

    /// A map's entries as JSON; its keys must be strings.
    pub(super) fn map(&mut self, map: MapView<'a>) -> Result<Value<'a>, Value<'a>> {
        let mut entries = MapBuilder::new(self.ctx.arena);
        let order = map.order(self.ctx);
        for index in 0..order.len() {
            let Some((key, value)) = order.entry(self.ctx, index) else {
                continue;
            };
            let key = convert(self.ctx, self, key, Target::Scalar(FieldKind::String))?;
            entries.put(key, self.value(value)?);
        }
        Ok(Value::Map(entries.finish()))
    }

    /// A map where a `ListValue` is wanted: Go sets that struct's fields by name, and it has one, `Values`.
    pub(super) fn list_of_map(&mut self, map: MapView<'a>) -> Result<Value<'a>, Value<'a>> {
        let mut list = Value::List(&[]);
        let order = map.order(self.ctx);
        for index in 0..order.len() {
            let Some((key, value)) = order.entry(self.ctx, index) else {
                continue;
            };
            let name = match to_string(self.ctx, key) {
                Value::String(name) => upper_camel_case(name),
                failure => return Err(failure),
            };
            if name != "Values" {
                let message =
                    format_args!("type conversion error, no such field '{name}' in type 'structpb.ListValue'");
                return Err(self.ctx.errorf(message));
            }
            list = match ListView::of(value) {
                Some(elements) if !is_typed(value) => self.list_value(elements)?,
                _ => {
                    return Err(match mismatch(self.ctx, value, Target::Json) {
                        Value::Error(error) => {
                            let text = error.message.replace("*structpb.Value", "[]*structpb.Value");
                            self.ctx.errorf(format_args!("{text}"))
                        }
                        halt => halt,
                    });
                }
            };
        }
        Ok(list)
    }

    fn base64(&self, bytes: &[u8]) -> Value<'a> {
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = bumpalo::collections::String::new_in(self.ctx.arena);
        for chunk in bytes.chunks(3) {
            let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
            let group = byte(0) << 16 | byte(1) << 8 | byte(2);
            for place in 0..4 {
                let digit = (group >> (18 - 6 * place)) as usize & 63;
                let letter = ALPHABET.get(digit).map_or('=', |letter| char::from(*letter));
                // Writing to a string of the arena cannot fail.
                let _ = text.write_char(if place <= chunk.len() { letter } else { '=' });
            }
        }
        Value::String(text.into_bump_str())
    }
}

/// cel-go's own `upperCamelCase` of `common/types/map.go`: underscores and dashes begin a word.
fn upper_camel_case(text: &str) -> String {
    let is_delimiter = |c: char| c == '_' || c == '-';
    let mut out = String::new();
    let mut previous = None;
    for c in text.trim().chars() {
        match previous {
            _ if is_delimiter(c) => {}
            None => out.extend(c.to_uppercase()),
            Some(before) if is_delimiter(before) => out.extend(c.to_uppercase()),
            Some(before) if before.is_lowercase() => out.push(c),
            Some(_) => out.extend(c.to_lowercase()),
        }
        previous = Some(c);
    }
    out
}
