//! Webhooks: which of them are called for a request. Upstream's `ShouldCallHook` of `webhook/generic`, in the loop of
//! `webhook/validating`'s dispatcher.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::api::read;
use crate::compile::Program;
use crate::constraints::{Constraints, Match, Matches, PlannedConstraints, Verdict};
use crate::evaluate::{PANICKED, Pause, Walk, discard};
use crate::matchconditions::Outcome;
use crate::mutants::{Mutant, planted};
use crate::report::{Action, Conditions, Evaluation, Report, Subject};
use crate::request::Unanswered;
use crate::rules::Key;
use crate::settled::Settled;
use crate::validate::{self, Case};

/// An entry of a ValidatingWebhookConfiguration, as far as it decides whether the webhook is called. Immutable; any thread.
#[derive(Debug)]
pub struct Webhook {
    /// `None` if it never matches.
    constraints: Option<Constraints>,
    /// Its match conditions; `None` if it has none.
    program: Option<Program>,
    on_error: Action,
}

impl Webhook {
    /// Compiles a webhook from the JSON of a v1 ValidatingWebhook with the API's defaults. Selectors and conditions that do not compile are
    /// inside, as errors; the error of this function is about the JSON.
    pub fn from_json(json: &[u8]) -> Result<Webhook, String> {
        let webhook = read::webhook(json)?;
        let conditions = &webhook.match_conditions;
        Ok(Webhook {
            constraints: Constraints::of_webhook(&webhook),
            program: (!conditions.is_empty()).then(|| Program::of_webhook(conditions)),
            on_error: Action::of_errors(webhook.failure_policy),
        })
    }
}

/// A webhook that can match.
#[derive(Debug)]
pub(crate) struct PlannedWebhook {
    /// Index in the engine.
    index: u32,
    webhook: Arc<Webhook>,
    pub(crate) constraints: PlannedConstraints,
    settled: Settled,
}

impl PlannedWebhook {
    /// `None` when no request of this kind can match.
    pub(crate) fn new(index: u32, webhook: &Arc<Webhook>, key: &Key, matches: &mut Matches) -> Option<PlannedWebhook> {
        let constraints = PlannedConstraints::new(webhook.constraints.as_ref()?, key, Some(matches))?;
        let settled = webhook.program.as_ref().map(|program| Settled::new(&program.conditions)).unwrap_or_default();
        Some(PlannedWebhook { index, webhook: Arc::clone(webhook), constraints, settled })
    }

    /// What is evaluated if it matches.
    pub(crate) fn program(&self) -> Option<&Program> {
        self.webhook.program.as_ref()
    }
}

impl<'a> Walk<'_, 'a> {
    /// One webhook. An error about it ends everything, as requests are refused then.
    pub(crate) fn webhook(&mut self, hook: &'a PlannedWebhook) -> Result<(), Pause> {
        let subject = Subject { hook: hook.index, binding: None };
        let number = match hook.constraints.verdict(self.request)? {
            Verdict::No => return Ok(()),
            Verdict::Match(number) => number,
            Verdict::Error(_) if planted(Mutant::WebhookErrorsPass) => return Ok(()),
            Verdict::NamespaceError(_) if planted(Mutant::WebhookNamespaceErrorsPass) => return Ok(()),
            Verdict::Error(error) => {
                Report(self.report).configuration(subject, "", error);
                return Err(Pause::End);
            }
            Verdict::NamespaceError(_) => {
                Report(self.report).namespace_failed(subject);
                return Err(Pause::End);
            }
        };
        let Some(matched) = self.plan.matches.get(number as usize) else { return Ok(()) };
        let number = if planted(Mutant::WebhooksShareAMatch) { 0 } else { number };
        let program = hook.webhook.program.as_ref().filter(|_| !planted(Mutant::WebhooksIgnoreConditions));
        let Some(program) = program else {
            Report(self.report).call(subject, number);
            return Ok(());
        };
        if self.request.objects(matched.version).is_err() {
            Report(self.report).not_converted(subject, number);
            return Err(Pause::End);
        }
        let outcome = self.conditions(program, &hook.settled, matched)?;
        let on_error = match hook.webhook.on_error {
            Action::Admit if planted(Mutant::WebhooksFailUnderIgnore) => Action::Deny,
            Action::Deny if planted(Mutant::WebhooksAreIgnoredUnderFail) => Action::Admit,
            on_error => on_error,
        };
        let mut report = Report(self.report);
        match (outcome, on_error) {
            (Outcome::Match, _) => report.call(subject, number),
            (Outcome::Excluded { errors }, _) => report.conditions(subject, Conditions::Excluded, errors),
            (Outcome::Failed { errors, .. }, Action::Admit) => report.conditions(subject, Conditions::Ignored, errors),
            (Outcome::Failed { errors, message }, Action::Deny) => {
                report.conditions(subject, Conditions::Failed, errors);
                report.decision(subject, 0, Action::Deny, Evaluation::Error, "", message);
                return Err(Pause::End);
            }
        }
        Ok(())
    }

    /// Evaluates match conditions. A panic becomes an error.
    fn conditions(
        &mut self,
        program: &'a Program,
        settled: &'a Settled,
        matched: &'a Match,
    ) -> Result<Outcome<'a>, Unanswered> {
        *self.evaluations += 1;
        let matched = self.matched(matched)?;
        let case = Case { program, on_error: Action::Deny, settled, matched, param: None };
        match catch_unwind(AssertUnwindSafe(|| validate::conditions(&self.ctx, &case))) {
            Ok(evaluated) => {
                let (outcome, cost) = evaluated?;
                // Even an evaluation without cost takes a step.
                *self.cost = self.cost.saturating_add(cost).saturating_add(1);
                Ok(outcome)
            }
            Err(payload) => {
                discard(payload);
                Ok(Outcome::Failed { errors: 0, message: PANICKED })
            }
        }
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Webhook>();
};
