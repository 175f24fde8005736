//! The units in which Kubernetes' `CostEstimator.CallCost` counts.

use celgate_cel::context::EvalContext;
use celgate_cel::ops::size::{size, walk};
use celgate_cel::value::Value;

/// cel-go's `StringTraversalCostFactor`.
const STRING_TRAVERSAL: f64 = 0.1;
/// cel-go's `RegexStringLengthCostFactor`.
const REGEX_LENGTH: f64 = 0.25;

/// Upstream's `actualSize`: the size of what has one, otherwise 1 (also for optionals, unlike cel-go's own).
pub(crate) fn actual_size(value: &Value<'_>) -> u64 {
    size(*value).unwrap_or(1)
}

/// The size of the argument at `index`; 1 where there is none.
pub(crate) fn size_at(args: &[Value<'_>], index: usize) -> u64 {
    args.get(index).map_or(1, actual_size)
}

/// The cost of reading a string of this many characters once.
pub(crate) fn traversal(size: u64) -> u64 {
    (size as f64 * STRING_TRAVERSAL).ceil() as u64
}

/// The cost of reading a string of this many characters twice: `⌈size · 2 · 0.1⌉` in floating point, as upstream.
pub(crate) fn double_traversal(size: u64) -> u64 {
    (size as f64 * 2.0 * STRING_TRAVERSAL).ceil() as u64
}

/// The cost of matching a string against a regular expression, by their lengths in characters.
pub(crate) fn regex(text: u64, pattern: u64) -> u64 {
    let text = ((1.0 + text as f64) * STRING_TRAVERSAL).ceil() as u64;
    let pattern = (pattern as f64 * REGEX_LENGTH).ceil() as u64;
    text.saturating_mul(pattern)
}

/// Functions that read their first argument once (`quantity`, `url`, `cidr`, `isIP`, ...).
pub(crate) fn first_argument<'a>(_: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    traversal(size_at(args, 0))
}

/// Functions that walk their first argument once (`sum`, `min`, `indexOf`, `includes`, ...).
pub(crate) fn first_argument_tree<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    args.first().map_or(0, |value| walk(ctx, *value))
}
