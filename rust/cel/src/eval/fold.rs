//! Comprehensions (cel-go `evalFold` and `folder`).

use super::Machine;
use super::logic::Truth;
use crate::mutants::{Mutant, planted};
use crate::plan::Fold;
use crate::value::{LazyMap, ListView, MapBuilder, MapOrder, MapValue, MapView, Value};

/// What a comprehension builds in place instead of copying it in each round.
pub(super) enum Builder<'a> {
    /// Nothing.
    None,
    /// A list or map, by what the first value of the accumulator turns out to be.
    Wanted,
    List(bumpalo::collections::Vec<'a, Value<'a>>),
    Map(MapBuilder<'a>),
}

/// Whether a comprehension goes on.
enum Round {
    Continue,
    Stop,
    Halt,
    Interrupt,
}

/// How the rounds of a comprehension ended.
enum End {
    Done,
    Halted,
    Interrupted,
}

impl<'a, const TRACKED: bool> Machine<'a, '_, TRACKED> {
    pub(super) fn fold(&mut self, index: u32) -> Value<'a> {
        let Some(fold) = self.program.folds.get(index as usize) else {
            return Value::Null;
        };
        let range = self.operand(fold.range);
        let value = if range.is_error_or_halt() { range } else { self.fold_over(fold, range) };
        if TRACKED {
            self.drop_node(fold.range);
        }
        value
    }

    fn fold_over(&mut self, fold: &'a Fold, range: Value<'a>) -> Value<'a> {
        let first = match fold.quantifier {
            Some((_, all)) if !TRACKED => Value::Bool(all),
            _ => Value::Halt,
        };
        self.set_local(fold.accumulator, first);
        let wanted = if fold.builds { Builder::Wanted } else { Builder::None };
        if let Some(builder) = self.builders.get_mut(fold.accumulator as usize) {
            *builder = wanted;
        }
        let end = match (ListView::of(range), MapView::of(range)) {
            (Some(list), _) => self.fold_list(fold, list),
            (None, Some(MapView::Lazy(map))) => self.fold_lazy(fold, map),
            (None, Some(map)) => {
                let order = map.order(self.ctx);
                self.fold_map(fold, order)
            }
            (None, None) => {
                let ty = range.go_type_name();
                return match fold.variable2 {
                    Some(_) => self.ctx.errorf(format_args!("unsupported comprehension range type: {ty}")),
                    None => self.ctx.errorf(format_args!("got '{ty}', expected iterable type")),
                };
            }
        };
        match end {
            End::Done => {}
            End::Halted => return Value::Halt,
            End::Interrupted => return self.ctx.interruption(),
        }
        match self.node(fold.result) {
            Value::Accumulator => self.built(fold.accumulator),
            value => value,
        }
    }

    /// The rounds over a list.
    fn fold_list(&mut self, fold: &'a Fold, list: ListView<'a>) -> End {
        for (i, element) in list.iter().enumerate() {
            match fold.variable2 {
                None => self.set_local(fold.variable, element),
                Some(second) => {
                    self.set_local(
                        fold.variable,
                        Value::Int(i as i64 + i64::from(planted(Mutant::SecondVariableFromOne))),
                    );
                    self.set_local(second, element);
                }
            }
            match self.round(fold) {
                Round::Continue => {}
                Round::Stop => break,
                Round::Halt => return End::Halted,
                Round::Interrupt => return End::Interrupted,
            }
        }
        End::Done
    }

    fn fold_map(&mut self, fold: &'a Fold, order: MapOrder<'a>) -> End {
        for i in 0..order.len() {
            match fold.variable2 {
                None => match order.key(i) {
                    Some(key) => self.set_local(fold.variable, key),
                    None => return End::Done,
                },
                Some(second) => {
                    let Some((key, value)) = order.entry(self.ctx, i) else { return End::Done };
                    self.set_local(fold.variable, key);
                    self.set_local(second, value);
                }
            }
            match self.round(fold) {
                Round::Continue => {}
                Round::Stop => break,
                Round::Halt => return End::Halted,
                Round::Interrupt => return End::Interrupted,
            }
        }
        End::Done
    }

    /// Upstream's lazy map iterates over its values, and a two-variable comprehension then takes these for keys.
    fn fold_lazy(&mut self, fold: &'a Fold, map: &'a dyn LazyMap<'a>) -> End {
        for i in 0..map.len() {
            let value = map.get(self.ctx, i);
            if let Value::Halt = value {
                return End::Halted;
            }
            self.set_local(fold.variable, value);
            if let Some(second) = fold.variable2 {
                let found = MapView::Lazy(map).find(self.ctx, value);
                let missing = || self.ctx.errorf(format_args!("no such key: {}", crate::ops::format::GoValue(value)));
                let found = found.unwrap_or_else(missing);
                self.set_local(second, found);
            }
            match self.round(fold) {
                Round::Continue => {}
                Round::Stop => break,
                Round::Halt => return End::Halted,
                Round::Interrupt => return End::Interrupted,
            }
        }
        End::Done
    }

    /// Condition and step for one element. Only a round with a step counts for being interrupted.
    #[inline(always)]
    fn round(&mut self, fold: &'a Fold) -> Round {
        if !self.ctx.round() {
            return Round::Halt;
        }
        match self.step(fold) {
            Round::Continue if self.ctx.interrupted() => Round::Interrupt,
            round => round,
        }
    }

    #[inline(always)]
    fn step(&mut self, fold: &'a Fold) -> Round {
        if !TRACKED && let Some((predicate, all)) = fold.quantifier {
            return self.quantify(fold, predicate, all);
        }
        match (self.truth(fold.condition), self.aside) {
            (Truth::False, _) => return Round::Stop,
            (Truth::Other, Value::Halt) => return Round::Halt,
            _ => {}
        }
        let step = self.node(fold.step);
        if let Value::Halt = step {
            return Round::Halt;
        }
        self.set_local(fold.accumulator, step);
        Round::Continue
    }

    /// A round of `all` or `exists`, with the charges of the condition and step that it stands for.
    fn quantify(&mut self, fold: &'a Fold, predicate: u32, all: bool) -> Round {
        // The condition reads the accumulator; `exists` negates it; then comes `@not_strictly_false`. The step reads it again.
        let so_far = self.locals.get(fold.accumulator as usize);
        let decided = matches!(so_far, Some(Value::Bool(b)) if *b != all);
        let failed = matches!(so_far, Some(Value::Error(_)));
        if !self.ctx.charge_units(if all { 2 } else { 3 } + u64::from(!decided)) {
            return Round::Halt;
        }
        if decided {
            return Round::Stop;
        }
        let truth = self.truth(predicate);
        if truth == Truth::Other {
            match self.aside {
                Value::Halt => return Round::Halt,
                // The first error stays.
                _ if failed => {}
                Value::Error(_) if planted(Mutant::AllForgetsErrors) => {}
                error @ Value::Error(_) => self.set_local(fold.accumulator, error),
                _ => self.set_local(fold.accumulator, self.ctx.error("no such overload")),
            }
        } else if truth != Truth::of(all) {
            self.set_local(fold.accumulator, Value::Bool(!all));
        }
        Round::Continue
    }

    fn set_local(&mut self, place: u32, value: Value<'a>) {
        if let Some(local) = self.locals.get_mut(place as usize) {
            *local = value;
        }
    }

    /// The accumulator's value; its first one is computed when it is first read.
    pub(super) fn accumulator(&mut self, place: u32, first: u32) -> Value<'a> {
        match self.locals.get(place as usize).copied() {
            Some(Value::Halt) => {}
            known => return known.unwrap_or(Value::Null),
        }
        let value = self.node(first);
        let list = ListView::of(value).is_some_and(|list| list.is_empty());
        let map =
            matches!(value, Value::Map(_) | Value::Record(_)) && MapView::of(value).is_some_and(|map| map.is_empty());
        let value = match self.builders.get_mut(place as usize) {
            Some(builder @ Builder::Wanted) if list => {
                *builder = Builder::List(bumpalo::collections::Vec::new_in(self.ctx.arena));
                Value::Accumulator
            }
            Some(builder @ Builder::Wanted) if map => {
                *builder = Builder::Map(MapBuilder::new(self.ctx.arena));
                Value::Accumulator
            }
            // An empty list or map becomes cel-go's own, whatever it was.
            _ if list => Value::List(&[]),
            _ if map => Value::Map(MapValue::new(self.ctx.arena, &[])),
            _ => value,
        };
        self.set_local(place, value);
        value
    }

    /// The list or map that a comprehension has built.
    fn built(&mut self, place: u32) -> Value<'a> {
        let Some(builder) = self.builders.get_mut(place as usize) else {
            return Value::Null;
        };
        match std::mem::replace(builder, Builder::None) {
            Builder::List(elements) => Value::List(elements.into_bump_slice()),
            Builder::Map(map) => Value::Map(map.finish()),
            Builder::None | Builder::Wanted => Value::Null,
        }
    }
}
