//! One policy with one param: upstream's `validator.Validate`. Or the match conditions of a webhook.

use bumpalo::Bump;
use bumpalo::collections::Vec;
use celgate_cel::context::EvalContext;
use celgate_cel::value::Value;
use celgate_k8s::authz::{RequestResource, authorizer_value, request_resource_value};

use crate::audit;
use crate::compile::{COST_LIMIT, Expression, Program, Validation};
use crate::inputs::{Input, Inputs, Matched, Scope};
use crate::matchconditions;
use crate::mutants::{Mutant, planted};
use crate::params::Param;
use crate::reads::Reads;
use crate::report::{Action, Conditions, Evaluation};
use crate::request::{RequestView, Unanswered};
use crate::results::Unfinished;
use crate::rules::Key;
use crate::scratch::Kept;
use crate::section::{Evaluated, OUT_OF_BUDGET, Section, Stop};
use crate::settled::Settled;
use crate::variables::Variables;

/// Cost that validations and messages of a policy may have together, and auditAnnotations again.
const BUDGET: u64 = 10_000_000;

/// The longest message that a messageExpression may give, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;

/// The reason of a denial that names none.
const DEFAULT_REASON: &str = "Invalid";

/// What an evaluation is about.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) program: &'a Program,
    /// What an error means.
    pub(crate) on_error: Action,
    /// Conditions that the kind of request settles.
    pub(crate) settled: &'a Settled,
    pub(crate) matched: &'a Matched<'a>,
    pub(crate) param: Option<&'a Param>,
}

/// What messageExpressions gave.
enum Messages<'a> {
    /// There are none.
    None,
    /// One text per validation, empty where there is no usable one.
    Some(Vec<'a, &'a str>),
    /// They used up what validations left of the budget.
    OutOfBudget,
}

impl<'a> Messages<'a> {
    fn get(&self, index: usize) -> &'a str {
        match self {
            Messages::Some(messages) => messages.get(index).copied().unwrap_or_default(),
            Messages::None | Messages::OutOfBudget => "",
        }
    }
}

/// A case with what all its sections share.
struct Evaluator<'p, 'a> {
    ctx: &'p EvalContext<'a>,
    case: &'p Case<'a>,
    own: Own<'a>,
}

/// Inputs that policies do not share; `None` for what this one does not read.
struct Own<'a> {
    params: Option<Value<'a>>,
    /// `authorizer` and `authorizer.requestResource`.
    authorizer: Option<(Value<'a>, Value<'a>)>,
}

/// The context in which the policies of a request are evaluated, one after the other.
pub(crate) fn context<'a>(arena: &'a Bump, kept: &'a Kept, request: &'a RequestView<'a>) -> EvalContext<'a> {
    EvalContext::new(arena, &request.authorizer, COST_LIMIT)
        .keeping(&kept.patterns)
        .ended(request.authorizer.answers.ended())
        .remembering(&kept.memo, request.record)
}

/// Evaluates a policy and adds what it decides. The result is the cost of all.
pub(crate) fn evaluate<'a>(
    ctx: &EvalContext<'a>,
    case: &Case<'a>,
    results: &mut Unfinished<'_>,
) -> Result<u64, Unanswered> {
    Evaluator::new(ctx, case).policy(results)
}

/// Evaluates match conditions alone. The result is what they came to, and their cost.
pub(crate) fn conditions<'a>(
    ctx: &EvalContext<'a>,
    case: &Case<'a>,
) -> Result<(matchconditions::Outcome<'a>, u64), Unanswered> {
    Evaluator::new(ctx, case).conditions()
}

impl<'a> Own<'a> {
    fn new(ctx: &EvalContext<'a>, case: &Case<'a>) -> Own<'a> {
        let params = case.param.map(|param| {
            let record: &'a celgate_cel::record::Record<'a> = ctx.arena.alloc(param.record());
            record.root(0).unwrap_or(Value::Null)
        });
        let authorizer = case.program.reads.intersects(Reads::AUTHORIZER).then(|| {
            let Key { resource, subresource, .. } = &case.matched.plan.key;
            let request = case.matched.request;
            let resource = RequestResource {
                group: &resource.group,
                resource: &resource.resource,
                subresource,
                namespace: request.namespace(),
                name: request.name(),
            };
            (authorizer_value(ctx), request_resource_value(ctx, &resource))
        });
        Own { params, authorizer }
    }
}

impl<'p, 'a> Evaluator<'p, 'a> {
    fn new(ctx: &'p EvalContext<'a>, case: &'p Case<'a>) -> Evaluator<'p, 'a> {
        ctx.renew();
        Evaluator { own: Own::new(ctx, case), case, ctx }
    }

    fn section(&self, scope: Scope, budget: u64) -> Section<'_, 'a> {
        let shared = self.case.matched.inputs(scope);
        let reads_variables = self.case.program.reads.intersects(Reads::VARIABLES);
        if let (Own { params: None, authorizer: None }, false) = (&self.own, reads_variables) {
            return Section::new(self.ctx, shared, None, budget);
        }
        let arena = self.ctx.arena;
        let variables: Option<&'a Variables<'a>> =
            if reads_variables { Some(arena.alloc(Variables::new(self.case.program, arena))) } else { None };
        let mut inputs = *shared;
        if self.own.params.is_some() {
            inputs[Input::PARAMS] = self.own.params;
        }
        if let Some((authorizer, request_resource)) = self.own.authorizer
            && scope.has_authorizer()
        {
            inputs[Input::AUTHORIZER] = Some(authorizer);
            inputs[Input::REQUEST_RESOURCE] = Some(request_resource);
        }
        inputs[Input::VARIABLES] = variables.map(|variables| Value::Lazy(variables));
        let inputs: &'a Inputs<'a> = arena.alloc(inputs);
        if let Some(variables) = variables {
            variables.bind(inputs);
        }
        Section::new(self.ctx, inputs, variables, budget)
    }

    fn conditions(&self) -> Result<(matchconditions::Outcome<'a>, u64), Unanswered> {
        let mut section = self.section(Scope::Conditions, conditions_budget());
        let outcome = {
            let Case { program, settled, matched, .. } = self.case;
            matchconditions::evaluate(&mut section, &program.conditions, settled, matched.number())?
        };
        Ok((outcome, section.spent()))
    }

    /// Match conditions, and all that follows if they hold.
    fn policy(&self, results: &mut Unfinished<'_>) -> Result<u64, Unanswered> {
        let mut cost = 0;
        if !self.case.program.conditions.is_empty() {
            let (outcome, spent) = self.conditions()?;
            cost += spent;
            match (outcome, self.case.on_error) {
                (matchconditions::Outcome::Match, _) => {}
                (matchconditions::Outcome::Excluded { errors }, _) => {
                    results.conditions(Conditions::Excluded, errors);
                    return Ok(cost);
                }
                (matchconditions::Outcome::Failed { errors, .. }, Action::Admit) => {
                    results.conditions(Conditions::Ignored, errors);
                    return Ok(cost);
                }
                (matchconditions::Outcome::Failed { errors, message }, Action::Deny) => {
                    results.conditions(Conditions::Failed, errors);
                    results.decision(0, Action::Deny, Evaluation::Error, "", message);
                    return Ok(cost);
                }
            }
        }
        let (validations, go_on) = self.validations(results)?;
        cost += validations;
        if go_on {
            cost += self.annotations(results)?;
        }
        Ok(cost)
    }

    /// Validations with their messages: their cost, and whether auditAnnotations are evaluated after them.
    fn validations(&self, results: &mut Unfinished<'_>) -> Result<(u64, bool), Unanswered> {
        let validations = &self.case.program.validations;
        if validations.is_empty() {
            return Ok((0, true));
        }
        let mut section = self.section(Scope::Validations, BUDGET);
        let mut values = Vec::with_capacity_in(validations.len(), self.ctx.arena);
        for validation in validations {
            match section.evaluate(&validation.expression) {
                Ok(value) => values.push(value),
                Err(Stop::Unanswered) => return Err(Unanswered),
                Err(Stop::Budget) => {
                    self.out_of_budget(results, values.len());
                    return Ok((section.spent(), planted(Mutant::AnnotationsAfterBudget)));
                }
            }
        }
        let mut cost = section.spent();
        let mut messages = Messages::None;
        if self.case.program.has_messages {
            let budget = if planted(Mutant::MessagesHaveOwnBudget) { BUDGET } else { section.remaining() };
            let mut section = self.section(Scope::Messages, budget);
            messages = self.messages(&mut section)?;
            cost += section.spent();
        }
        for (index, (validation, value)) in validations.iter().zip(values).enumerate() {
            self.decide(results, index, validation, value, &messages);
        }
        Ok((cost, true))
    }

    /// Evaluates all messageExpressions, also of validations that hold: their cost counts.
    fn messages(&self, section: &mut Section<'_, 'a>) -> Result<Messages<'a>, Unanswered> {
        let mut messages = Vec::with_capacity_in(self.case.program.validations.len(), self.ctx.arena);
        for validation in &self.case.program.validations {
            let expression: Option<&'a Expression> = validation.message_expression.as_deref();
            messages.push(match expression.map(|expression| section.evaluate(expression)) {
                Some(Err(Stop::Unanswered)) => return Err(Unanswered),
                Some(Err(Stop::Budget)) => return Ok(Messages::OutOfBudget),
                Some(Ok(Evaluated::Value(Value::String(message)))) => message,
                // Errors are only logged upstream.
                Some(Ok(_)) | None => "",
            });
        }
        Ok(Messages::Some(messages))
    }

    fn decide(
        &self,
        results: &mut Unfinished<'_>,
        index: usize,
        validation: &Validation,
        value: Evaluated<'a>,
        messages: &Messages<'a>,
    ) {
        let (number, arena) = (index as u32, self.ctx.arena);
        match value {
            Evaluated::Error(error) => results.decision(number, self.case.on_error, Evaluation::Error, "", error),
            Evaluated::Value(_) if matches!(messages, Messages::OutOfBudget) => {
                let message = bumpalo::format!(in arena, "failed messageExpression: {}", OUT_OF_BUDGET);
                results.decision(number, self.case.on_error, Evaluation::Error, "", &message);
            }
            Evaluated::Value(Value::Bool(true)) => {}
            Evaluated::Value(_) => {
                let reason = validation.reason.as_deref().unwrap_or(default_reason());
                let message = usable(messages.get(index));
                let own_first = planted(Mutant::StaticMessageFirst) && !validation.message.is_empty();
                let message = if message.is_empty() || own_first { trimmed(&validation.message) } else { message };
                let action = if planted(Mutant::IgnoreAdmitsDenials) { self.case.on_error } else { Action::Deny };
                if message.is_empty() {
                    let message =
                        bumpalo::format!(in arena, "failed expression: {}", validation.expression.text.trim());
                    results.decision(number, action, Evaluation::Deny, reason, &message);
                } else {
                    results.decision(number, action, Evaluation::Deny, reason, message);
                }
            }
        }
    }

    /// Audit annotations: a fresh budget, the namespace as it is, no authorizer. The result is their cost.
    fn annotations(&self, results: &mut Unfinished<'_>) -> Result<u64, Unanswered> {
        if self.case.program.annotations.is_empty() {
            return Ok(0);
        }
        let budget = if planted(Mutant::AnnotationsHaveNoBudget) { u64::MAX } else { BUDGET };
        let mut section = self.section(Scope::Annotations, budget);
        match audit::evaluate(&mut section, &self.case.program.annotations, self.case.on_error, results) {
            Ok(()) => {}
            Err(Stop::Unanswered) => return Err(Unanswered),
            Err(Stop::Budget) => self.out_of_budget(results, self.case.program.annotations.len()),
        }
        Ok(section.spent())
    }

    /// One error stands for everything; `index` is where the budget ended.
    fn out_of_budget(&self, results: &mut Unfinished<'_>, index: usize) {
        if !planted(Mutant::BudgetKeepsAnnotations) {
            results.retract();
        }
        let index = if planted(Mutant::BudgetHasIndex) { index as u32 } else { 0 };
        results.decision(index, self.case.on_error, Evaluation::Error, "", OUT_OF_BUDGET);
    }
}

fn conditions_budget() -> u64 {
    if planted(Mutant::ConditionsHaveGreatBudget) { BUDGET } else { matchconditions::BUDGET }
}

fn default_reason() -> &'static str {
    if planted(Mutant::ReasonIsForbidden) { "Forbidden" } else { DEFAULT_REASON }
}

fn trimmed(message: &str) -> &str {
    if planted(Mutant::MessagesKeepSpace) { message } else { message.trim() }
}

/// A messageExpression's result as a message; empty if it is none.
fn usable(message: &str) -> &str {
    match trimmed(message) {
        long if long.len() > MAX_MESSAGE && !planted(Mutant::LongMessagesStay) => "",
        lines if lines.contains('\n') && !planted(Mutant::MessagesKeepLines) => "",
        message => message,
    }
}
