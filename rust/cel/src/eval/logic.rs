//! Steps that are bools unless something is wrong: `&&`, `||`, `!`, `has()`, equality, order, membership.
//!
//! Policies consist of little else, so these hand their result on in a register; a [`Value`] is made of it only for a step
//! that wants one.

use super::Machine;
use crate::cost::{smaller, smaller_text, tenth_of_text};
use crate::mutants::{Mutant, planted};
use crate::ops;
use crate::plan::{Comparison, Node, Search};
use crate::value::{Traits, Value};

/// The result of a step where a bool is expected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    False,
    True,
    /// An error, a halt, or a value that is no bool: it is in [`Machine::aside`].
    Other,
}

impl Truth {
    #[inline]
    pub(super) fn of(value: bool) -> Truth {
        if value { Truth::True } else { Truth::False }
    }
}

impl<'a, const TRACKED: bool> Machine<'a, '_, TRACKED> {
    /// Evaluates a node where a bool is expected, and lets the tracker see its value.
    pub(super) fn truth(&mut self, index: u32) -> Truth {
        let program = self.program;
        let Some(&node) = program.nodes.get(index as usize) else {
            let error = self.ctx.error("invalid program");
            return self.other(error);
        };
        let truth = match node {
            Node::Bool(b) => Truth::of(b),
            Node::Test(attribute) => self.test(attribute),
            Node::Or(a, b) => self.logical(a, b, Truth::True),
            Node::And(a, b) => self.logical(a, b, Truth::False),
            Node::Not(a) => self.not(a),
            Node::Equal(a, b) => self.equality(a, b, true),
            Node::NotEqual(a, b) => self.equality(a, b, false),
            Node::Compare(comparison, sized, a, b) => self.compare(comparison, sized, a, b),
            Node::In(sized, call, element, container) => self.contained(sized, call, element, container),
            Node::InSet(element, set) => self.in_set(element, set),
            Node::Search(search, call, text, part) => self.search(search, call, text, part),
            _ => {
                let value = self.node(index);
                return self.truth_of(value);
            }
        };
        if TRACKED {
            let value = self.value_of(truth);
            self.observe(self.id(index), value);
        }
        truth
    }

    #[inline]
    pub(super) fn truth_of(&mut self, value: Value<'a>) -> Truth {
        match value {
            Value::Bool(b) => Truth::of(b),
            other => self.other(other),
        }
    }

    #[inline]
    pub(super) fn value_of(&self, truth: Truth) -> Value<'a> {
        match truth {
            Truth::False => Value::Bool(false),
            Truth::True => Value::Bool(true),
            Truth::Other => self.aside,
        }
    }

    /// Puts aside what is no bool.
    pub(super) fn other(&mut self, value: Value<'a>) -> Truth {
        self.aside = value;
        Truth::Other
    }

    /// Charges a step, and turns its result into a halt if that passes the limit.
    #[inline]
    pub(super) fn charged_truth(&mut self, cost: u64, truth: Truth) -> Truth {
        if self.ctx.charge(cost) { truth } else { self.other(Value::Halt) }
    }

    /// `||` (decided by true) and `&&` (decided by false); an error of one side yields to a decision by the other.
    fn logical(&mut self, a: u32, b: u32, decisive: Truth) -> Truth {
        let truth = self.logical_truth(a, b, decisive);
        if TRACKED {
            self.drop_node(a);
            self.drop_node(b);
        }
        truth
    }

    #[inline]
    fn logical_truth(&mut self, a: u32, b: u32, decisive: Truth) -> Truth {
        let left = self.truth(a);
        if left != Truth::Other {
            if left == decisive {
                return left;
            }
            let right = self.truth(b);
            return match right {
                Truth::Other if !self.aside.is_error_or_halt() => self.no_such_overload(),
                right => right,
            };
        }
        let left = self.aside;
        if let Value::Halt = left {
            return Truth::Other;
        }
        let right = self.truth(b);
        match (left, right) {
            (Value::Error(_), _) if decisive == Truth::False && planted(Mutant::AndKeepsErrors) => self.other(left),
            (_, right) if right == decisive => right,
            (_, Truth::Other) if matches!(self.aside, Value::Halt) => right,
            (Value::Error(_), _) => self.other(left),
            _ => self.no_such_overload(),
        }
    }

    fn no_such_overload(&mut self) -> Truth {
        let error = self.ctx.error("no such overload");
        self.other(error)
    }

    fn not(&mut self, a: u32) -> Truth {
        let truth = match self.truth(a) {
            Truth::False => Truth::True,
            Truth::True => Truth::False,
            Truth::Other if matches!(self.aside, Value::Halt) => return Truth::Other,
            Truth::Other if self.aside.is_error() => Truth::Other,
            Truth::Other => self.no_such_overload(),
        };
        if TRACKED && self.forget_node(a).is_none() {
            return truth;
        }
        self.charged_truth(1, truth)
    }

    /// `==` and `!=`, charged by the size of the smaller operand.
    fn equality(&mut self, a: u32, b: u32, equal: bool) -> Truth {
        let left = self.operand(a);
        if let Value::Halt = left {
            return self.other(left);
        }
        let right = self.operand(b);
        let truth = match (left, right) {
            (Value::String(a), Value::String(b)) => {
                let truth = Truth::of(ops::same_bytes(a.as_bytes(), b.as_bytes()) == equal);
                if !TRACKED && !planted(Mutant::NotEqualIsFree) {
                    return self.charged_truth(smaller_text(a, b), truth);
                }
                truth
            }
            (_, Value::Halt) => return self.other(right),
            (Value::Error(_), _) => self.other(left),
            (_, Value::Error(_)) => self.other(right),
            _ => match ops::equal(self.ctx, left, right) {
                Value::Halt => return self.other(Value::Halt),
                Value::Bool(same) => Truth::of(same == equal),
                error if equal => self.other(error),
                _ => Truth::True,
            },
        };
        if !TRACKED {
            let cost = if planted(Mutant::NotEqualIsFree) && !equal { 1 } else { equality_cost(left, right, equal) };
            return self.charged_truth(cost, truth);
        }
        let Some((left, right)) = self.observed(a, b) else {
            return truth;
        };
        self.charged_truth(equality_cost(left, right, equal), truth)
    }

    /// `<`, `<=`, `>` and `>=`.
    fn compare(&mut self, comparison: Comparison, sized: bool, a: u32, b: u32) -> Truth {
        let left = self.operand(a);
        if let Value::Halt = left {
            return self.other(left);
        }
        let right = self.operand(b);
        let truth = match (left, right) {
            (Value::Int(a), Value::Int(b)) => Truth::of(comparison.holds(a.cmp(&b))),
            (_, Value::Halt) => return self.other(right),
            (Value::Error(_), _) => self.other(left),
            (_, Value::Error(_)) => self.other(right),
            _ if left.traits() & Traits::COMPARER == 0 => {
                let error = self.ctx.errorf(format_args!("no such overload: {}", comparison.function()));
                self.other(error)
            }
            _ => match ops::compare::compare(self.ctx, left, right) {
                Ok(order) => Truth::of(comparison.holds(order)),
                Err(error) => self.other(error),
            },
        };
        if !TRACKED {
            return self.charged_truth(if sized { smaller(left, right) } else { 1 }, truth);
        }
        match self.observed(a, b) {
            Some((left, right)) => self.charged_truth(if sized { smaller(left, right) } else { 1 }, truth),
            None => truth,
        }
    }

    /// The arguments of a binary operator as the tracker has them; without them it is not charged.
    fn observed(&mut self, a: u32, b: u32) -> Option<(Value<'a>, Value<'a>)> {
        let right = self.forget_node(b)?;
        let left = self.forget_node(a)?;
        Some((left, right))
    }

    /// `contains`, `startsWith` and `endsWith`, charged by the sizes that Kubernetes says they walk.
    fn search(&mut self, search: Search, call: u32, text: u32, part: u32) -> Truth {
        let (text, part) = match self.two(call, text, part) {
            Ok(evaluated) => evaluated,
            Err(truth) => return truth,
        };
        if let (Value::String(text), Value::String(part)) = (text, part)
            && !planted(Mutant::ContainsIsAdded)
        {
            let walked = if search == Search::Contains { tenth_of_text(text) } else { 1 };
            let cost = walked.saturating_mul(tenth_of_text(part));
            return self.charged_truth(cost, Truth::of(search.finds(text, part)));
        }
        self.called(call, &[text, part])
    }

    /// `in`; that of a string in what a record holds without making values of its parts.
    fn contained(&mut self, sized: bool, call: u32, element: u32, container: u32) -> Truth {
        let (element, container) = match self.two(call, element, container) {
            Ok(evaluated) => evaluated,
            Err(truth) => return truth,
        };
        if let (Value::String(text), Value::Record(record)) = (element, container) {
            let found = if record.is_list() {
                if !self.ctx.step(record.len() as u64) {
                    return self.other(Value::Halt);
                }
                Some(record.has_element(text))
            } else {
                record.has_key(text)
            };
            if let Some(found) = found {
                let cost = if sized { record.len() as u64 } else { 1 };
                return self.charged_truth(cost, Truth::of(found));
            }
        }
        self.called(call, &[element, container])
    }

    /// What a call comes to with its arguments evaluated.
    #[inline(never)]
    fn called(&mut self, call: u32, args: &[Value<'a>]) -> Truth {
        let value = match self.program.calls.get(call as usize) {
            Some(call) => self.finish(call, args),
            None => Value::Null,
        };
        self.truth_of(value)
    }

    /// The two arguments of a call, or what it comes to if they are not to be looked at here.
    #[inline(always)]
    fn two(&mut self, call: u32, first: u32, second: u32) -> Result<(Value<'a>, Value<'a>), Truth> {
        if TRACKED {
            let value = self.call(call);
            return Err(self.truth_of(value));
        }
        let first = self.operand(first);
        if let Value::Halt = first {
            return Err(self.other(first));
        }
        let second = self.operand(second);
        if let Value::Halt = second {
            return Err(self.other(second));
        }
        Ok((first, second))
    }

    /// `x in [constants]`, which costs nothing itself.
    fn in_set(&mut self, element: u32, set: u32) -> Truth {
        let element = self.operand(element);
        let value = match self.program.rare().sets.get(set as usize) {
            Some(set) if !element.is_error_or_halt() => set.contains(self.ctx, element),
            _ => element,
        };
        self.truth_of(value)
    }
}

/// What `==` and `!=` cost: by the smaller of the two, but 1 for `==` on a library's type.
#[inline]
fn equality_cost(left: Value<'_>, right: Value<'_>, equal: bool) -> u64 {
    if equal && matches!(left, Value::Opaque(opaque) if !opaque.is_message()) { 1 } else { smaller(left, right) }
}
