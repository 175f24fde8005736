//! What an expression can read: upstream's `evaluationActivation`, and the sections that share one.

use bumpalo::Bump;
use celgate_cel::context::{EvalContext, Halt};
use celgate_cel::record::Edit;
use celgate_cel::value::Value;

use crate::compile::{COST_LIMIT_EXCEEDED, Compiled, Expression, Program};
use crate::mutants::{Mutant, planted};
use crate::reads::Reads;
use crate::request::Unanswered;
use crate::rules::{Kind, Resource};
use crate::variables::Variables;

/// The inputs: programs are planned against their positions.
pub(crate) struct Input;

impl Input {
    pub(crate) const COUNT: usize = 8;

    /// The names that expressions have for the inputs, in order.
    pub(crate) const NAMES: [&'static str; Input::COUNT] = [
        "object",
        "oldObject",
        "params",
        "request",
        "namespaceObject",
        "authorizer",
        "authorizer.requestResource",
        "variables",
    ];
}

/// The values of the inputs; `None` is unbound.
pub(crate) struct Activation<'a> {
    inputs: [Option<Value<'a>>; Input::COUNT],
}

/// What the sections of one evaluation have in common.
#[derive(Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub(crate) object: Value<'a>,
    pub(crate) old_object: Value<'a>,
    pub(crate) params: Value<'a>,
    pub(crate) authorizer: Value<'a>,
    pub(crate) request_resource: Value<'a>,
}

/// What is different from section to section.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) request: Value<'a>,
    pub(crate) namespace: Value<'a>,
    /// Whether authorizer is bound.
    pub(crate) authorizer: bool,
}

impl<'a> Activation<'a> {
    /// Evaluates an expression; a variable of the policy that it reads may be evaluated too.
    pub(crate) fn run(&'a self, ctx: &EvalContext<'a>, expression: &'a Compiled) -> Value<'a> {
        expression.eval(ctx, &self.inputs)
    }
}

/// The request under a match: upstream's `CreateAdmissionRequest`. `reads` says whether anybody can see the difference.
pub(crate) fn request<'a>(
    arena: &'a Bump,
    attributes: Value<'a>,
    resource: &Resource,
    kind: &Kind,
    reads: Reads,
) -> Value<'a> {
    match attributes {
        Value::Record(fields) if reads.intersects(Reads::REQUEST_MATCH) => fields.edited(
            arena,
            &[
                Edit::Add("kind", &[("group", &kind.group), ("version", &kind.version), ("kind", &kind.kind)]),
                Edit::Add(
                    "resource",
                    &[("group", &resource.group), ("version", &resource.version), ("resource", &resource.resource)],
                ),
            ],
        ),
        attributes => attributes,
    }
}

/// The namespace as validations see it: upstream's `CreateNamespaceObject`, which leaves some of the metadata out.
pub(crate) fn namespace<'a>(arena: &'a Bump, namespace: Value<'a>, reads: Reads) -> Value<'a> {
    match namespace {
        Value::Record(fields) if reads.intersects(Reads::NAMESPACE_WHOLE) && !planted(Mutant::NamespaceIsWhole) => {
            fields.edited(
                arena,
                &[
                    Edit::Drop("kind"),
                    Edit::Drop("apiVersion"),
                    Edit::DropInner("metadata", &["managedFields", "ownerReferences", "selfLink"]),
                ],
            )
        }
        namespace => namespace,
    }
}

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
    activation: &'a Activation<'a>,
    variables: &'a Variables<'a>,
    remaining: u64,
    spent: u64,
}

impl<'p, 'a> Section<'p, 'a> {
    /// A section with this budget.
    pub(crate) fn new(
        ctx: &'p EvalContext<'a>,
        program: &'a Program,
        inputs: &Inputs<'a>,
        scope: &Scope<'a>,
        budget: u64,
    ) -> Section<'p, 'a> {
        let arena = ctx.arena;
        let variables: &'a Variables<'a> = arena.alloc(Variables::new(program, arena));
        let bound = |value| if scope.authorizer { Some(value) } else { None };
        let activation: &'a Activation<'a> = arena.alloc(Activation {
            // In the order of `Input::NAMES`.
            inputs: [
                Some(inputs.object),
                Some(inputs.old_object),
                Some(inputs.params),
                Some(scope.request),
                Some(scope.namespace),
                bound(inputs.authorizer),
                bound(inputs.request_resource),
                Some(Value::Lazy(variables)),
            ],
        });
        variables.bind(activation);
        Section { ctx, activation, variables, remaining: budget, spent: 0 }
    }

    /// What the expressions so far have left of the budget.
    pub(crate) fn remaining(&self) -> u64 {
        self.remaining
    }

    /// The cost of the expressions so far.
    pub(crate) fn spent(&self) -> u64 {
        self.spent
    }

    pub(crate) fn arena(&self) -> &'a Bump {
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
        let value = self.activation.run(ctx, program);
        let cost = ctx.leave(0);
        let halt = ctx.clear_halt();
        if halt == Some(Halt::NeedsInput) {
            return Err(Stop::Unanswered);
        }
        // Variables are charged first, then the expression.
        let variables = self.variables.take_cost();
        let variables = if planted(Mutant::VariablesAreFree) { 0 } else { variables };
        for cost in [variables, cost] {
            self.spent = self.spent.saturating_add(cost);
            self.remaining = self.remaining.checked_sub(cost).ok_or(Stop::Budget)?;
        }
        let message = match (halt, value) {
            (Some(Halt::Panic(message)), _) => message,
            (Some(_), _) => COST_LIMIT_EXCEEDED,
            (None, Value::Error(error)) => error.message,
            (None, value) => return Ok(Evaluated::Value(value)),
        };
        Ok(self.error(format_args!("expression '{}' resulted in error: {message}", expression.text)))
    }

    fn error(&self, text: std::fmt::Arguments<'_>) -> Evaluated<'a> {
        Evaluated::Error(bumpalo::format!(in self.ctx.arena, "{}", text).into_bump_str())
    }
}
