//! Evaluation of a program (cel-go `interpreter/interpretable.go`), with its cost.
//!
//! Errors are values that flow upwards; [`Value::Halt`] flows upwards past everything. Recursion follows the expression,
//! whose depth the parser bounds.

mod aggregate;
mod attribute;
mod call;
mod concat;
mod fold;
mod logic;
#[cfg(test)]
mod tests;

use crate::context::EvalContext;
use crate::cost::{SELECT_AND_IDENT, Tracker};
use crate::mutants::{Mutant, planted};
use crate::plan::{Constant, Node, Program};
use crate::value::{ConstantList, Value};
use fold::Builder;

impl Program {
    /// Evaluates the expression, adding to the context's cost. The result is [`Value::Halt`] if and only if the context's halt is set.
    ///
    /// Variables are in the order of [`crate::plan::PlanOptions::variables`]; one that is `None`, or not there, is declared but not bound,
    /// which reading it reports as cel-go does ("no such attribute(s)").
    pub fn eval<'a>(&'a self, ctx: &EvalContext<'a>, variables: &[Option<Value<'a>>]) -> Value<'a> {
        let value = if let Some(constant) = self.constant() {
            constant
        } else if self.tracked {
            Machine::<true>::new(self, ctx, variables).node(self.root)
        } else {
            Machine::<false>::new(self, ctx, variables).node(self.root)
        };
        if ctx.halt().is_some() { Value::Halt } else { value }
    }

    /// The value of a program that is just a constant, as many messages and variables of policies are; these cost nothing.
    fn constant(&self) -> Option<Value<'_>> {
        match *self.nodes.get(self.root as usize)? {
            Node::Bool(b) => Some(Value::Bool(b)),
            Node::Text(text) => Some(Value::String(self.text(text))),
            Node::ConstantList(index) => self.rare().constants.get(index as usize)?.in_place(),
            Node::Constant(index) => match self.rare().constants.get(index as usize)? {
                Constant::List(_) | Constant::Map(_) => None,
                other => other.in_place(),
            },
            _ => None,
        }
    }
}

/// One evaluation. `TRACKED` programs simulate cel-go's stack of observed values, others charge each call where it is made.
struct Machine<'a, 'e, const TRACKED: bool> {
    program: &'a Program,
    ctx: &'e EvalContext<'a>,
    variables: &'e [Option<Value<'a>>],
    /// Variables of comprehensions; [`Value::Halt`] marks an accumulator without a first value.
    locals: &'a mut [Value<'a>],
    /// Lists and maps that comprehensions build, by the place of their accumulators; none if the program builds none.
    builders: &'a mut [Builder<'a>],
    /// Constants with maps in them that have been laid out, others are [`Value::Halt`]; none if the program has none.
    constants: &'a mut [Value<'a>],
    /// The value of a step that should have been a bool; see [`logic::Truth`].
    aside: Value<'a>,
    /// There is one if the program is `TRACKED`.
    tracker: Option<&'a mut Tracker<'a>>,
}

impl<'a, 'e, const TRACKED: bool> Machine<'a, 'e, TRACKED> {
    /// Everything is in the arena, so that nothing has to be done at the end.
    fn new(program: &'a Program, ctx: &'e EvalContext<'a>, variables: &'e [Option<Value<'a>>]) -> Self {
        let arena = ctx.arena;
        let slice =
            |len: u32| if len == 0 { &mut [][..] } else { arena.alloc_slice_fill_copy(len as usize, Value::Halt) };
        Machine {
            program,
            ctx,
            variables,
            locals: slice(program.locals),
            builders: match program.builders {
                0 => &mut [],
                len => arena.alloc_slice_fill_with(len as usize, |_| Builder::None),
            },
            constants: slice(program.laid_out),
            aside: Value::Null,
            tracker: if TRACKED { Some(arena.alloc(Tracker::new(arena, program.ids))) } else { None },
        }
    }

    /// Lets the tracker see a value.
    fn observe(&mut self, id: u32, value: Value<'a>) {
        if let Some(tracker) = &mut self.tracker {
            tracker.push(id, value);
        }
    }

    /// Takes the latest value of an id off the tracker's stack, with all that lie above it.
    fn forget(&mut self, id: u32) -> Option<Value<'a>> {
        self.tracker.as_mut()?.drop(id)
    }

    fn forget_node(&mut self, node: u32) -> Option<Value<'a>> {
        let id = self.id(node);
        self.forget(id)
    }

    /// Charges a step, and turns its value into a halt if that passes the limit.
    #[inline]
    fn charged(&self, cost: u64, value: Value<'a>) -> Value<'a> {
        if self.ctx.charge(cost) { value } else { Value::Halt }
    }

    fn id(&self, node: u32) -> u32 {
        self.program.node_ids.get(node as usize).copied().unwrap_or(0)
    }

    fn drop_node(&mut self, node: u32) {
        let _ = self.forget_node(node);
    }

    /// As [`Self::node`], but decides the frequent leaves on the spot.
    #[inline]
    fn operand(&mut self, index: u32) -> Value<'a> {
        if !TRACKED && let Some(&node) = self.program.nodes.get(index as usize) {
            match node {
                Node::Int(i) => return Value::Int(i.into()),
                Node::Local(place) => return self.local(place),
                Node::Text(text) => return Value::String(self.program.text(text)),
                _ => {}
            }
        }
        self.far_operand(index)
    }

    /// As [`Self::node`], with the way cut short for paths of fields.
    #[inline(never)]
    fn far_operand(&mut self, index: u32) -> Value<'a> {
        let program = self.program;
        match program.nodes.get(index as usize).copied() {
            Some(Node::Attribute(attribute)) if !TRACKED => self.attribute(attribute),
            _ => self.node(index),
        }
    }

    /// Evaluates a node and lets the tracker see its value.
    fn node(&mut self, index: u32) -> Value<'a> {
        let program = self.program;
        let Some(&node) = program.nodes.get(index as usize) else {
            return self.ctx.error("invalid program");
        };
        let value = match node {
            Node::Bool(_)
            | Node::Test(_)
            | Node::Or(..)
            | Node::And(..)
            | Node::Not(_)
            | Node::Equal(..)
            | Node::NotEqual(..)
            | Node::Compare(..)
            | Node::In(..)
            | Node::InSet(..)
            | Node::Search(..) => {
                let truth = self.truth(index);
                return self.value_of(truth);
            }
            Node::Int(i) => Value::Int(i.into()),
            Node::Text(text) => Value::String(program.text(text)),
            Node::Constant(constant) => self.constant(constant),
            Node::ConstantList(constant) => match self.program.rare().constants.get(constant as usize) {
                Some(Constant::List(elements)) => Value::Constants(ConstantList::new(elements)),
                _ => Value::Null,
            },
            Node::Local(place) => {
                if TRACKED {
                    self.forget_node(index);
                }
                self.local(place)
            }
            Node::Attribute(attribute) => self.attribute(attribute),
            Node::Call(call) => self.call(call),
            Node::OptionalOr(a, b) => self.optional_or(a, b, false),
            Node::OptionalOrValue(a, b) => self.optional_or(a, b, true),
            Node::List(aggregate) => self.list(aggregate),
            Node::Map(aggregate) => self.map(aggregate),
            Node::Message(aggregate, name) => self.message(aggregate, name),
            Node::Fold(fold) => self.fold(fold),
        };
        if TRACKED {
            self.observe(self.id(index), value);
        }
        value
    }

    fn constant(&mut self, index: u32) -> Value<'a> {
        let Some(constant) = self.program.rare().constants.get(index as usize) else {
            return Value::Null;
        };
        if !matches!(constant, Constant::List(_) | Constant::Map(_)) {
            return constant.value(self.ctx.arena);
        }
        let Some(laid_out) = self.constants.get_mut(index as usize) else {
            return Value::Null;
        };
        if let Value::Halt = laid_out {
            *laid_out = constant.value(self.ctx.arena);
        }
        *laid_out
    }

    /// `a.or(b)`, and `a.orValue(b)` which unwraps `a`.
    fn optional_or(&mut self, a: u32, b: u32, unwrap: bool) -> Value<'a> {
        let left = self.node(a);
        match left {
            Value::Error(_) | Value::Halt => left,
            Value::Optional(Some(value)) if unwrap => *value,
            Value::Optional(Some(_)) => left,
            Value::Optional(None) if unwrap && planted(Mutant::OrValueOfNone) => left,
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
