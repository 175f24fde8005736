//! Calls (cel-go `planCall` and its kin).

use super::{Call, Comparison, Node, Operation, PlanError, Planner, Search};
use crate::ast::{Expr, ExprId};
use crate::cost::Cost;
use crate::function::Shape;

impl<'e> Planner<'e, '_> {
    pub(super) fn call(
        &mut self,
        id: ExprId,
        target: Option<&'e Expr>,
        function: &'e str,
        args: &'e [Expr],
    ) -> Result<u32, PlanError> {
        let nodes = target.into_iter().chain(args).map(|arg| self.node(arg)).collect::<Result<Vec<_>, _>>()?;
        match (function, nodes.as_slice()) {
            ("_&&_", &[a, b]) => return Ok(self.push(id, Node::And(a, b))),
            ("_||_", &[a, b]) => return Ok(self.push(id, Node::Or(a, b))),
            ("_?_:_", &[condition, a, b]) => return Ok(self.conditional(id, condition, a, b)),
            ("_==_", &[a, b]) => return Ok(self.push(id, Node::Equal(a, b))),
            ("_!=_", &[a, b]) => return Ok(self.push(id, Node::NotEqual(a, b))),
            ("_[_]", &[operand, index]) => return self.index(id, operand, index, false),
            ("_?._" | "_[?_]", &[operand, index]) => return self.index(id, operand, index, true),
            _ => {}
        }
        let overload = self.overload(id);
        match (function, nodes.as_slice()) {
            ("or", &[a, b]) if matches!(overload, "" | "optional_or_optional") => {
                return Ok(self.push(id, Node::OptionalOr(a, b)));
            }
            ("orValue", &[a, b]) if matches!(overload, "" | "optional_orValue_value") => {
                return Ok(self.push(id, Node::OptionalOrValue(a, b)));
            }
            _ => {}
        }
        self.function(id, function, overload, &nodes)
    }

    /// The overload that a call uses if the checker found exactly one.
    fn overload(&self, id: ExprId) -> &'static str {
        match self.checked.references.get(&id).map(|reference| reference.overloads.as_slice()) {
            Some(&[only]) => only,
            _ => "",
        }
    }

    fn function(&mut self, id: ExprId, name: &str, overload: &'static str, nodes: &[u32]) -> Result<u32, PlanError> {
        let functions = self.options.functions;
        let binding = functions.binding(name, overload);
        if let Some(node) = self.optimize(id, name, overload, nodes, &binding)? {
            return Ok(node);
        }
        let cost = Cost::of(functions, name, overload);
        match (name, nodes, Comparison::of(name), cost) {
            ("!_", &[a], _, Cost::One) => return Ok(self.push(id, Node::Not(a))),
            (_, &[a, b], Some(comparison), Cost::One | Cost::Smaller) => {
                let sized = matches!(cost, Cost::Smaller);
                return Ok(self.push(id, Node::Compare(comparison, sized, a, b)));
            }
            _ => {}
        }
        let (args, shape, non_strict) = (self.operands(nodes), binding.shape(nodes.len()), binding.non_strict());
        let operation = match name {
            "@not_strictly_false" if nodes.len() == 1 => Operation::NotStrictlyFalse,
            "_+_" if nodes.len() == 2 => Operation::Add,
            _ => Operation::Bound(binding),
        };
        let (function, number) = (self.names.add(name), self.id(id));
        self.calls.push(Call { id: number, function, operation, args, shape, cost, non_strict, regex: None });
        let call = self.calls.len() as u32 - 1;
        let node = match (name, Search::of(overload), nodes, cost) {
            _ if shape != Shape::Fixed => Node::Call(call),
            ("@in", _, &[a, b], Cost::One) => Node::In(false, call, a, b),
            ("@in", _, &[a, b], Cost::SizeOfSecond) => Node::In(true, call, a, b),
            (_, _, _, Cost::Custom(_)) => Node::Call(call),
            (_, Some(search), &[a, b], _) => Node::Search(search, call, a, b),
            _ => Node::Call(call),
        };
        Ok(self.push(id, node))
    }
}
