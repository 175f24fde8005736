//! Helpers of the libraries' unit tests.
#![allow(clippy::panic, reason = "a panic is how a test fails")]

use bumpalo::Bump;

use crate::context::{EvalContext, NoHost};
use crate::function::Library;
use crate::ops::format::GoValue;
use crate::value::Value;

/// Calls the overload `id` of a library: the value as text, and the cost.
pub(super) fn call<'a>(ctx: &EvalContext<'a>, library: &Library, id: &str, args: &[Value<'a>]) -> (String, u64) {
    let Some(found) = library.implementations.iter().find(|it| it.id == id) else { panic!("no {id}") };
    let value = (found.eval)(ctx, args);
    let cost = found.cost.map_or(1, |cost| cost(ctx, args, value));
    (GoValue(value).to_string(), cost)
}

/// Runs a test with a context whose host knows nothing.
pub(super) fn with_context(test: impl for<'a> FnOnce(&EvalContext<'a>)) {
    let arena = Bump::new();
    test(&EvalContext::new(&arena, &NoHost, 1_000_000));
}
