//! One policy with one param: upstream's `validator.Validate`.

use bumpalo::Bump;
use bumpalo::collections::Vec;
use celgate_cel::context::EvalContext;
use celgate_cel::regex::Patterns;
use celgate_cel::value::Value;
use celgate_k8s::authz::{RequestResource, authorizer_value, request_resource_value};

use crate::activation::{self, Evaluated, Inputs, OUT_OF_BUDGET, Scope, Section, Stop};
use crate::audit;
use crate::authorize::Authorizer;
use crate::compile::{COST_LIMIT, Expression, Program, Validation};
use crate::constraints::Match;
use crate::matchconditions;
use crate::mutants::{Mutant, planted};
use crate::params::Param;
use crate::policy::Policy;
use crate::reads::Reads;
use crate::report::{Action, Conditions, Evaluation};
use crate::request::{RequestView, Unanswered};
use crate::results::Unfinished;
use crate::rules::{Key, Kind};

/// Cost that validations and messages of a policy may have together, and auditAnnotations again.
const BUDGET: u64 = 10_000_000;

/// The longest message that a messageExpression may give, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;

/// The reason of a denial that names none.
const DEFAULT_REASON: &str = "Invalid";

/// What an evaluation is about.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) key: &'a Key,
    pub(crate) matched: &'a Match,
    pub(crate) request: RequestView<'a>,
    pub(crate) param: Option<&'a Param>,
    /// object and oldObject in the matched version.
    pub(crate) objects: (Value<'a>, Value<'a>),
    /// The full Namespace, or null.
    pub(crate) namespace: Value<'a>,
    pub(crate) patterns: &'a Patterns,
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
    case: &'p Case<'a>,
    ctx: &'p EvalContext<'a>,
    program: &'a Program,
    inputs: Inputs<'a>,
    /// The request under the policy's match.
    request: Value<'a>,
    on_error: Action,
}

/// Evaluates a policy and adds what it decides. The result is the cost of all.
pub(crate) fn evaluate<'a>(arena: &'a Bump, case: &Case<'a>, results: &mut Unfinished<'_>) -> Result<u64, Unanswered> {
    case.policy.inject_fault();
    let host: &'a Authorizer<'a> =
        arena.alloc(Authorizer { answers: case.request.answers, pending: case.request.pending });
    let ctx = EvalContext::new(arena, host, COST_LIMIT).keeping(case.patterns);
    let program = case.policy.program();
    let mut evaluator = Evaluator {
        inputs: inputs(&ctx, case),
        request: activation::request(
            arena,
            case.request.attributes(),
            &case.matched.resource,
            request_kind(case),
            program.reads,
        ),
        on_error: if case.policy.ignores_errors() { Action::Admit } else { Action::Deny },
        case,
        ctx: &ctx,
        program,
    };
    evaluator.conditions(results)
}

/// The kind that the request says it is of.
fn request_kind<'a>(case: &Case<'a>) -> &'a Kind {
    if planted(Mutant::RequestKeepsKind) { &case.key.kind } else { &case.matched.kind }
}

fn inputs<'a>(ctx: &EvalContext<'a>, case: &Case<'a>) -> Inputs<'a> {
    let (object, old_object) = case.objects;
    let params = match case.param {
        None => Value::Null,
        Some(param) => {
            let record = ctx.arena.alloc(param.record());
            let record: &'a celgate_cel::record::Record<'a> = record;
            record.root(0).unwrap_or(Value::Null)
        }
    };
    let (mut authorizer, mut request_resource) = (Value::Null, Value::Null);
    if case.policy.reads().intersects(Reads::AUTHORIZER) {
        let Key { resource, subresource, .. } = case.key;
        authorizer = authorizer_value(ctx);
        request_resource = request_resource_value(
            ctx,
            &RequestResource {
                group: &resource.group,
                resource: &resource.resource,
                subresource,
                namespace: case.request.namespace(),
                name: case.request.name(),
            },
        );
    }
    Inputs { object, old_object, params, authorizer, request_resource }
}

impl<'a> Evaluator<'_, 'a> {
    fn section(&self, scope: &Scope<'a>, budget: u64) -> Section<'_, 'a> {
        Section::new(self.ctx, self.program, &self.inputs, scope, budget)
    }

    /// Match conditions, and all that follows if they hold.
    fn conditions(&mut self, results: &mut Unfinished<'_>) -> Result<u64, Unanswered> {
        let mut cost = 0;
        if !self.program.conditions.is_empty() {
            let mut section = self.section(&self.conditions_scope(), conditions_budget());
            let outcome = matchconditions::evaluate(&mut section, &self.program.conditions)?;
            cost += section.spent();
            match (outcome, self.on_error) {
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

    /// What match conditions see: the requested resource under the matched kind, and no namespace.
    fn conditions_scope(&self) -> Scope<'a> {
        let Case { matched, request, key, .. } = *self.case;
        let resource = if planted(Mutant::ConditionsSeeMatchedResource) { &matched.resource } else { &key.resource };
        let request = activation::request(
            self.ctx.arena,
            request.attributes(),
            resource,
            request_kind(self.case),
            self.program.reads,
        );
        let namespace = if planted(Mutant::ConditionsSeeNamespace) { self.case.namespace } else { Value::Null };
        Scope { request, namespace, authorizer: true }
    }

    /// Validations with their messages: their cost, and whether auditAnnotations are evaluated after them.
    fn validations(&self, results: &mut Unfinished<'_>) -> Result<(u64, bool), Unanswered> {
        let validations = &self.program.validations;
        if validations.is_empty() {
            return Ok((0, true));
        }
        let namespace = activation::namespace(self.ctx.arena, self.case.namespace, self.program.reads);
        let scope = Scope { request: self.request, namespace, authorizer: true };
        let mut section = self.section(&scope, BUDGET);
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
        if self.program.has_messages {
            let budget = if planted(Mutant::MessagesHaveOwnBudget) { BUDGET } else { section.remaining() };
            let authorizer = planted(Mutant::MessagesSeeAuthorizer);
            let mut section = self.section(&Scope { authorizer, ..scope }, budget);
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
        let mut messages = Vec::with_capacity_in(self.program.validations.len(), self.ctx.arena);
        for validation in &self.program.validations {
            let expression: Option<&'a Expression> = validation.message_expression.as_ref();
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
            Evaluated::Error(error) => results.decision(number, self.on_error, Evaluation::Error, "", error),
            Evaluated::Value(_) if matches!(messages, Messages::OutOfBudget) => {
                let message = bumpalo::format!(in arena, "failed messageExpression: {}", OUT_OF_BUDGET);
                results.decision(number, self.on_error, Evaluation::Error, "", &message);
            }
            Evaluated::Value(Value::Bool(true)) => {}
            Evaluated::Value(_) => {
                let reason = validation.reason.as_deref().unwrap_or(default_reason());
                let message = usable(messages.get(index));
                let own_first = planted(Mutant::StaticMessageFirst) && !validation.message.is_empty();
                let message = if message.is_empty() || own_first { trimmed(&validation.message) } else { message };
                let action = if planted(Mutant::IgnoreAdmitsDenials) { self.on_error } else { Action::Deny };
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
        if self.program.annotations.is_empty() {
            return Ok(0);
        }
        let authorizer = planted(Mutant::AnnotationsSeeAuthorizer);
        let scope = Scope { request: self.request, namespace: self.case.namespace, authorizer };
        let budget = if planted(Mutant::AnnotationsHaveNoBudget) { u64::MAX } else { BUDGET };
        let mut section = self.section(&scope, budget);
        match audit::evaluate(&mut section, &self.program.annotations, self.on_error, results) {
            Ok(()) => {}
            Err(Stop::Unanswered) => return Err(Unanswered),
            Err(Stop::Budget) => self.out_of_budget(results, self.program.annotations.len()),
        }
        Ok(section.spent())
    }

    /// One error stands for everything; `index` is where the budget ended.
    fn out_of_budget(&self, results: &mut Unfinished<'_>, index: usize) {
        if !planted(Mutant::BudgetKeepsAnnotations) {
            results.retract();
        }
        let index = if planted(Mutant::BudgetHasIndex) { index as u32 } else { 0 };
        results.decision(index, self.on_error, Evaluation::Error, "", OUT_OF_BUDGET);
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
