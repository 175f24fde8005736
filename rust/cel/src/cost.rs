//! Run-time cost, as cel-go's `interpreter/runtimecost.go` counts it with Kubernetes' estimator.

mod tracker;

pub(crate) use tracker::Tracker;

use crate::context::EvalContext;
use crate::function::{CostFn, FunctionTable};
use crate::mutants::{Mutant, planted};
use crate::ops::{cost_size, size::code_points};
use crate::value::Value;

/// Each variable and each selection.
pub(crate) const SELECT_AND_IDENT: u64 = 1;
/// A list literal.
pub(crate) const LIST_CREATE: u64 = 10;
/// A map literal.
pub(crate) const MAP_CREATE: u64 = 30;
/// A message literal.
pub(crate) const STRUCT_CREATE: u64 = 40;

const STRING_TRAVERSAL: f64 = 0.1;
const REGEX_LENGTH: f64 = 0.25;

/// How a call is charged.
#[derive(Clone, Copy)]
pub(crate) enum Cost {
    /// 1.
    One,
    /// `⌈0.1 · size⌉` of one argument.
    Traversal(u8),
    /// The size of the second argument.
    SizeOfSecond,
    /// `⌈0.1 · size⌉` of the smaller argument.
    Smaller,
    /// `⌈0.1 · sum of sizes⌉`.
    Sum,
    /// Text times pattern.
    Matches,
    /// Text times part.
    Contains,
    /// As a library says.
    Custom(CostFn),
}

impl Cost {
    /// The cost of calls to `function` whose overload the checker found to be `overload` (empty if there are several).
    pub(crate) fn of(functions: &FunctionTable, function: &str, overload: &str) -> Cost {
        if let Some(custom) = functions.cost(function, overload) {
            return Cost::Custom(custom);
        }
        match overload {
            "starts_with_string" | "ends_with_string" => Cost::Traversal(1),
            "string_to_bytes" | "bytes_to_string" | "strings_quote" | "string_format" => Cost::Traversal(0),
            "in_list" => Cost::SizeOfSecond,
            "less_string"
            | "greater_string"
            | "less_equals_string"
            | "greater_equals_string"
            | "less_bytes"
            | "greater_bytes"
            | "less_equals_bytes"
            | "greater_equals_bytes" => Cost::Smaller,
            "add_string" | "add_bytes" => Cost::Sum,
            "matches" | "matches_string" => Cost::Matches,
            "contains_string" => Cost::Contains,
            _ => Cost::One,
        }
    }

    /// The cost of one call.
    pub(crate) fn count<'a>(self, ctx: &EvalContext<'a>, args: &[Value<'a>], result: Value<'a>) -> u64 {
        let size = |index: usize| args.get(index).map_or(1, |arg| cost_size(*arg));
        match self {
            Cost::One => 1,
            Cost::Traversal(index) => traversal(size(usize::from(index))),
            Cost::SizeOfSecond => size(1),
            Cost::Smaller => smaller_of(args),
            Cost::Sum => traversal(size(0).saturating_add(size(1))),
            Cost::Matches => {
                let text = if planted(Mutant::MatchesIgnoresText) { 0.0 } else { size(0) as f64 };
                let text = ceiling((1.0 + text) * STRING_TRAVERSAL);
                text.saturating_mul(ceiling(size(1) as f64 * REGEX_LENGTH))
            }
            Cost::Contains if planted(Mutant::ContainsIsAdded) => traversal(size(0)).saturating_add(traversal(size(1))),
            Cost::Contains => traversal(size(0)).saturating_mul(traversal(size(1))),
            Cost::Custom(cost) => cost(ctx, args, result),
        }
    }
}

/// `⌈0.1 · size⌉` in floating point, as Go computes it.
pub(crate) fn traversal(size: u64) -> u64 {
    match size {
        0 => 0,
        1..=10 => 1,
        _ if planted(Mutant::TraversalRoundsDown) => size / 10,
        _ => ceiling(size as f64 * STRING_TRAVERSAL),
    }
}

/// `⌈0.1 · size⌉` of a string.
#[inline]
pub(crate) fn tenth_of_text(text: &str) -> u64 {
    match text.len() {
        0 => 0,
        1..=10 => 1,
        _ => traversal(code_points(text)),
    }
}

/// A number that is not negative, rounded up.
#[inline]
fn ceiling(number: f64) -> u64 {
    let whole = number as u64;
    whole.saturating_add(u64::from(number > whole as f64))
}

fn smaller_of(args: &[Value<'_>]) -> u64 {
    match args {
        [a, b] => smaller(*a, *b),
        _ => 1,
    }
}

/// `⌈0.1 · size⌉` of the smaller of two values.
#[inline]
pub(crate) fn smaller(a: Value<'_>, b: Value<'_>) -> u64 {
    match (a, b) {
        (Value::String(a), Value::String(b)) => smaller_text(a, b),
        _ => traversal(cost_size(a).min(cost_size(b))),
    }
}

/// `⌈0.1 · size⌉` of the smaller of two strings, whose shorter one in bytes bounds the smaller in code points.
#[inline]
pub(crate) fn smaller_text(a: &str, b: &str) -> u64 {
    match a.len().min(b.len()) {
        0 => 0,
        1..=10 => 1,
        _ => traversal(code_points(a).min(code_points(b))),
    }
}
