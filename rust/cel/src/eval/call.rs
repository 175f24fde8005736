//! Function calls (cel-go `evalUnary`, `evalBinary`, `evalVarArgs`).

use super::Machine;
use super::fold::Builder;
use crate::cost::{Cost, LIST_CREATE};
use crate::function::Shape;
use crate::library::comprehensions::{MAP_INSERT, insert_into};
use crate::library::standard::operators::not_strictly_false;
use crate::ops::arithmetic;
use crate::plan::{Call, Operation};
use crate::value::{ListView, MapView, Traits, Value};

impl<'a, const TRACKED: bool> Machine<'a, '_, TRACKED> {
    pub(super) fn call(&mut self, index: u32) -> Value<'a> {
        let Some(call) = self.program.calls.get(index as usize) else {
            return Value::Null;
        };
        match (call.args.of(&self.program.operands), call.shape) {
            (&[a], Shape::Fixed) => {
                let args = [self.operand(a)];
                if let Value::Halt = args[0] {
                    return Value::Halt;
                }
                self.finish(call, &args)
            }
            (&[a, b], Shape::Fixed) => {
                if !TRACKED && matches!(call.operation, Operation::Add) {
                    return self.add(call, a, b);
                }
                let left = self.operand(a);
                if let Value::Halt = left {
                    return left;
                }
                if let (Operation::Append(place, Some(element)), Value::Accumulator, false) =
                    (&call.operation, left, TRACKED)
                {
                    return self.push(*place, *element);
                }
                let args = [left, self.operand(b)];
                if let Value::Halt = args[1] {
                    return Value::Halt;
                }
                self.finish(call, &args)
            }
            (operands, _) => {
                let mut few = [Value::Null; 4];
                match few.get_mut(..operands.len()) {
                    Some(args) => self.variadic(call, operands, args),
                    None => {
                        let args = self.ctx.arena.alloc_slice_fill_copy(operands.len(), Value::Null);
                        self.variadic(call, operands, args)
                    }
                }
            }
        }
    }

    /// Arguments, of which `args` has as many places as there are operands, are evaluated up to the first error; the call is
    /// charged only if all were evaluated.
    fn variadic(&mut self, call: &'a Call, operands: &'a [u32], args: &mut [Value<'a>]) -> Value<'a> {
        for (i, (&operand, place)) in operands.iter().zip(args.iter_mut()).enumerate() {
            let arg = self.operand(operand);
            if let Value::Halt = arg {
                return arg;
            }
            *place = arg;
            if !call.non_strict && arg.is_error() {
                if !TRACKED && i + 1 < operands.len() {
                    return arg;
                }
                return self.charge_call(call, args.get(..=i).unwrap_or_default(), arg);
            }
        }
        self.finish(call, args)
    }

    /// A call with its arguments evaluated.
    pub(super) fn finish(&mut self, call: &'a Call, args: &[Value<'a>]) -> Value<'a> {
        let value = self.apply(call, args);
        self.charge_call(call, args, value)
    }

    /// `accumulator + [element]` with the accumulator read, charged for the list and the sum as if both were made.
    fn push(&mut self, place: u32, element: u32) -> Value<'a> {
        let value = self.operand(element);
        if let Value::Halt = value {
            return value;
        }
        if !self.ctx.charge(LIST_CREATE) {
            return Value::Halt;
        }
        if value.is_error() {
            return self.charged(1, value);
        }
        if let Some(Builder::List(elements)) = self.builders.get_mut(place as usize) {
            elements.push(value);
        }
        self.charged(1, Value::Accumulator)
    }

    fn charge_call(&mut self, call: &'a Call, args: &[Value<'a>], value: Value<'a>) -> Value<'a> {
        if let Value::Halt = value {
            return value;
        }
        if !TRACKED {
            return self.charge_count(call, args, value);
        }
        let mut observed = bumpalo::collections::Vec::with_capacity_in(args.len(), self.ctx.arena);
        for &operand in call.args.of(&self.program.operands).iter().rev() {
            let Some(arg) = self.forget_node(operand) else {
                return value;
            };
            observed.push(arg);
        }
        observed.reverse();
        self.charge_count(call, &observed, value)
    }

    /// Counting can be what ends the evaluation, where Go's code panics on the arguments.
    #[inline]
    fn charge_count(&self, call: &Call, args: &[Value<'a>], value: Value<'a>) -> Value<'a> {
        let cost = call.cost.count(self.ctx, args, value);
        if matches!(call.cost, Cost::Custom(_)) && self.ctx.halt().is_some() {
            return Value::Halt;
        }
        self.charged(cost, value)
    }

    fn apply(&mut self, call: &'a Call, args: &[Value<'a>]) -> Value<'a> {
        let ctx = self.ctx;
        match (&call.operation, args) {
            (Operation::NotStrictlyFalse, [value]) => not_strictly_false(*value),
            (_, [error @ Value::Error(_), ..] | [_, error @ Value::Error(_), ..]) if !call.non_strict => *error,
            (Operation::Add, [left, right]) if left.traits() & Traits::ADDER != 0 => {
                arithmetic::add(ctx, *left, *right)
            }
            (Operation::Append(place, _), [Value::Accumulator, list]) => self.append(*place, *list),
            (Operation::Append(..), [left, right]) if left.traits() & Traits::ADDER != 0 => {
                arithmetic::add(ctx, *left, *right)
            }
            (Operation::Insert(place), [Value::Accumulator, rest @ ..]) => self.insert(*place, rest),
            (Operation::Direct(eval), _) => {
                ctx.prepared.set(call.regex.and_then(|regex| self.program.rare().regexes.get(regex as usize)));
                let value = eval(ctx, args);
                ctx.prepared.set(None);
                ctx.checked(value)
            }
            (Operation::Bound(binding), _) => {
                let value = binding.call(ctx, self.program.text(call.function), call.id, args);
                ctx.checked(value)
            }
            _ => ctx.errorf(format_args!("no such overload: {}", self.program.text(call.function))),
        }
    }

    fn append(&mut self, place: u32, list: Value<'a>) -> Value<'a> {
        let Some(list) = ListView::of(list) else {
            return self.ctx.error("no such overload");
        };
        if let Some(Builder::List(elements)) = self.builders.get_mut(place as usize) {
            elements.extend(list.iter());
        }
        Value::Accumulator
    }

    fn insert(&mut self, place: u32, entry: &[Value<'a>]) -> Value<'a> {
        if let [update] = entry
            && !matches!(MapView::of(*update), Some(MapView::Entries(_) | MapView::Record(_)))
        {
            let ty = update.type_name();
            return self.ctx.errorf(format_args!("no such overload: {MAP_INSERT}(map, {ty})"));
        }
        let Some(Builder::Map(map)) = self.builders.get_mut(place as usize) else {
            return Value::Accumulator;
        };
        insert_into(self.ctx, map, entry).unwrap_or(Value::Accumulator)
    }
}
