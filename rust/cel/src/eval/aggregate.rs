//! Literal lists, maps and messages (cel-go `evalList`, `evalMap`, `evalObj`).

use super::Machine;
use crate::cost::{LIST_CREATE, MAP_CREATE, STRUCT_CREATE};
use crate::message;
use crate::mutants::{Mutant, planted};
use crate::ops::format::GoValue;
use crate::plan::{Aggregate, MessageLiteral};
use crate::value::{MapBuilder, Value};

impl<'a, const TRACKED: bool> Machine<'a, '_, TRACKED> {
    pub(super) fn list(&mut self, index: u32) -> Value<'a> {
        let Some(aggregate) = self.program.rare().aggregates.get(index as usize) else {
            return Value::Null;
        };
        let value = self.list_value(aggregate);
        self.charge_parts(aggregate, LIST_CREATE, value)
    }

    fn list_value(&mut self, aggregate: &'a Aggregate) -> Value<'a> {
        let parts = aggregate.parts.of(&self.program.operands);
        if let Some(halt) = self.ctx.no_room(parts.len() * size_of::<Value<'a>>()) {
            return halt;
        }
        let mut elements = bumpalo::collections::Vec::with_capacity_in(parts.len(), self.ctx.arena);
        for (i, &part) in parts.iter().enumerate() {
            let element = self.node(part);
            match element {
                Value::Error(_) | Value::Halt => return element,
                Value::Optional(inner) if aggregate.is_optional(i) => elements.extend(inner.copied()),
                _ if aggregate.is_optional(i) => {
                    let element = GoValue(element);
                    return self.ctx.errorf(format_args!(
                        "cannot initialize optional list element from non-optional value {element}"
                    ));
                }
                _ => elements.push(element),
            }
        }
        Value::List(elements.into_bump_slice())
    }

    pub(super) fn map(&mut self, index: u32) -> Value<'a> {
        let Some(aggregate) = self.program.rare().aggregates.get(index as usize) else {
            return Value::Null;
        };
        let value = self.map_value(aggregate);
        let cost = if planted(Mutant::MapLiteralIsCheap) { LIST_CREATE } else { MAP_CREATE };
        self.charge_parts(aggregate, cost, value)
    }

    fn map_value(&mut self, aggregate: &'a Aggregate) -> Value<'a> {
        let (pairs, _) = aggregate.parts.of(&self.program.operands).as_chunks::<2>();
        let mut map = MapBuilder::new(self.ctx.arena);
        for (i, &[key, value]) in pairs.iter().enumerate() {
            let key = self.node(key);
            if key.is_error_or_halt() {
                return key;
            }
            let value = self.node(value);
            if value.is_error_or_halt() {
                return value;
            }
            let value = match value {
                Value::Optional(Some(inner)) if aggregate.is_optional(i) => *inner,
                Value::Optional(None) if aggregate.is_optional(i) && key.unhashable().is_none() => {
                    map.remove(key);
                    continue;
                }
                Value::Optional(None) => value,
                _ if aggregate.is_optional(i) => return self.not_optional(key, value),
                _ => value,
            };
            if key.unhashable().is_some() {
                return self.ctx.unhashable(key);
            }
            map.put(key, value);
        }
        self.ctx.no_room(0).unwrap_or_else(|| Value::Map(map.finish()))
    }

    fn not_optional(&self, key: Value<'a>, value: Value<'a>) -> Value<'a> {
        let (key, value) = (GoValue(key), GoValue(value));
        self.ctx.errorf(format_args!("cannot initialize optional entry '{key}' from non-optional value {value}"))
    }

    pub(super) fn message(&mut self, index: u32, literal: u32) -> Value<'a> {
        let program = self.program;
        let (Some(aggregate), Some(literal)) =
            (program.rare().aggregates.get(index as usize), program.rare().messages.get(literal as usize))
        else {
            return Value::Null;
        };
        let value = self.message_value(aggregate, literal);
        self.charge_parts(aggregate, STRUCT_CREATE, value)
    }

    fn message_value(&mut self, aggregate: &'a Aggregate, literal: &'a MessageLiteral) -> Value<'a> {
        let parts = aggregate.parts.of(&self.program.operands);
        let mut fields = bumpalo::collections::Vec::with_capacity_in(parts.len(), self.ctx.arena);
        for (i, (&part, (name, position))) in parts.iter().zip(&literal.fields).enumerate() {
            let value = match self.node(part) {
                failure @ (Value::Error(_) | Value::Halt) => return failure,
                Value::Optional(inner) if aggregate.is_optional(i) => inner.copied(),
                value if aggregate.is_optional(i) => return self.not_optional(Value::String(name), value),
                value => Some(value),
            };
            fields.push((*position, value));
        }
        match literal.message {
            Some(message) => message::literal(self.ctx, message, fields.into_iter()),
            None => self.ctx.errorf(format_args!("unknown type '{}'", literal.name)),
        }
    }

    fn charge_parts(&mut self, aggregate: &'a Aggregate, cost: u64, value: Value<'a>) -> Value<'a> {
        if let Value::Halt = value {
            return value;
        }
        if TRACKED {
            for &part in aggregate.parts.of(&self.program.operands).iter().rev() {
                if self.forget_node(part).is_none() {
                    break;
                }
            }
        }
        self.charged(cost, value)
    }
}

impl Aggregate {
    fn is_optional(&self, part: usize) -> bool {
        self.optional.get(part).copied().unwrap_or(false)
    }
}
