//! How function implementations and their costs are given to the evaluator.

use crate::context::EvalContext;
use crate::value::Value;

/// Evaluates one overload. Arguments are never [`Value::Halt`]; errors reach only non-strict functions.
/// Must return `no such overload` errors as cel-go does when an argument's run-time type is not the declared one.
pub type EvalFn = for<'a> fn(&EvalContext<'a>, &[Value<'a>]) -> Value<'a>;

/// The run-time cost of one call (cel-go `costCall`, Kubernetes `CostEstimator.CallCost`), from arguments and result.
pub type CostFn = for<'a> fn(&EvalContext<'a>, args: &[Value<'a>], result: Value<'a>) -> u64;

/// An implementation of one overload.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// The overload's id, as in its declaration.
    pub id: &'static str,
    /// The function.
    pub eval: EvalFn,
    /// Its cost; `None` is cel-go's default of 1.
    pub cost: Option<CostFn>,
}

/// A set of functions that an environment is built from.
pub struct Library {
    /// The library's name, as cel-go's or Kubernetes' `LibraryName`.
    pub name: &'static str,
    /// Its declarations.
    pub functions: fn() -> Vec<crate::decls::FunctionDecl>,
    /// Its implementations.
    pub implementations: &'static [Implementation],
}
