//! Whether a program's cost needs cel-go's stack of observed values, or can be charged where it arises.
//!
//! Values that no parent takes off the stack stay there until the comprehension around them ends. They do harm only if an
//! attribute does so: when it is evaluated again, its own old entry is dropped with all that lies above it. What then can be
//! missing are the entries of a call's earlier arguments, and with them the call's charge. So the stack is needed if, inside of
//! a comprehension's condition or step, an attribute that can stay behind is evaluated while an earlier argument of some call
//! is waiting.

use super::{Attribute, Base, Node, Program, QualifierKind, Span};
use crate::function::Shape;

/// True if calls can be left uncharged by what an earlier round of a comprehension left on the stack.
pub(crate) fn needed(program: &Program) -> bool {
    let walk = Walk { program };
    program.folds.iter().any(|fold| walk.node(fold.condition, false) || walk.node(fold.step, false))
}

struct Walk<'p> {
    program: &'p Program,
}

impl Walk<'_> {
    /// Whether harm can be done below a node; `waiting` says that an earlier argument of a call around it is on the stack.
    fn node(&self, index: u32, waiting: bool) -> bool {
        let Some(&node) = self.program.nodes.get(index as usize) else {
            return false;
        };
        match node {
            Node::Bool(_)
            | Node::Int(_)
            | Node::Text(_)
            | Node::Constant(_)
            | Node::ConstantList(_)
            | Node::Local(_) => false,
            Node::Attribute(attribute) | Node::Test(attribute) => self.attribute(attribute, waiting, false),
            Node::And(a, b) | Node::Or(a, b) => self.node(a, waiting) || self.node(b, waiting),
            Node::Not(a) => self.node(a, waiting),
            Node::Equal(a, b) | Node::NotEqual(a, b) | Node::Compare(_, _, a, b) => {
                self.node(a, waiting) || self.node(b, true)
            }
            Node::InSet(element, _) => (waiting && self.is_attribute(element)) || self.node(element, waiting),
            Node::OptionalOr(a, b) | Node::OptionalOrValue(a, b) => {
                let stays = waiting && (self.is_attribute(a) || self.is_attribute(b));
                stays || self.node(a, waiting) || self.node(b, waiting)
            }
            Node::List(aggregate) | Node::Map(aggregate) | Node::Message(aggregate, _) => {
                let parts =
                    self.program.rare().aggregates.get(aggregate as usize).map_or(Span::default(), |found| found.parts);
                let parts = parts.of(&self.program.operands);
                self.abandons(parts, waiting) || parts.iter().any(|&part| self.node(part, waiting))
            }
            Node::Call(call) | Node::In(_, call, ..) | Node::Search(_, call, ..) => {
                let Some(call) = self.program.calls.get(call as usize) else {
                    return false;
                };
                let args = call.args.of(&self.program.operands);
                let stays = call.shape == Shape::Variadic && self.abandons(args, waiting);
                stays || args.iter().enumerate().any(|(i, &arg)| self.node(arg, waiting || i > 0))
            }
            // What happens inside of a comprehension is removed when it ends; its own rounds are looked at by themselves.
            Node::Fold(fold) => {
                self.program.folds.get(fold as usize).is_some_and(|fold| self.node(fold.range, waiting))
            }
        }
    }

    /// Whether parts stay behind when an error ends the evaluation of the parts.
    fn abandons(&self, parts: &[u32], waiting: bool) -> bool {
        let [earlier @ .., _] = parts else {
            return false;
        };
        waiting && earlier.iter().any(|&part| self.is_attribute(part))
    }

    fn is_attribute(&self, node: u32) -> bool {
        let node = self.program.nodes.get(node as usize);
        matches!(node, Some(Node::Attribute(_) | Node::Local(_) | Node::Test(_)))
    }

    /// `raw`: the attribute is an index, which is evaluated without being observed as a step.
    fn attribute(&self, index: u32, waiting: bool, raw: bool) -> bool {
        let Some(attribute) = self.program.attributes.get(index as usize) else {
            return false;
        };
        self.base(attribute, waiting, raw) || self.path(attribute, waiting, raw)
    }

    fn base(&self, attribute: &Attribute, waiting: bool, raw: bool) -> bool {
        match attribute.base {
            Base::Slot(..) | Base::Missing(_) | Base::Local(_) | Base::Accumulator(..) => false,
            Base::Node(node) => self.node(node, waiting),
            Base::Conditional(condition, truthy, falsy) => {
                (raw && waiting && self.is_attribute(condition))
                    || self.node(condition, waiting)
                    || self.attribute(truthy, waiting, raw)
                    || self.attribute(falsy, waiting, raw)
            }
        }
    }

    fn path(&self, attribute: &Attribute, waiting: bool, raw: bool) -> bool {
        let path = attribute.path.of(&self.program.qualifiers);
        path.iter().enumerate().any(|(i, qualifier)| match qualifier.kind {
            QualifierKind::Attribute(index) => self.attribute(index, waiting, true),
            QualifierKind::Computed(index) => {
                let last = i + 1 == path.len() && !raw;
                (waiting && !last) || self.attribute(index, waiting, true)
            }
            _ => false,
        })
    }
}
