//! The abstract interpretation.

use std::collections::{BTreeMap, BTreeSet};

use celgate_cel::ast::{Comprehension, Expr, ExprKind, Literal};

use super::{ELEMENTS, FIELDS, NONEMPTY, Packed, Packer, WHOLE};

/// Expressions interpreted before the analysis gives up, and takes everything: nested loops are interpreted again and again.
const MAX_STEPS: u32 = 20_000;

/// How deep lists in lists are told apart.
const MAX_NESTING: u32 = 4;

/// A place in one of the objects.
type Place = usize;

const OBJECT: Place = 0;
const OLD_OBJECT: Place = 1;

#[derive(Debug, Default)]
struct Node {
    whole: bool,
    nonempty: bool,
    fields: BTreeMap<Box<str>, Place>,
    elements: Option<Place>,
}

/// What a value can be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Abstract {
    /// The places that it can come from.
    places: BTreeSet<Place>,
    /// What can be in it, if an expression made it: elements of a list, values of a map.
    items: Option<Box<Abstract>>,
}

impl Abstract {
    fn place(place: Place) -> Abstract {
        Abstract { places: BTreeSet::from([place]), items: None }
    }

    fn join(&mut self, other: Abstract) {
        self.places.extend(other.places);
        if let Some(theirs) = other.items {
            match &mut self.items {
                Some(ours) => ours.join(*theirs),
                None => self.items = Some(theirs),
            }
        }
    }

    fn nesting(&self) -> u32 {
        self.items.as_ref().map_or(0, |items| items.nesting().saturating_add(1))
    }
}

/// Collects what the expressions of one policy read.
#[derive(Debug)]
pub(crate) struct Analysis {
    nodes: Vec<Node>,
    /// The policy's variables so far; of several with one name, any can be meant.
    variables: BTreeMap<Box<str>, Abstract>,
    /// Whether more variables may come.
    declaring: bool,
    steps: u32,
    gave_up: bool,
}

/// Names of comprehensions, innermost last.
type Scope = Vec<(Box<str>, Abstract)>;

impl Analysis {
    pub(crate) fn new() -> Analysis {
        Analysis {
            nodes: vec![Node::default(), Node::default()],
            variables: BTreeMap::new(),
            declaring: false,
            steps: 0,
            gave_up: false,
        }
    }

    /// Adds what an expression reads.
    pub(crate) fn expression(&mut self, expr: &Expr) {
        let value = self.interpret(expr, &mut Scope::new());
        self.read(value);
    }

    /// Adds what a variable reads. It is read as far as later expressions do.
    pub(crate) fn variable(&mut self, name: &str, expr: &Expr) {
        self.declaring = true;
        let value = self.interpret(expr, &mut Scope::new());
        self.declaring = false;
        self.variables.entry(name.into()).or_default().join(value);
    }

    pub(crate) fn finish(self) -> Packed {
        if self.gave_up {
            return Packed::whole();
        }
        let mut packer = Packer::default();
        self.pack(OBJECT, &mut packer);
        self.pack(OLD_OBJECT, &mut packer);
        Packed(packer.finish())
    }

    fn pack(&self, place: Place, packer: &mut Packer) {
        let node = match self.nodes.get(place) {
            Some(node) if !node.whole => node,
            _ => return packer.number(WHOLE),
        };
        let nonempty = if node.nonempty { NONEMPTY } else { 0 };
        let elements = if node.elements.is_some() { ELEMENTS } else { 0 };
        packer.number(nonempty + elements + FIELDS * node.fields.len());
        for (name, place) in &node.fields {
            packer.text(name);
            self.pack(*place, packer);
        }
        if let Some(elements) = node.elements {
            self.pack(elements, packer);
        }
    }

    fn field(&mut self, place: Place, name: &str) -> Place {
        let next = self.nodes.len();
        let Some(node) = self.nodes.get_mut(place) else { return place };
        if let Some(known) = node.fields.get(name) {
            return *known;
        }
        node.fields.insert(name.into(), next);
        self.nodes.push(Node::default());
        next
    }

    fn elements(&mut self, place: Place) -> Place {
        let next = self.nodes.len();
        let Some(node) = self.nodes.get_mut(place) else { return place };
        if let Some(known) = node.elements {
            return known;
        }
        node.elements = Some(next);
        self.nodes.push(Node::default());
        next
    }

    /// A value that is used as a whole.
    fn read(&mut self, value: Abstract) {
        for place in value.places {
            if let Some(node) = self.nodes.get_mut(place) {
                node.whole = true;
            }
        }
        if let Some(items) = value.items {
            self.read(*items);
        }
    }

    /// A field of a value. Selecting from a constructed map gives any of its values.
    fn select(&mut self, value: Abstract, name: &str) -> Abstract {
        let places = value.places.into_iter().map(|place| self.field(place, name)).collect();
        let mut selected = Abstract { places, items: None };
        if let Some(items) = value.items {
            selected.join(*items);
        }
        selected
    }

    /// Any element of a value.
    fn element(&mut self, value: &Abstract) -> Abstract {
        let places = value.places.iter().map(|&place| self.elements(place)).collect();
        let mut element = Abstract { places, items: None };
        if let Some(items) = &value.items {
            element.join((**items).clone());
        }
        element
    }

    fn interpret(&mut self, expr: &Expr, scope: &mut Scope) -> Abstract {
        self.steps = self.steps.saturating_add(1);
        if self.steps > MAX_STEPS {
            self.gave_up = true;
            return Abstract::default();
        }
        match &expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) => Abstract::default(),
            ExprKind::Ident(name) => self.ident(name, scope),
            ExprKind::Select { operand, field, test_only } => {
                let selected = match &operand.kind {
                    ExprKind::Ident(name) if is_variables(name, scope) => self.policy_variable(field),
                    _ => {
                        let operand = self.interpret(operand, scope);
                        self.select(operand, field)
                    }
                };
                if *test_only { Abstract::default() } else { selected }
            }
            ExprKind::Call { target, function, args } => self.call(target.as_deref(), function, args, scope),
            ExprKind::List { elements, .. } => self.items(elements.iter(), scope),
            ExprKind::Map { entries } => {
                for entry in entries {
                    let key = self.interpret(&entry.key, scope);
                    self.read(key);
                }
                self.items(entries.iter().map(|entry| &entry.value), scope)
            }
            ExprKind::Struct { fields, .. } => {
                for field in fields {
                    let value = self.interpret(&field.value, scope);
                    self.read(value);
                }
                Abstract::default()
            }
            ExprKind::Comprehension(comprehension) => self.comprehension(comprehension, scope),
        }
    }

    fn ident(&mut self, name: &str, scope: &Scope) -> Abstract {
        if let Some((_, value)) = scope.iter().rev().find(|(known, _)| **known == *name) {
            return value.clone();
        }
        match name.strip_prefix('.').unwrap_or(name) {
            "object" => Abstract::place(OBJECT),
            "oldObject" => Abstract::place(OLD_OBJECT),
            "variables" => {
                // All of them, by names that may be computed; later ones, too.
                self.gave_up |= self.declaring;
                let mut all = Abstract::default();
                self.variables.values().for_each(|variable| all.join(variable.clone()));
                self.read(all);
                Abstract::default()
            }
            _ => Abstract::default(),
        }
    }

    fn policy_variable(&mut self, name: &str) -> Abstract {
        if let Some(value) = self.variables.get(name) {
            return value.clone();
        }
        // One that is declared later, if any: what it reads is not known yet.
        self.gave_up = true;
        Abstract::default()
    }

    fn items<'e>(&mut self, elements: impl Iterator<Item = &'e Expr>, scope: &mut Scope) -> Abstract {
        let mut items = Abstract::default();
        for element in elements {
            let element = self.interpret(element, scope);
            items.join(element);
        }
        if items.nesting() >= MAX_NESTING {
            self.read(items);
            items = Abstract::default();
        }
        Abstract { places: BTreeSet::new(), items: Some(Box::new(items)) }
    }

    fn call(&mut self, target: Option<&Expr>, function: &str, args: &[Expr], scope: &mut Scope) -> Abstract {
        match (target, function, args) {
            (None, "_[_]" | "_?._" | "_[?_]", [operand, key]) => {
                let operand = self.interpret(operand, scope);
                match &key.kind {
                    ExprKind::Literal(Literal::String(name)) => self.select(operand, name),
                    _ => {
                        let key = self.interpret(key, scope);
                        self.read(key);
                        self.element(&operand)
                    }
                }
            }
            (None, "_?_:_", [condition, yes, no]) => {
                let condition = self.interpret(condition, scope);
                self.read(condition);
                let mut either = self.interpret(yes, scope);
                let no = self.interpret(no, scope);
                either.join(no);
                either
            }
            (None, "_==_" | "_!=_", [value, null] | [null, value]) if is_null(null) => {
                let value = self.interpret(value, scope);
                for place in value.places {
                    self.nodes.get_mut(place).into_iter().for_each(|node| node.nonempty = true);
                }
                Abstract::default()
            }
            // Lists are joined; of maps, which have no sum, the size is charged.
            (None, "_+_", [left, right]) => {
                let mut sum = self.interpret(left, scope);
                let right = self.interpret(right, scope);
                sum.join(right);
                self.element(&sum);
                sum
            }
            (None, "size", [of]) | (Some(of), "size", []) => {
                let of = self.interpret(of, scope);
                self.element(&of);
                Abstract::default()
            }
            (None, "dyn", [value]) | (Some(value), "value", []) => self.interpret(value, scope),
            (Some(value), "hasValue", []) => {
                self.interpret(value, scope);
                Abstract::default()
            }
            (Some(value), "orValue" | "or", [other]) => {
                let mut either = self.interpret(value, scope);
                let other = self.interpret(other, scope);
                either.join(other);
                either
            }
            _ => {
                for arg in target.into_iter().chain(args) {
                    let arg = self.interpret(arg, scope);
                    self.read(arg);
                }
                Abstract::default()
            }
        }
    }

    /// The accumulator grows until another round adds nothing.
    fn comprehension(&mut self, c: &Comprehension, scope: &mut Scope) -> Abstract {
        let range = self.interpret(&c.iter_range, scope);
        let element = self.element(&range);
        let mut accumulator = self.interpret(&c.accu_init, scope);
        let outside = scope.len();
        loop {
            scope.push((c.accu_var.as_str().into(), accumulator.clone()));
            // A variable for an index or a key comes from no place: keys are taken with their map.
            if c.iter_var2.is_empty() {
                scope.push((c.iter_var.as_str().into(), element.clone()));
            } else {
                scope.push((c.iter_var.as_str().into(), Abstract::default()));
                scope.push((c.iter_var2.as_str().into(), element.clone()));
            }
            let condition = self.interpret(&c.loop_condition, scope);
            self.read(condition);
            let step = self.interpret(&c.loop_step, scope);
            scope.truncate(outside);
            let before = accumulator.clone();
            accumulator.join(step);
            if accumulator.nesting() > MAX_NESTING {
                self.read(accumulator);
                accumulator = Abstract::default();
                break;
            }
            if accumulator == before || self.gave_up {
                break;
            }
        }
        scope.push((c.accu_var.as_str().into(), accumulator));
        let result = self.interpret(&c.result, scope);
        scope.truncate(outside);
        result
    }
}

/// Whether a name is the policy's variables, and no comprehension's.
fn is_variables(name: &str, scope: &Scope) -> bool {
    name.strip_prefix('.').unwrap_or(name) == "variables" && !scope.iter().any(|(known, _)| **known == *name)
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Literal::Null))
}

#[cfg(test)]
mod tests;
