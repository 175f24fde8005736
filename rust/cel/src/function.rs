//! How function implementations and their costs are given to the evaluator.

mod guard;
mod table;

pub use table::FunctionTable;
pub(crate) use table::{Binding, Shape};

use crate::context::EvalContext;
use crate::value::Value;

/// Evaluates one overload. Arguments are never [`Value::Halt`]; errors reach only non-strict functions.
///
/// The evaluator has checked the arguments against the declared types before (as cel-go's type guards do: of a list only
/// the first element, of a map only one entry), and answers a mismatch with cel-go's `no such overload: f(types)`.
pub type EvalFn = for<'a> fn(&EvalContext<'a>, &[Value<'a>]) -> Value<'a>;

/// The run-time cost of one call (cel-go `costCall`, Kubernetes `CostEstimator.CallCost`), from arguments and result.
/// Arguments and result may be errors.
pub type CostFn = for<'a> fn(&EvalContext<'a>, args: &[Value<'a>], result: Value<'a>) -> u64;

/// An implementation of one overload.
#[derive(Clone, Copy)]
pub struct Implementation {
    /// The overload's id, as in its declaration.
    pub id: &'static str,
    /// The function.
    pub eval: EvalFn,
    /// Its cost; `None` is cel-go's default of 1. A call whose overload is known only at run time is charged by the last
    /// of the function's overloads that has a cost.
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
