//! Literal lists, maps and messages, and comprehensions.

use super::{Aggregate, Base, Fold, Node, Operation, PlanError, Planner, Scope};
use crate::ast::{Comprehension, Expr, ExprId, MapEntry, StructField};
use crate::cost::Cost;

impl<'e> Planner<'e, '_> {
    pub(super) fn list(&mut self, id: ExprId, elements: &'e [Expr], optional: &[u32]) -> Result<u32, PlanError> {
        let mut marks = vec![false; if optional.is_empty() { 0 } else { elements.len() }];
        for &index in optional {
            let Some(mark) = marks.get_mut(index as usize) else {
                let count = elements.len();
                return Err(PlanError(format!("optional index {index} out of element bounds [0, {count}]")));
            };
            *mark = true;
        }
        let nodes = elements.iter().map(|element| self.node(element)).collect::<Result<Vec<_>, _>>()?;
        if let Some(constant) = self.constant_list(&nodes, &marks)? {
            return Ok(self.constant(id, constant));
        }
        let aggregate = self.aggregate(&nodes, marks);
        Ok(self.push(id, Node::List(aggregate)))
    }

    pub(super) fn map(&mut self, id: ExprId, entries: &'e [MapEntry]) -> Result<u32, PlanError> {
        let mut nodes = Vec::with_capacity(entries.len() * 2);
        for entry in entries {
            nodes.push(self.node(&entry.key)?);
            nodes.push(self.node(&entry.value)?);
        }
        let optional = entries.iter().any(|entry| entry.optional);
        let marks = if optional { entries.iter().map(|entry| entry.optional).collect() } else { Vec::new() };
        if let Some(constant) = self.constant_map(&nodes, &marks)? {
            return Ok(self.constant(id, constant));
        }
        let aggregate = self.aggregate(&nodes, marks);
        Ok(self.push(id, Node::Map(aggregate)))
    }

    pub(super) fn message(&mut self, id: ExprId, type_name: &str, fields: &'e [StructField]) -> Result<u32, PlanError> {
        let reference = self.checked.references.get(&id).map(|reference| reference.name.as_str());
        let name = reference.filter(|name| !name.is_empty()).unwrap_or(type_name);
        let message = crate::message::find(name);
        // A struct of the caller's is a type that evaluation cannot make, and so are those that apiserver's provider takes for structs
        // (`findScalar` in apiserver `pkg/cel/types.go`); any other is none.
        let declared = self.checked.types.get(&id).is_some_and(|ty| matches!(ty, crate::types::Type::Object(_)))
            || ["duration", "list", "null_type", "timestamp"].contains(&name);
        if message.is_none() && !declared {
            return Err(PlanError(format!("unknown type: {name}")));
        }
        let nodes = fields.iter().map(|field| self.node(&field.value)).collect::<Result<Vec<_>, _>>()?;
        let optional = fields.iter().any(|field| field.optional);
        let marks = if optional { fields.iter().map(|field| field.optional).collect() } else { Vec::new() };
        let aggregate = self.aggregate(&nodes, marks);
        let position =
            |field: &StructField| message.and_then(|message| message.position(&field.field)).unwrap_or(usize::MAX);
        let fields = fields.iter().map(|field| (Box::from(field.field.as_str()), position(field))).collect();
        self.messages.push(super::MessageLiteral { name: Box::from(name), message, fields });
        Ok(self.push(id, Node::Message(aggregate, self.messages.len() as u32 - 1)))
    }

    fn aggregate(&mut self, nodes: &[u32], optional: Vec<bool>) -> u32 {
        let parts = self.operands(nodes);
        self.aggregates.push(Aggregate { parts, optional: optional.into() });
        self.aggregates.len() as u32 - 1
    }

    fn place(&mut self) -> u32 {
        self.locals += 1;
        self.locals - 1
    }

    pub(super) fn comprehension(&mut self, id: ExprId, fold: &'e Comprehension) -> Result<u32, PlanError> {
        let first = self.node(&fold.accu_init)?;
        let range = self.node(&fold.iter_range)?;
        let (accumulator, variable) = (self.place(), self.place());
        let variable2 = (!fold.iter_var2.is_empty()).then(|| self.place());
        // Looked up from the end: the accumulator hides an iteration variable of the same name.
        let outer = self.scopes.len();
        if let Some(place) = variable2 {
            self.scopes.push(Scope { name: &fold.iter_var2, base: Base::Local(place) });
        }
        self.scopes.push(Scope { name: &fold.iter_var, base: Base::Local(variable) });
        self.scopes.push(Scope { name: &fold.accu_var, base: Base::Accumulator(accumulator, first) });
        let condition = self.node(&fold.loop_condition)?;
        let step = self.node(&fold.loop_step)?;
        self.scopes.truncate(outer);
        self.scopes.push(Scope { name: &fold.accu_var, base: Base::Accumulator(accumulator, first) });
        let result = self.node(&fold.result)?;
        self.scopes.truncate(outer);
        let builds = self.build_in_place(step, accumulator);
        let quantifier = self.quantifier(accumulator, [first, condition, step, result]);
        self.folds.push(Fold { range, accumulator, variable, variable2, condition, step, result, builds, quantifier });
        let fold = self.folds.len() as u32 - 1;
        Ok(self.push(id, Node::Fold(fold)))
    }

    /// The predicate of `all` (true) or `exists` (false), if the parts are what these macros expand to.
    fn quantifier(&self, accumulator: u32, [first, condition, step, result]: [u32; 4]) -> Option<(u32, bool)> {
        let Some(Node::Bool(all)) = self.get(first) else {
            return None;
        };
        let (left, predicate) = match self.get(step)? {
            Node::And(left, predicate) if all => (left, predicate),
            Node::Or(left, predicate) if !all => (left, predicate),
            _ => return None,
        };
        let mut goes_on = self.not_strictly_false(condition)?;
        if !all {
            let Node::Not(negated) = self.get(goes_on)? else {
                return None;
            };
            goes_on = negated;
        }
        let all_read_it = [left, goes_on, result].iter().all(|&node| self.is_accumulator(node, accumulator));
        all_read_it.then_some((predicate, all))
    }

    /// The argument of a call of `@not_strictly_false`.
    fn not_strictly_false(&self, node: u32) -> Option<u32> {
        let Node::Call(call) = self.get(node)? else {
            return None;
        };
        let call = self.calls.get(call as usize)?;
        match (&call.operation, call.args.of(&self.operands)) {
            (Operation::NotStrictlyFalse, &[argument]) => Some(argument),
            _ => None,
        }
    }

    /// Turns `accumulator + list` and `cel.@mapInsert(accumulator, ...)` into building in place, where they are the whole step
    /// or a branch of it; true if there is such a call.
    fn build_in_place(&mut self, step: u32, accumulator: u32) -> bool {
        match self.get(step) {
            Some(Node::Call(call)) => {
                let Some(call) = self.calls.get(call as usize) else {
                    return false;
                };
                let args = call.args.of(&self.operands);
                if !args.first().is_some_and(|first| self.is_accumulator(*first, accumulator)) {
                    return false;
                }
                let operation = match self.names.text(call.function) {
                    "_+_" if matches!(call.cost, Cost::One) => {
                        Operation::Append(accumulator, args.get(1).and_then(|list| self.only_element(*list)))
                    }
                    "_+_" => Operation::Append(accumulator, None),
                    crate::library::comprehensions::MAP_INSERT => Operation::Insert(accumulator),
                    _ => return false,
                };
                if let Some(Node::Call(index)) = self.get(step)
                    && let Some(call) = self.calls.get_mut(index as usize)
                {
                    call.operation = operation;
                }
                true
            }
            Some(Node::Attribute(attribute)) => {
                let Some(draft) = self.drafts.get(attribute as usize) else {
                    return false;
                };
                let Base::Conditional(_, truthy, falsy) = draft.base else {
                    return false;
                };
                let branches = [truthy, falsy].map(|branch| match self.drafts.get(branch as usize)?.base {
                    Base::Node(node) => Some(node),
                    _ => None,
                });
                let mut any = false;
                for node in branches.into_iter().flatten() {
                    any |= self.build_in_place(node, accumulator);
                }
                any
            }
            _ => false,
        }
    }

    /// The element of a list literal that has just one.
    fn only_element(&self, node: u32) -> Option<u32> {
        let Node::List(aggregate) = self.get(node)? else {
            return None;
        };
        let aggregate = self.aggregates.get(aggregate as usize).filter(|aggregate| aggregate.optional.is_empty())?;
        match aggregate.parts.of(&self.operands) {
            &[element] => Some(element),
            _ => None,
        }
    }

    fn is_accumulator(&self, node: u32, accumulator: u32) -> bool {
        let Some(Node::Attribute(attribute)) = self.get(node) else {
            return false;
        };
        self.drafts.get(attribute as usize).is_some_and(|draft| {
            draft.path.is_empty() && matches!(draft.base, Base::Accumulator(place, _) if place == accumulator)
        })
    }
}
