//! Variables and selections (cel-go `interpreter/attributes.go`).

use super::Machine;
use super::logic::Truth;
use crate::context::EvalContext;
use crate::cost::SELECT_AND_IDENT;
use crate::memo::Known;
use crate::message::object::{self, Member};
use crate::mutants::{Mutant, planted};
use crate::ops::{format::GoValue, number};
use crate::plan::{Attribute, Base, Constant, Hint, Name, Qualifier, QualifierKind};
use crate::record::{Place, RecordRef};
use crate::value::{LazyMap, ListView, MapView, Value};

/// What a selection finds.
#[derive(Clone, Copy)]
enum Found<'a> {
    Value(Value<'a>),
    /// Nothing; a field of a message that is not set has a default.
    Missing(Option<Value<'a>>),
    Fail(Value<'a>),
}

impl<'a, const TRACKED: bool> Machine<'a, '_, TRACKED> {
    /// Evaluates an attribute as a step of its own, which is charged 1 unless it is a conditional.
    pub(super) fn attribute(&mut self, index: u32) -> Value<'a> {
        let Some(attribute) = self.program.attributes.get(index as usize) else {
            return Value::Null;
        };
        if !TRACKED && attribute.plain {
            return self.fields(attribute, SELECT_AND_IDENT);
        }
        let value = self.resolve(attribute);
        if TRACKED {
            self.forget_attribute(attribute);
        }
        match (&attribute.base, value) {
            (Base::Conditional(..), _) | (_, Value::Halt) => value,
            _ => self.charge_ident(value),
        }
    }

    /// `has()`, which is charged nothing beyond its selections.
    pub(super) fn test(&mut self, index: u32) -> Truth {
        let Some(attribute) = self.program.attributes.get(index as usize) else {
            return self.other(Value::Null);
        };
        let found = if !TRACKED && attribute.plain { self.fields(attribute, 0) } else { self.resolve(attribute) };
        if TRACKED {
            self.forget_attribute(attribute);
        }
        // cel-go takes back what it charges for an attribute, also from a conditional for which it charges nothing.
        if let Base::Conditional(..) = attribute.base
            && !matches!(found, Value::Halt)
            && !self.ctx.uncharge(SELECT_AND_IDENT)
        {
            return self.other(Value::Halt);
        }
        match found {
            Value::Optional(inner) => Truth::of(inner.is_some()),
            value => self.truth_of(value),
        }
    }

    /// A variable of the caller, if it is bound.
    #[inline]
    fn variable(&self, slot: u32) -> Option<Value<'a>> {
        self.variables.get(slot as usize).copied().flatten()
    }

    /// A plain attribute, charged for its selections and `ident` for itself. As long as these are fields of records, nothing
    /// is evaluated in between, and they are charged together.
    fn fields(&mut self, attribute: &'a Attribute, ident: u64) -> Value<'a> {
        let base = match attribute.base {
            Base::Local(place) => self.locals.get(place as usize).copied(),
            Base::Slot(slot, _) => self.variable(slot),
            _ => None,
        };
        let path = attribute.path.of(&self.program.qualifiers);
        let Some(Value::Record(record)) = base else {
            return self.rest(attribute, 0, base, ident);
        };
        if let Some(memo) = &self.ctx.memo
            && let Some(known) = memo.find(record, attribute.numbered.number())
        {
            if !self.ctx.charge_units(path.len() as u64 + ident) {
                return Value::Halt;
            }
            return match known {
                Known::Nowhere => Value::Bool(false),
                Known::Cell(_) if attribute.tests => Value::Bool(true),
                Known::Cell(cell) => record.value_at(cell),
            };
        }
        let mut place = Place::of(record);
        for (i, qualifier) in path.iter().enumerate() {
            let (name, test) = match qualifier.kind {
                QualifierKind::String(name) => (name, false),
                QualifierKind::Test(name) => (name, true),
                _ => break,
            };
            if !place.is_map() {
                return self.rest(attribute, i, place.value(), ident);
            }
            let name = self.program.text(name);
            let found = enter(&mut place, name, &qualifier.hint);
            if !found || test || !place.is_good() {
                let value = match if found { place.value() } else { None } {
                    Some(error @ Value::Error(_)) => error,
                    Some(Value::Null) if planted(Mutant::HasSeesNull) => Value::Bool(false),
                    Some(_) => {
                        self.remember(attribute, record, Known::Cell(place.index()));
                        Value::Bool(true)
                    }
                    None if test => {
                        self.remember(attribute, record, Known::Nowhere);
                        Value::Bool(false)
                    }
                    None => self.ctx.error_with("no such key: ", name),
                };
                return self.charged_units(i as u64 + 1 + ident, value);
            }
        }
        self.remember(attribute, record, Known::Cell(place.index()));
        if !self.ctx.charge_units(path.len() as u64 + ident) {
            return Value::Halt;
        }
        place.present()
    }

    /// Keeps where a path leads for other expressions. One without a number is empty.
    #[inline]
    fn remember(&self, attribute: &Attribute, from: RecordRef<'a>, known: Known) {
        if let (Some(memo), 1..) = (&self.ctx.memo, attribute.numbered.number()) {
            memo.put(from, attribute.numbered.number(), known);
        }
    }

    /// What remains of a plain attribute after so many selections, step by step.
    #[inline(never)]
    fn rest(&mut self, attribute: &'a Attribute, steps: usize, value: Option<Value<'a>>, ident: u64) -> Value<'a> {
        let value = match (value, attribute.base) {
            (Some(value), _) => value,
            (None, Base::Slot(_, name)) => self.missing(name),
            (None, _) => Value::Null,
        };
        if !self.ctx.charge_units(steps as u64) {
            return Value::Halt;
        }
        let path = attribute.path.of(&self.program.qualifiers).get(steps..).unwrap_or_default();
        let value = if path.is_empty() || value.is_error_or_halt() { value } else { self.select(path, value) };
        if let Value::Halt = value { value } else { self.charged(ident, value) }
    }

    /// Charges steps of 1 each, and turns their value into a halt if that passes the limit.
    #[inline]
    fn charged_units(&self, steps: u64, value: Value<'a>) -> Value<'a> {
        if self.ctx.charge_units(steps) { value } else { Value::Halt }
    }

    fn forget_attribute(&mut self, attribute: &Attribute) {
        let id = |index: u32| self.program.attributes.get(index as usize).map_or(0, |attribute| attribute.id);
        if let Base::Conditional(condition, truthy, falsy) = attribute.base {
            let (truthy, falsy) = (id(truthy), id(falsy));
            self.forget(falsy);
            self.forget(truthy);
            self.drop_node(condition);
        } else {
            self.forget(attribute.id);
        }
    }

    /// The attribute's value, without the charge for the attribute itself.
    pub(super) fn resolve(&mut self, attribute: &'a Attribute) -> Value<'a> {
        let base = match attribute.base {
            Base::Slot(slot, name) => match self.variable(slot) {
                Some(value) => value,
                None => return self.missing(name),
            },
            Base::Missing(name) => return self.missing(name),
            Base::Local(place) => self.locals.get(place as usize).copied().unwrap_or(Value::Null),
            Base::Accumulator(place, first) => self.accumulator(place, first),
            Base::Node(node) => self.node(node),
            Base::Conditional(condition, truthy, falsy) => {
                return self.branch(condition, truthy, falsy);
            }
        };
        if attribute.path.len == 0 || base.is_error_or_halt() {
            return base;
        }
        self.select(attribute.path.of(&self.program.qualifiers), base)
    }

    fn missing(&self, name: Name) -> Value<'a> {
        self.ctx.errorf(format_args!("no such attribute(s): {}", self.program.text(name)))
    }

    fn branch(&mut self, condition: u32, truthy: u32, falsy: u32) -> Value<'a> {
        let branch = match self.truth(condition) {
            Truth::True => truthy,
            Truth::False => falsy,
            Truth::Other if self.aside.is_error_or_halt() => return self.aside,
            Truth::Other => return self.ctx.error("no such overload"),
        };
        match self.program.attributes.get(branch as usize) {
            Some(attribute) => self.resolve(attribute),
            None => Value::Null,
        }
    }

    /// Follows the path. Once a selection is optional or its operand is an optional, all that follow are.
    fn select(&mut self, path: &'a [Qualifier], base: Value<'a>) -> Value<'a> {
        let (mut value, mut optional) = match base {
            Value::Optional(None) => return base,
            Value::Optional(Some(inner)) => (*inner, true),
            _ => (base, false),
        };
        for qualifier in path {
            optional |= qualifier.optional;
            let found = self.qualify(qualifier, value, optional);
            value = match found {
                // An error that is there as a value is seen, and charged for, by the selection that follows.
                Found::Value(value) => value,
                Found::Missing(_) => return Value::Optional(None),
                Found::Fail(error) => return error,
            };
        }
        if optional { crate::library::optional::some(self.ctx, value) } else { value }
    }

    /// One selection as a step, which is charged 1; an optional one only if it finds something.
    fn qualify(&mut self, qualifier: &'a Qualifier, object: Value<'a>, optional: bool) -> Found<'a> {
        let found = match qualifier.kind {
            QualifierKind::String(field) => self.field(qualifier, field, object),
            QualifierKind::Test(field) => match self.field(qualifier, field, object) {
                found @ (Found::Fail(_) | Found::Value(Value::Halt)) => found,
                found if optional => found,
                Found::Value(_) => Found::Value(Value::Bool(true)),
                Found::Missing(_) => Found::Value(Value::Bool(false)),
            },
            QualifierKind::Constant(index) => lookup(self.ctx, object, self.key(index)),
            QualifierKind::Attribute(index) | QualifierKind::Computed(index) => self.dynamic(index, object, optional),
        };
        let value = match found {
            Found::Fail(Value::Halt) | Found::Value(Value::Halt) => return Found::Fail(Value::Halt),
            Found::Fail(_) | Found::Missing(_) if optional => return found,
            Found::Value(value) | Found::Fail(value) | Found::Missing(Some(value)) => value,
            Found::Missing(None) => self.missing_key(qualifier.kind, object),
        };
        if TRACKED {
            if let QualifierKind::Computed(_) = qualifier.kind {
                self.forget(qualifier.id);
            }
            self.observe(qualifier.id, value);
        }
        match found {
            _ if !self.ctx.charge(SELECT_AND_IDENT) => Found::Fail(Value::Halt),
            Found::Fail(_) | Found::Missing(None) => Found::Fail(value),
            Found::Value(_) | Found::Missing(Some(_)) => Found::Value(value),
        }
    }

    /// Selects by the value of an attribute.
    fn dynamic(&mut self, index: u32, object: Value<'a>, optional: bool) -> Found<'a> {
        let Some(attribute) = self.program.attributes.get(index as usize) else {
            return Found::Missing(None);
        };
        let key = self.resolve(attribute);
        match key {
            Value::Error(_) | Value::Halt => Found::Fail(key),
            Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::Bool(_) => {
                match lookup(self.ctx, object, key) {
                    Found::Missing(None) if !optional => Found::Fail(missing(self.ctx, object, key)),
                    found => found,
                }
            }
            _ => Found::Fail(self.ctx.errorf(format_args!("invalid qualifier type: {}", key.go_type_name()))),
        }
    }

    /// A constant that is a key.
    fn key(&self, index: u32) -> Value<'a> {
        self.program.rare().constants.get(index as usize).and_then(Constant::in_place).unwrap_or(Value::Null)
    }

    fn missing_key(&self, kind: QualifierKind, object: Value<'a>) -> Value<'a> {
        let key = match kind {
            QualifierKind::String(field) | QualifierKind::Test(field) => Value::String(self.program.text(field)),
            QualifierKind::Constant(index) => self.key(index),
            QualifierKind::Attribute(_) | QualifierKind::Computed(_) => Value::Null,
        };
        missing(self.ctx, object, key)
    }

    /// A field by name.
    #[inline]
    fn field(&self, qualifier: &'a Qualifier, name: Name, object: Value<'a>) -> Found<'a> {
        let name = self.program.text(name);
        let found = match object {
            Value::Record(record) if !record.is_list() => {
                let mut place = Place::of(record);
                if enter(&mut place, name, &qualifier.hint) { place.value() } else { None }
            }
            Value::Lazy(map) => return lazy_field(self.ctx, map, qualifier, name),
            _ => return lookup(self.ctx, object, Value::String(name)),
        };
        match found {
            Some(error @ Value::Error(_)) => Found::Fail(error),
            Some(value) => Found::Value(value),
            None => Found::Missing(None),
        }
    }
}

/// Goes to a field, which is looked for where it was last.
#[inline(always)]
fn enter(place: &mut Place<'_>, name: &str, hint: &Hint) -> bool {
    let known = hint.get();
    let mut position = known;
    let found = place.enter(name, &mut position);
    if position != known {
        hint.set(position);
    }
    found
}

fn lazy_field<'a>(ctx: &EvalContext<'a>, map: &'a dyn LazyMap<'a>, qualifier: &Qualifier, name: &str) -> Found<'a> {
    let known = qualifier.hint.get() as usize;
    let index = if known < map.len() && map.key(known) == name { Some(known) } else { map.index_of(name) };
    let Some(index) = index else {
        return Found::Missing(None);
    };
    if index != known {
        qualifier.hint.set(index as u32);
    }
    match map.get(ctx, index) {
        error @ (Value::Error(_) | Value::Halt) => Found::Fail(error),
        value => Found::Value(value),
    }
}

fn missing<'a>(ctx: &EvalContext<'a>, object: Value<'a>, key: Value<'a>) -> Value<'a> {
    let key = GoValue(key);
    if ListView::of(object).is_some() {
        ctx.errorf(format_args!("index out of bounds: {key}"))
    } else {
        ctx.errorf(format_args!("no such key: {key}"))
    }
}

/// cel-go's `refQualify`: keys of maps, indices of lists; nothing else has anything to select.
fn lookup<'a>(ctx: &EvalContext<'a>, object: Value<'a>, key: Value<'a>) -> Found<'a> {
    if object.is_error_or_halt() {
        return Found::Fail(object);
    }
    if let Some(map) = MapView::of(object) {
        return match map.find(ctx, key) {
            Some(error @ (Value::Error(_) | Value::Halt)) => Found::Fail(error),
            Some(value) => Found::Value(value),
            None => Found::Missing(None),
        };
    }
    let Some(list) = ListView::of(object) else {
        let member = if let Value::Opaque(opaque) = object { object::select(ctx, opaque, key) } else { None };
        return match member {
            None => Found::Missing(None),
            Some(Member::Set(value)) => Found::Value(value),
            Some(Member::Unset(default)) => Found::Missing(Some(default)),
            Some(Member::Fail(error)) => Found::Fail(error),
        };
    };
    let index = match key {
        Value::Int(i) => Some(i),
        Value::Uint(u) => i64::try_from(u).ok(),
        Value::Double(d) => number::double_to_int_lossless(d),
        _ => {
            return Found::Fail(ctx.errorf(format_args!("unsupported index type '{}' in list", key.type_name())));
        }
    };
    let Some(index) = index else {
        return Found::Fail(ctx.errorf(format_args!("unsupported index value {} in list", GoValue(key))));
    };
    match usize::try_from(index).ok().and_then(|index| list.get(index)) {
        // Upstream's typed lists then refuse all but ints; the refusal is a value that is there.
        Some(_) if list.is_typed() && !matches!(key, Value::Int(_)) && !planted(Mutant::TypedTakesAnyIndex) => {
            Found::Value(ctx.errorf(format_args!("unsupported index type: {}", key.go_type_name())))
        }
        Some(value) => Found::Value(value),
        None => Found::Missing(None),
    }
}
