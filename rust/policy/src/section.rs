//! Sections of a policy: expressions that share variables and a cost budget.

use celgate_cel::context::{EvalContext, Halt};
use celgate_cel::value::Value;

use crate::compile::{COST_LIMIT_EXCEEDED, Expression};
use crate::inputs::Inputs;
use crate::mutants::{Mutant, planted};
use crate::request::Unanswered;
use crate::variables::Variables;

/// A result of an expression.
#[derive(Clone, Copy)]
pub(crate) enum Evaluated<'a> {
    /// Its value, never an error.
    Value(Value<'a>),
    /// The error's text as upstream reports it.
    Error(&'a str),
}

/// Why a section ends early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Its cost budget is used up.
    Budget,
    /// An answer is missing.
    Unanswered,
}

impl From<Unanswered> for Stop {
    fn from(_: Unanswered) -> Stop {
        Stop::Unanswered
    }
}

/// Upstream's text of [`Stop::Budget`].
pub(crate) const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// Expressions that share variables and a cost budget: one call of upstream's `ForInput`.
pub(crate) struct Section<'p, 'a> {
    ctx: &'p EvalContext<'a>,
    inputs: &'p Inputs<'a>,
    /// `None` if no expression of the policy reads variables.
    variables: Option<&'a Variables<'a>>,
    remaining: u64,
    spent: u64,
}

impl<'p, 'a> Section<'p, 'a> {
    /// A section with this budget; `variables` are those among the inputs.
    pub(crate) fn new(
        ctx: &'p EvalContext<'a>,
        inputs: &'p Inputs<'a>,
        variables: Option<&'a Variables<'a>>,
        budget: u64,
    ) -> Section<'p, 'a> {
        Section { ctx, inputs, variables, remaining: budget, spent: 0 }
    }

    /// What the expressions so far have left of the budget.
    pub(crate) fn remaining(&self) -> u64 {
        self.remaining
    }

    /// The cost of the expressions so far.
    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }

    pub(crate) fn arena(&self) -> &'a bumpalo::Bump {
        self.ctx.arena
    }

    /// Evaluates an expression (upstream's `evaluationActivation.Evaluate`).
    pub(crate) fn evaluate(&mut self, expression: &'a Expression) -> Result<Evaluated<'a>, Stop> {
        let ctx = self.ctx;
        let program = match &expression.program {
            Ok(program) => program,
            Err(error) => return Ok(self.error(format_args!("compilation error: {error}"))),
        };
        ctx.leave(0);
        let value = ctx.interruptible(|| program.eval(ctx, self.inputs));
        let cost = ctx.leave(0);
        let halt = ctx.clear_halt();
        if halt == Some(Halt::NeedsInput) {
            return Err(Stop::Unanswered);
        }
        // Variables are charged first, then the expression.
        let variables = self.variables.map_or(0, Variables::take_cost);
        let variables = if planted(Mutant::VariablesAreFree) { 0 } else { variables };
        self.charge(variables)?;
        self.charge(cost)?;
        let message = match (halt, value) {
            (Some(Halt::Panic(message)), _) => message,
            (Some(_), _) => COST_LIMIT_EXCEEDED,
            (None, Value::Error(error)) => error.message,
            // Not copied: its parts have only just been written, and a copy waits until they have left the processor.
            (None, Value::Bool(true)) => return Ok(Evaluated::Value(Value::Bool(true))),
            (None, Value::Bool(false)) => return Ok(Evaluated::Value(Value::Bool(false))),
            (None, value) => return Ok(Evaluated::Value(value)),
        };
        Ok(self.error(format_args!("expression '{}' resulted in error: {message}", expression.text)))
    }

    /// Takes a cost from the budget.
    #[inline]
    pub(crate) fn charge(&mut self, cost: u64) -> Result<(), Stop> {
        self.spent = self.spent.saturating_add(cost);
        self.remaining = self.remaining.checked_sub(cost).ok_or(Stop::Budget)?;
        Ok(())
    }

    fn error(&self, text: std::fmt::Arguments<'_>) -> Evaluated<'a> {
        Evaluated::Error(bumpalo::format!(in self.ctx.arena, "{}", text).into_bump_str())
    }
}
