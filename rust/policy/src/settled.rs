//! Match conditions that the kind of a request settles: `request.resource`, `request.operation` and the like are the same for all requests of
//! a plan, so that a condition about these alone has one value and one cost there.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use celgate_cel::ast::{Expr, ExprKind};

use crate::compile::Expression;
use crate::mutants::{Mutant, planted};

/// The fields of `request` that a plan's key fixes. `kind` is that of the match, which is kept beside the value.
const FIXED: [&str; 7] =
    ["kind", "resource", "subResource", "requestKind", "requestResource", "requestSubResource", "operation"];

/// Whether an expression reads nothing but these.
pub(crate) fn by_kind(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) => true,
        ExprKind::Select { operand, field, .. } => match &operand.kind {
            ExprKind::Ident(name) => {
                name.strip_prefix('.').unwrap_or(name) == "request" && FIXED.contains(&field.as_str())
            }
            _ => by_kind(operand),
        },
        ExprKind::Call { target, args, .. } => target.iter().map(|target| &**target).chain(args).all(by_kind),
        ExprKind::List { elements, .. } => elements.iter().all(by_kind),
        _ => false,
    }
}

/// What the conditions of a planned policy or webhook have come to, as far as they are settled. `None` if none can be, as for most
/// policies of a plan, which this must not make larger.
#[derive(Debug, Default)]
pub(crate) struct Settled(Option<Box<Box<[AtomicU64]>>>);

/// Bits of a settled condition: that it is known, its value, the match, the cost.
const KNOWN: u64 = 1;
const TRUE: u64 = 2;
const MATCH_SHIFT: u32 = 2;
const MATCH_BITS: u32 = 16;
const COST_SHIFT: u32 = MATCH_SHIFT + MATCH_BITS;

impl Settled {
    pub(crate) fn new(conditions: &[Expression]) -> Settled {
        let any = conditions.iter().any(Expression::is_by_kind);
        Settled(any.then(|| Box::new(conditions.iter().map(|_| AtomicU64::new(0)).collect())))
    }

    /// The value and cost of a condition under a match, if they are known.
    #[inline]
    pub(crate) fn get(&self, condition: usize, matched: u32) -> Option<(bool, u64)> {
        let bits = self.0.as_ref()?.get(condition)?.load(Relaxed);
        let head = bits & ((1 << COST_SHIFT) - 1) & !TRUE;
        let cost = if planted(Mutant::SettledIsFree) { 0 } else { bits >> COST_SHIFT };
        (head == KNOWN | u64::from(matched) << MATCH_SHIFT).then_some((bits & TRUE != 0, cost))
    }

    /// Keeps the value and cost of a condition that is settled.
    pub(crate) fn put(&self, condition: usize, matched: u32, value: bool, cost: u64) {
        if let Some(place) = self.0.as_ref().and_then(|places| places.get(condition))
            && matched >> MATCH_BITS == 0
            && cost >> (u64::BITS - COST_SHIFT) == 0
        {
            let value = if value { TRUE } else { 0 };
            place.store(KNOWN | value | u64::from(matched) << MATCH_SHIFT | cost << COST_SHIFT, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use celgate_cel::parser::{ParseOptions, parse};

    use super::*;
    use crate::api::NamedExpression;
    use crate::compile::Program;

    #[test]
    fn what_the_kind_of_a_request_settles() {
        let settled = |text: &str| by_kind(&parse(text, &ParseOptions::kubernetes()).unwrap().expr);
        for text in [
            "request.resource.group == 'apps' && !(request.operation in ['CREATE', 'UPDATE'])",
            "has(request.subResource) || request.kind.kind.startsWith('D')",
            ".request.requestKind == request.kind ? true : 1 < 2",
        ] {
            assert!(settled(text), "{text}");
        }
        for text in [
            "request.name == 'a'",
            "request.namespace == 'a' || request.operation == 'CREATE'",
            "request == request",
            "object.request.kind == 1",
            "kind == 1",
            "['a'].all(request, request.kind == 'a')",
            "request.userInfo.groups.exists(g, g == request.operation)",
            "authorizer.requestResource.check(request.operation).allowed()",
            "request[request.operation] == 1",
        ] {
            assert!(!settled(text), "{text}");
        }
    }

    #[test]
    fn values_are_kept_by_match() {
        let condition = |text: &str| NamedExpression { name: String::new(), expression: text.into() };
        let program = Program::of_webhook(&[condition("object.a == 1"), condition("request.operation == 'CREATE'")]);
        let settled = Settled::new(&program.conditions);
        assert_eq!((settled.get(1, 0), settled.get(5, 0)), (None, None));
        settled.put(1, 3, true, 7);
        assert_eq!((settled.get(1, 3), settled.get(1, 2), settled.get(0, 3)), (Some((true, 7)), None, None));
        settled.put(1, 2, false, 0);
        assert_eq!((settled.get(1, 3), settled.get(1, 2)), (None, Some((false, 0))));
        settled.put(1, 1 << MATCH_BITS, true, 1);
        settled.put(1, 1, true, u64::MAX);
        assert_eq!((settled.get(1, 2), settled.get(1, 1)), (Some((false, 0)), None));
        assert_eq!(Settled::new(&program.conditions[..1]).get(0, 0), None);
    }
}
