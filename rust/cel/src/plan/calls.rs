//! Calls (cel-go `planCall` and its kin).

use std::cmp::Ordering;

use super::{Call, NodeKind, Operation, PlanError, Planner};
use crate::ast::{Expr, ExprId};
use crate::cost::Cost;
use crate::function::Binding;

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
            ("_&&_", &[a, b]) => return Ok(self.push(id, NodeKind::And(a, b))),
            ("_||_", &[a, b]) => return Ok(self.push(id, NodeKind::Or(a, b))),
            ("_?_:_", &[condition, a, b]) => return Ok(self.conditional(id, condition, a, b)),
            ("_==_", &[a, b]) => return Ok(self.push(id, NodeKind::Equal(a, b))),
            ("_!=_", &[a, b]) => return Ok(self.push(id, NodeKind::NotEqual(a, b))),
            ("_[_]", &[operand, index]) => return self.index(id, operand, index, false),
            ("_?._" | "_[?_]", &[operand, index]) => return self.index(id, operand, index, true),
            _ => {}
        }
        let overload = self.overload(id);
        match (function, nodes.as_slice()) {
            ("or", &[a, b]) if matches!(overload, "" | "optional_or_optional") => {
                return Ok(self.push(id, NodeKind::OptionalOr(a, b)));
            }
            ("orValue", &[a, b]) if matches!(overload, "" | "optional_orValue_value") => {
                return Ok(self.push(id, NodeKind::OptionalOrValue(a, b)));
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

    fn function(
        &mut self,
        id: ExprId,
        function: &str,
        overload: &'static str,
        nodes: &[u32],
    ) -> Result<u32, PlanError> {
        let functions = self.options.functions;
        let binding = functions.binding(function, overload);
        if let Some(node) = self.optimize(id, function, overload, nodes, &binding)? {
            return Ok(node);
        }
        let (args, shape) = (self.operands(nodes), binding.shape(nodes.len()));
        let cost = Cost::of(functions, function, overload);
        let operation = operation(function, nodes.len(), binding);
        self.calls.push(Call { function: Box::from(function), operation, args, shape, cost, regex: None });
        let call = self.calls.len() as u32 - 1;
        Ok(self.push(id, NodeKind::Call(call)))
    }
}

/// Frequent operators get operations of their own, equal in meaning to their bindings.
fn operation(function: &str, args: usize, binding: Binding) -> Operation {
    match (function, args) {
        ("!_", 1) => Operation::Not,
        ("@not_strictly_false", 1) => Operation::NotStrictlyFalse,
        ("_<_", 2) => Operation::Compare(Ordering::is_lt),
        ("_<=_", 2) => Operation::Compare(Ordering::is_le),
        ("_>_", 2) => Operation::Compare(Ordering::is_gt),
        ("_>=_", 2) => Operation::Compare(Ordering::is_ge),
        _ => Operation::Bound(binding),
    }
}
