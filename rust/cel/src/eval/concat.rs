//! `a + b + ...`: a chain of texts is put together once, at its end.

use super::Machine;
use crate::cost::{Cost, traversal};
use crate::function::Shape;
use crate::ops::arithmetic::join_texts;
use crate::ops::size::code_points;
use crate::plan::{Call, Node, Operation};
use crate::value::Value;

/// As many parts are kept before they are put together.
const MOST: usize = 8;

/// A text in parts.
struct Parts<'a> {
    parts: [&'a str; MOST],
    len: usize,
    code_points: u64,
}

impl<'a, const TRACKED: bool> Machine<'a, '_, TRACKED> {
    /// A call of [`Operation::Add`]; its program must not be tracked.
    pub(super) fn add(&mut self, call: &'a Call, a: u32, b: u32) -> Value<'a> {
        let mut text = Parts { parts: [""; MOST], len: 0, code_points: 0 };
        match self.add_to(&mut text, call, a, b) {
            Some(value) => value,
            None => self.joined(&text),
        }
    }

    /// Evaluates `a + b`. `None` if it is a text, which is then in the parts.
    fn add_to(&mut self, text: &mut Parts<'a>, call: &'a Call, a: u32, b: u32) -> Option<Value<'a>> {
        let left = self.first(text, a);
        if let Some(Value::Halt) = left {
            return left;
        }
        let right = self.operand(b);
        let left = match (left, right) {
            (_, Value::Halt) => return Some(Value::Halt),
            (None, Value::String(part)) => return self.push_text(text, call, part),
            (None, _) => self.joined(text),
            (Some(left), _) => left,
        };
        Some(self.finish(call, &[left, right]))
    }

    /// The left operand of a `+`; `None` if it is a text, which is then in the parts.
    fn first(&mut self, text: &mut Parts<'a>, index: u32) -> Option<Value<'a>> {
        let program = self.program;
        if let Some(Node::Call(call)) = program.nodes.get(index as usize).copied()
            && let Some(call @ Call { operation: Operation::Add, shape: Shape::Fixed, .. }) =
                program.calls.get(call as usize)
            && let &[a, b] = call.args.of(&program.operands)
        {
            return self.add_to(text, call, a, b);
        }
        match self.operand(index) {
            Value::String(part) => {
                text.push(part);
                None
            }
            value => Some(value),
        }
    }

    fn push_text(&mut self, text: &mut Parts<'a>, call: &Call, part: &'a str) -> Option<Value<'a>> {
        if text.len == MOST {
            match self.joined(text) {
                Value::String(whole) => {
                    text.len = 1;
                    text.parts[0] = whole;
                }
                halt => return Some(halt),
            }
        }
        text.push(part);
        let cost = if let Cost::One = call.cost { 1 } else { traversal(text.code_points) };
        if self.ctx.charge(cost) { None } else { Some(Value::Halt) }
    }

    fn joined(&self, text: &Parts<'a>) -> Value<'a> {
        join_texts(self.ctx, text.parts.get(..text.len).unwrap_or_default())
    }
}

impl<'a> Parts<'a> {
    /// There must be room for it.
    fn push(&mut self, part: &'a str) {
        if let Some(place) = self.parts.get_mut(self.len) {
            *place = part;
            self.len += 1;
            self.code_points = self.code_points.saturating_add(code_points(part));
        }
    }
}
