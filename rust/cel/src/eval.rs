//! Evaluation of a program (cel-go `interpreter/interpretable.go`), with its cost.
//!
//! Errors are values that flow upwards; [`Value::Halt`] flows upwards past everything. Recursion follows the expression,
//! whose depth the parser bounds.

mod aggregate;
mod attribute;
mod call;
mod fold;
#[cfg(test)]
mod tests;

use crate::context::EvalContext;
use crate::cost::{SELECT_AND_IDENT, Tracker, smaller};
use crate::ops;
use crate::plan::{Comparison, Constant, NodeKind, Program};
use crate::value::{Traits, Value};
use fold::Builder;

/// The variables of one evaluation.
pub trait Activation<'a> {
    /// The variable in a slot of [`crate::plan::PlanOptions::variables`]; `None` if it is declared but not bound, which reading
    /// it reports as cel-go does ("no such attribute(s)").
    fn resolve(&self, slot: usize) -> Option<Value<'a>>;
}

/// Variables in a slice, by slot.
pub struct Slots<'s, 'a>(pub &'s [Option<Value<'a>>]);

impl<'a> Activation<'a> for Slots<'_, 'a> {
    fn resolve(&self, slot: usize) -> Option<Value<'a>> {
        self.0.get(slot).copied().flatten()
    }
}

impl Program {
    /// Evaluates the expression, adding to the context's cost. The result is [`Value::Halt`] if and only if the context's halt is set.
    pub fn eval<'a>(&'a self, ctx: &EvalContext<'a>, variables: &dyn Activation<'a>) -> Value<'a> {
        let value = if self.tracked {
            Machine::<true>::new(self, ctx, variables).node(self.root)
        } else {
            Machine::<false>::new(self, ctx, variables).node(self.root)
        };
        if ctx.halt().is_some() { Value::Halt } else { value }
    }
}

/// One evaluation. `TRACKED` programs simulate cel-go's stack of observed values, others charge each call where it is made.
struct Machine<'a, 'e, const TRACKED: bool> {
    program: &'a Program,
    ctx: &'e EvalContext<'a>,
    variables: &'e dyn Activation<'a>,
    /// Variables of comprehensions; [`Value::Halt`] marks an accumulator without a first value.
    locals: &'a mut [Value<'a>],
    /// Lists and maps that comprehensions build, by the place of their accumulators.
    builders: bumpalo::collections::Vec<'a, Builder<'a>>,
    /// Constant lists and maps laid out so far.
    constants: bumpalo::collections::Vec<'a, (u32, Value<'a>)>,
    tracker: Tracker<'a>,
}

impl<'a, 'e, const TRACKED: bool> Machine<'a, 'e, TRACKED> {
    fn new(program: &'a Program, ctx: &'e EvalContext<'a>, variables: &'e dyn Activation<'a>) -> Self {
        Machine {
            program,
            ctx,
            variables,
            locals: ctx.arena.alloc_slice_fill_copy(program.locals as usize, Value::Halt),
            builders: bumpalo::collections::Vec::new_in(ctx.arena),
            constants: bumpalo::collections::Vec::new_in(ctx.arena),
            tracker: Tracker::new(ctx.arena, if TRACKED { program.ids } else { 0 }),
        }
    }

    /// Charges a step, and turns its value into a halt if that passes the limit.
    #[inline]
    fn charged(&self, cost: u64, value: Value<'a>) -> Value<'a> {
        if self.ctx.charge(cost) { value } else { Value::Halt }
    }

    fn id(&self, node: u32) -> u32 {
        self.program.nodes.get(node as usize).map_or(0, |node| node.id)
    }

    fn drop_node(&mut self, node: u32) {
        let id = self.id(node);
        self.tracker.drop(id);
    }

    /// As [`Self::node`], but decides the frequent leaves on the spot.
    #[inline]
    fn operand(&mut self, index: u32) -> Value<'a> {
        if !TRACKED && let Some(node) = self.program.nodes.get(index as usize) {
            match node.kind {
                NodeKind::Int(i) => return Value::Int(i),
                NodeKind::Local(place) => return self.local(place),
                NodeKind::Constant(constant) => {
                    if let Some(Constant::String(text)) = self.program.constants.get(constant as usize) {
                        return Value::String(text);
                    }
                }
                _ => {}
            }
        }
        self.node(index)
    }

    /// Evaluates a node and lets the tracker see its value.
    fn node(&mut self, index: u32) -> Value<'a> {
        let program = self.program;
        let Some(node) = program.nodes.get(index as usize) else {
            return self.ctx.error("invalid program");
        };
        let value = match node.kind {
            NodeKind::Bool(b) => Value::Bool(b),
            NodeKind::Int(i) => Value::Int(i),
            NodeKind::Constant(constant) => self.constant(constant),
            NodeKind::Local(place) => {
                if TRACKED {
                    self.tracker.drop(node.id);
                }
                self.local(place)
            }
            NodeKind::Attribute(attribute) => self.attribute(attribute),
            NodeKind::Test(attribute) => self.test(attribute),
            NodeKind::Or(a, b) => self.logical(a, b, true),
            NodeKind::And(a, b) => self.logical(a, b, false),
            NodeKind::Not(a) => self.not(a),
            NodeKind::Equal(a, b) => self.equality(a, b, true),
            NodeKind::NotEqual(a, b) => self.equality(a, b, false),
            NodeKind::Compare(comparison, sized, a, b) => self.compare(comparison, sized, a, b),
            NodeKind::Call(call) => self.call(call, node.id),
            NodeKind::InSet(element, set) => self.in_set(element, set),
            NodeKind::OptionalOr(a, b) => self.optional_or(a, b, false),
            NodeKind::OptionalOrValue(a, b) => self.optional_or(a, b, true),
            NodeKind::List(aggregate) => self.list(aggregate),
            NodeKind::Map(aggregate) => self.map(aggregate),
            NodeKind::Message(aggregate, name) => self.message(aggregate, name),
            NodeKind::Fold(fold) => self.fold(fold),
        };
        if TRACKED {
            self.tracker.push(node.id, value);
        }
        value
    }

    fn constant(&mut self, index: u32) -> Value<'a> {
        let Some(constant) = self.program.constants.get(index as usize) else {
            return Value::Null;
        };
        if !matches!(constant, Constant::List(_) | Constant::Map(_)) {
            return constant.value(self.ctx.arena);
        }
        if let Some((_, value)) = self.constants.iter().find(|(known, _)| *known == index) {
            return *value;
        }
        let value = constant.value(self.ctx.arena);
        self.constants.push((index, value));
        value
    }

    /// `||` (decided by true) and `&&` (decided by false); an error of one side yields to a decision by the other.
    fn logical(&mut self, a: u32, b: u32, decisive: bool) -> Value<'a> {
        let value = self.logical_value(a, b, decisive);
        if TRACKED {
            self.drop_node(a);
            self.drop_node(b);
        }
        value
    }

    #[inline]
    fn logical_value(&mut self, a: u32, b: u32, decisive: bool) -> Value<'a> {
        let left = self.node(a);
        match left {
            Value::Bool(value) if value == decisive => return left,
            Value::Halt => return left,
            _ => {}
        }
        let right = self.node(b);
        match (left, right) {
            (_, Value::Bool(value)) if value == decisive => right,
            (_, Value::Halt) => right,
            (Value::Bool(_), Value::Bool(_) | Value::Error(_)) => right,
            (Value::Error(_), _) => left,
            _ => self.ctx.error("no such overload"),
        }
    }

    fn not(&mut self, a: u32) -> Value<'a> {
        let value = match self.node(a) {
            Value::Bool(b) => Value::Bool(!b),
            Value::Halt => return Value::Halt,
            error @ Value::Error(_) => error,
            _ => self.ctx.error("no such overload"),
        };
        if TRACKED && self.tracker.drop(self.id(a)).is_none() {
            return value;
        }
        self.charged(1, value)
    }

    /// `==` and `!=`, charged by the size of the smaller operand.
    fn equality(&mut self, a: u32, b: u32, equal: bool) -> Value<'a> {
        let left = self.operand(a);
        if let Value::Halt = left {
            return left;
        }
        let right = self.operand(b);
        let value = match (left, right) {
            (_, Value::Halt) => return right,
            (Value::Error(_), _) => left,
            (_, Value::Error(_)) => right,
            _ => match ops::equal(self.ctx, left, right) {
                Value::Halt => return Value::Halt,
                result if equal => result,
                result => Value::Bool(!matches!(result, Value::Bool(true))),
            },
        };
        let Some(args) = self.observed([a, b], [left, right]) else {
            return value;
        };
        let cost = if equal && matches!(args[0], Value::Opaque(_)) { 1 } else { smaller(&args) };
        self.charged(cost, value)
    }

    /// `<`, `<=`, `>` and `>=`.
    fn compare(&mut self, comparison: Comparison, sized: bool, a: u32, b: u32) -> Value<'a> {
        let left = self.operand(a);
        if let Value::Halt = left {
            return left;
        }
        let right = self.operand(b);
        let value = match (left, right) {
            (Value::Int(a), Value::Int(b)) => Value::Bool(comparison.holds(a.cmp(&b))),
            (_, Value::Halt) => return right,
            (Value::Error(_), _) => left,
            (_, Value::Error(_)) => right,
            _ if left.traits() & Traits::COMPARER == 0 => {
                self.ctx.errorf(format_args!("no such overload: {}", comparison.function()))
            }
            _ => match ops::compare::compare(self.ctx, left, right) {
                Ok(order) => Value::Bool(comparison.holds(order)),
                Err(error) => error,
            },
        };
        let Some(args) = self.observed([a, b], [left, right]) else {
            return value;
        };
        self.charged(if sized { smaller(&args) } else { 1 }, value)
    }

    /// The arguments of a binary operator by which it is charged: those that the tracker has seen, if there is one.
    #[inline]
    fn observed(&mut self, nodes: [u32; 2], values: [Value<'a>; 2]) -> Option<[Value<'a>; 2]> {
        if !TRACKED {
            return Some(values);
        }
        let [a, b] = nodes;
        let right = self.tracker.drop(self.id(b))?;
        let left = self.tracker.drop(self.id(a))?;
        Some([left, right])
    }

    fn in_set(&mut self, element: u32, set: u32) -> Value<'a> {
        let element = self.operand(element);
        match self.program.sets.get(set as usize) {
            Some(set) if !element.is_error_or_halt() => set.contains(self.ctx, element),
            _ => element,
        }
    }

    /// `a.or(b)`, and `a.orValue(b)` which unwraps `a`.
    fn optional_or(&mut self, a: u32, b: u32, unwrap: bool) -> Value<'a> {
        let left = self.node(a);
        match left {
            Value::Error(_) | Value::Halt => left,
            Value::Optional(Some(value)) if unwrap => *value,
            Value::Optional(Some(_)) => left,
            Value::Optional(None) => self.node(b),
            _ => self.ctx.error("no such overload"),
        }
    }

    /// An iteration variable.
    #[inline]
    fn local(&self, place: u32) -> Value<'a> {
        self.charge_ident(self.locals.get(place as usize).copied().unwrap_or(Value::Null))
    }

    /// Charges for a variable.
    #[inline]
    fn charge_ident(&self, value: Value<'a>) -> Value<'a> {
        self.charged(SELECT_AND_IDENT, value)
    }
}
