//! What cel-go's optimizing decorators do at plan time (`interpreter/decorators.go`): conversions of constants and lists and
//! maps of constants are evaluated, constant lists after `in` become sets, constant patterns are compiled.

use bumpalo::Bump;

use super::{Call, Constant, Node, Operation, PlanError, Planner, Set};
use crate::ast::ExprId;
use crate::context::{EvalContext, NoHost};
use crate::cost::Cost;
use crate::function::{Binding, Shape};
use crate::regex::Regex;
use crate::value::{MapValue, Value};

const CONVERSIONS: [&str; 10] =
    ["bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"];

/// Functions whose second argument is a pattern (cel-go `MatchesRegexOptimization`, and Kubernetes' for `find`).
const PATTERN_FUNCTIONS: [&str; 3] = ["matches", "find", "findAll"];

/// A program keeps no more of its constant patterns compiled than this; the others are compiled when they are used.
const MAX_PATTERN_BYTES: usize = 16 << 20;

impl Planner<'_, '_> {
    /// The node that replaces a call, if there is a better one.
    pub(super) fn optimize(
        &mut self,
        id: ExprId,
        function: &str,
        overload: &'static str,
        nodes: &[u32],
        binding: &Binding,
    ) -> Result<Option<u32>, PlanError> {
        if overload == "in_list"
            && let &[element, list] = nodes
            && let Some(Constant::List(elements)) = self.constant_of(list)
        {
            return Ok(self.membership(id, element, &elements));
        }
        if CONVERSIONS.contains(&function) && nodes.len() == 1 {
            return self.conversion(id, function, nodes, binding);
        }
        if PATTERN_FUNCTIONS.contains(&function)
            && let Some(Constant::String(pattern)) = nodes.get(1).and_then(|node| self.constant_of(*node))
        {
            return self.pattern(id, function, overload, nodes, binding, &pattern);
        }
        Ok(None)
    }

    fn membership(&mut self, id: ExprId, element: u32, list: &[Constant]) -> Option<u32> {
        if list.is_empty() {
            return Some(self.constant(id, Constant::Bool(false)));
        }
        let set = Set::new(list)?;
        self.sets.push(set);
        let set = self.sets.len() as u32 - 1;
        Some(self.push(id, Node::InSet(element, set)))
    }

    fn conversion(
        &mut self,
        id: ExprId,
        function: &str,
        nodes: &[u32],
        binding: &Binding,
    ) -> Result<Option<u32>, PlanError> {
        let Some(argument) = nodes.first().and_then(|node| self.constant_of(*node)) else {
            return Ok(None);
        };
        let arena = Bump::new();
        let ctx = EvalContext::new(&arena, &NoHost, u64::MAX);
        let id_text = u32::try_from(id).unwrap_or(0);
        let result = binding.call(&ctx, function, id_text, &[argument.value(&arena)]);
        if let Value::Error(error) = result {
            return Err(PlanError(error.message.to_owned()));
        }
        let constant = Constant::of(result);
        Ok(constant.map(|constant| self.constant(id, constant)))
    }

    fn pattern(
        &mut self,
        id: ExprId,
        function: &str,
        overload: &'static str,
        nodes: &[u32],
        binding: &Binding,
        pattern: &str,
    ) -> Result<Option<u32>, PlanError> {
        let eval = match binding {
            Binding::Singleton { eval, .. } => *eval,
            Binding::Overload(overload) => overload.eval,
            Binding::Dispatch(overloads) => match overloads.iter().find(|overload| overload.takes(nodes.len())) {
                Some(overload) => overload.eval,
                None => return Ok(None),
            },
            Binding::None => return Ok(None),
        };
        let regex = Regex::new(pattern).map_err(PlanError)?;
        self.pattern_bytes = self.pattern_bytes.saturating_add(regex.memory());
        let mut prepared = None;
        if self.pattern_bytes <= MAX_PATTERN_BYTES {
            self.regexes.push(regex);
            prepared = Some(self.regexes.len() as u32 - 1);
        }
        let call = Call {
            id: self.id(id),
            function: self.names.add(function),
            operation: Operation::Direct(eval),
            args: self.operands(nodes),
            shape: Shape::Variadic,
            cost: Cost::of(self.options.functions, function, overload),
            non_strict: false,
            regex: prepared,
        };
        self.calls.push(call);
        let call = self.calls.len() as u32 - 1;
        Ok(Some(self.push(id, Node::Call(call))))
    }

    /// A list of constants; elements marked with `?` must be optionals, which no constant is.
    pub(super) fn constant_list(&self, nodes: &[u32], optional: &[bool]) -> Result<Option<Constant>, PlanError> {
        let Some(elements) = nodes.iter().map(|node| self.constant_of(*node)).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        Ok(optional.is_empty().then_some(Constant::List(elements.into())))
    }

    /// A map of constants.
    pub(super) fn constant_map(&self, nodes: &[u32], optional: &[bool]) -> Result<Option<Constant>, PlanError> {
        let Some(parts) = nodes.iter().map(|node| self.constant_of(*node)).collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        if !optional.is_empty() {
            return Ok(None);
        }
        let arena = Bump::new();
        let (pairs, _) = parts.as_chunks::<2>();
        if pairs.iter().any(|[key, _]| matches!(key, Constant::Bytes(_))) {
            // Upstream's process panics here, outside of what it recovers from.
            return Err(PlanError("internal error: runtime error: hash of unhashable type types.Bytes".to_owned()));
        }
        let values = pairs.iter().map(|[key, value]| (key.value(&arena), value.value(&arena)));
        Ok(Constant::of(Value::Map(MapValue::from_pairs(&arena, values))))
    }
}
