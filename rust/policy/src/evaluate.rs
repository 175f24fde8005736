//! The decision about one request: upstream's `validating.dispatcher.Dispatch`, over a plan, in its order of events. What differs for
//! webhooks is in [`crate::webhook`].

use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bumpalo::Bump;
use celgate_cel::context::{EvalContext, used};
use celgate_cel::record::Record;

use crate::InvalidRequest;
use crate::collect::Source;
use crate::constraints::{Match, Verdict};
use crate::counts::Counter;
use crate::inputs::Matched;
use crate::mutants::{Mutant, planted};
use crate::params::{Param, ParamSet};
use crate::plan::{Hooks, Plan, PlannedBinding, PlannedHook};
use crate::report::{Evaluation, Report, Subject};
use crate::request::{RequestView, Unanswered};
use crate::results::Results;
use crate::scratch::{Output, Progress, Scratch, renew};
use crate::validate::{self, Case};

/// Cost after which a call yields, so that its caller can look whether the request is cancelled.
const STEP_BUDGET: u64 = 2_000_000;

/// Bytes of the arena after which the next policy begins with an empty one, so that what is in use stays in the processor's caches.
const NEAR_BYTES: usize = 32 << 10;

/// Bytes that evaluations for one binding may take before the arena is emptied; its params are then chosen again.
const FAR_BYTES: usize = 4 << 20;

/// The message of an evaluation that panicked: a bug in the core.
pub(crate) const PANICKED: &str = "internal error: evaluation panicked";

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Decided; the output is the report.
    Done,
    /// The output is questions; call again with answers.
    NeedsInput,
    /// The step budget is used up; call again.
    Yield,
}

/// Why the walk over the plan stops before its end.
pub(crate) enum Pause {
    Unanswered,
    Yield,
    /// An error has ended the dispatch.
    End,
    /// The arena is to be emptied.
    Full,
}

impl From<Unanswered> for Pause {
    fn from(_: Unanswered) -> Pause {
        Pause::Unanswered
    }
}

impl Plan {
    /// Decides a request, or goes on deciding it. `request` is its record, the same bytes in every call until [`Scratch::reset`];
    /// `params` are the current param sets by number, `None` for one that has not synced; `answers` are empty in the first call,
    /// unless they tell that the request's context has ended already.
    ///
    /// The error says what is malformed; the request is then over.
    pub fn evaluate(
        &self,
        scratch: &mut Scratch,
        request: &[u8],
        params: &[Option<&ParamSet>],
        answers: &[u8],
    ) -> Result<Outcome, InvalidRequest> {
        if scratch.output == Output::Report {
            scratch.reset();
        }
        scratch.output = Output::Nothing;
        scratch.evaluations = 0;
        scratch.answers.take(scratch.pending.get_mut(), answers)?;
        let record =
            Record::parse(request).map_err(|error| InvalidRequest::new(format!("request record: {error:?}")))?;
        scratch.kept.memo.begin();
        let mut cost = 0;
        loop {
            let paused = self.walk(scratch, &record, params, &mut cost)?;
            return Ok(match paused {
                Ok(()) | Err(Pause::End) => {
                    scratch.output = Output::Report;
                    Outcome::Done
                }
                Err(Pause::Unanswered) => {
                    scratch.pin(params);
                    scratch.pending.get_mut().write(&mut scratch.questions);
                    scratch.output = Output::Questions;
                    Outcome::NeedsInput
                }
                Err(Pause::Yield) => {
                    scratch.pin(params);
                    Outcome::Yield
                }
                Err(Pause::Full) => continue,
            });
        }
    }

    /// Goes on with the request until it is decided or something stops it.
    fn walk<'a>(
        &'a self,
        scratch: &'a mut Scratch,
        record: &'a Record<'a>,
        params: &'a [Option<&'a ParamSet>],
        cost: &'a mut u64,
    ) -> Result<Result<(), Pause>, InvalidRequest> {
        renew(&mut scratch.arena);
        let arena = &scratch.arena;
        let request = arena.alloc(RequestView::new(arena, record, &scratch.answers, &scratch.pending)?);
        let request: &RequestView<'_> = request;
        let walk = Walk {
            plan: self,
            arena,
            request,
            matched: arena.alloc_slice_fill_with(self.matches.len(), |_| OnceCell::new()),
            params,
            pinned: &scratch.pinned,
            progress: &mut scratch.progress,
            results: &mut scratch.results,
            report: &mut scratch.report,
            evaluations: &mut scratch.evaluations,
            counter: &scratch.counter,
            ctx: validate::context(arena, &scratch.kept, request),
            cost,
        };
        Ok(walk.run())
    }
}

impl Scratch {
    /// Keeps the params of this call for the next ones.
    fn pin(&mut self, params: &[Option<&ParamSet>]) {
        self.pinned.resize(params.len().max(self.pinned.len()), None);
        for (pinned, current) in self.pinned.iter_mut().zip(params) {
            if pinned.is_none() {
                *pinned = current.cloned();
            }
        }
    }
}

/// A walk over the plan, in one arena.
pub(crate) struct Walk<'s, 'a> {
    pub(crate) plan: &'a Plan,
    arena: &'a Bump,
    pub(crate) request: &'a RequestView<'a>,
    /// The request under each match of the plan.
    matched: &'a [OnceCell<Matched<'a>>],
    params: &'a [Option<&'a ParamSet>],
    pinned: &'a [Option<ParamSet>],
    progress: &'s mut Progress,
    results: &'s mut Results,
    pub(crate) report: &'s mut Vec<u8>,
    pub(crate) evaluations: &'s mut u64,
    counter: &'s Counter,
    pub(crate) ctx: EvalContext<'a>,
    /// Of this call.
    pub(crate) cost: &'s mut u64,
}

impl<'a> Walk<'_, 'a> {
    fn run(self) -> Result<(), Pause> {
        match &self.plan.hooks {
            Hooks::Policies(hooks) => self.each(hooks, Walk::hook),
            Hooks::Webhooks(hooks) => self.each(hooks, Walk::webhook),
        }
    }

    #[inline]
    fn each<H>(mut self, hooks: &'a [H], decide: impl Fn(&mut Self, &'a H) -> Result<(), Pause>) -> Result<(), Pause> {
        while let Some(hook) = hooks.get(self.progress.hook) {
            decide(&mut self, hook)?;
            self.results.clear();
            *self.progress = Progress { hook: self.progress.hook + 1, ..Progress::default() };
            if *self.cost >= STEP_BUDGET {
                return Err(Pause::Yield);
            }
            if used(self.arena) > NEAR_BYTES {
                return Err(Pause::Full);
            }
        }
        Ok(())
    }

    /// One policy. What happened before a pause is repeated only as far as it costs nothing.
    fn hook(&mut self, hook: &'a PlannedHook) -> Result<(), Pause> {
        let verdict = match &hook.constraints {
            Some(constraints) => constraints.verdict(self.request)?,
            None => Verdict::Error("policy contained no match constraints, a required field"),
        };
        let matched = match (verdict, hook.error.as_deref()) {
            (Verdict::No, _) => return Ok(()),
            (Verdict::Match(index), None) => index,
            (Verdict::Error(error) | Verdict::NamespaceError(error), _) | (Verdict::Match(_), Some(error)) => {
                self.policy_error(hook, error);
                return Ok(());
            }
        };
        let Some(matched) = self.plan.matches.get(matched as usize) else { return Ok(()) };
        let mut position = self.progress.binding.unwrap_or(0);
        while let Some(binding) = hook.bindings.get(position) {
            self.progress.binding = Some(position);
            let last = self.binding(hook, matched, binding)?;
            if last.is_some_and(Results::says_nothing) && self.alike(hook) {
                break;
            }
            self.progress.param = 0;
            position += 1;
        }
        Ok(())
    }

    /// Whether the other bindings of a policy cannot add anything if its evaluation says nothing.
    fn alike(&self, hook: &PlannedHook) -> bool {
        hook.alike && (!hook.bindings_read_namespace || self.request.has_namespace_labels())
    }

    /// One binding of a policy that matches. The result is the last evaluation that it took part in.
    fn binding(
        &mut self,
        hook: &'a PlannedHook,
        matched: &'a Match,
        binding: &'a PlannedBinding,
    ) -> Result<Option<u32>, Pause> {
        let subject = Subject { hook: hook.index, binding: Some(binding.index) };
        if let Some(constraints) = &binding.constraints {
            match constraints.verdict(self.request)? {
                Verdict::No => return Ok(None),
                Verdict::Match(_) => {}
                Verdict::Error(error) | Verdict::NamespaceError(error) => {
                    return Ok(self.binding_error(hook, subject, error));
                }
            }
        }
        let source = Source {
            arena: self.arena,
            request: self.request,
            set: hook.params.and_then(|number| self.param_set(number)),
        };
        let params = match source.collect(hook, binding.binding.param_ref())? {
            Ok(params) => params,
            Err(error) => return Ok(self.binding_error(hook, subject, error)),
        };
        if !params.is_empty()
            && !planted(Mutant::ConversionErrorsIgnored)
            && let Err(error) = self.request.objects(matched.version)
        {
            return Ok(self.binding_error(hook, subject, error));
        }
        if self.plan.has_namespace_object()
            && self.request.namespace_object()?.is_err()
            && !planted(Mutant::NamespaceErrorIsIgnored)
        {
            Report(self.report).namespace_failed(subject);
            return Err(Pause::End);
        }
        let before = used(self.arena);
        let mut last = None;
        while let Some(&param) = params.get(self.progress.param) {
            let entry = match self.results.get(param) {
                Some(entry) => entry,
                None => self.evaluate(hook, matched, param)?,
            };
            if used(self.arena).saturating_sub(before) > FAR_BYTES {
                // The evaluation is kept, and found when the walk comes here again.
                return Err(Pause::Full);
            }
            self.results.write(entry, subject, &mut Report(self.report));
            self.progress.param += 1;
            if *self.cost >= STEP_BUDGET {
                return Err(Pause::Yield);
            }
            last = Some(entry);
        }
        Ok(last)
    }

    /// The current set of this number: the one of the first call that had it.
    fn param_set(&self, number: u32) -> Option<&'a ParamSet> {
        let pinned = self.pinned.get(number as usize).and_then(Option::as_ref);
        pinned.or_else(|| self.params.get(number as usize).copied().flatten())
    }

    fn policy_error(&mut self, hook: &PlannedHook, error: &str) {
        let subject = Subject { hook: hook.index, binding: None };
        self.configuration_error(hook, subject, "failed to configure policy: ", error);
    }

    fn binding_error(&mut self, hook: &PlannedHook, subject: Subject, error: &str) -> Option<u32> {
        const PREFIX: &str = "failed to configure binding: ";
        const OTHER: &str = "failed to configure policy: ";
        let prefix = if planted(Mutant::BindingErrorIsPolicys) { OTHER } else { PREFIX };
        self.configuration_error(hook, subject, prefix, error);
        None
    }

    fn configuration_error(&mut self, hook: &PlannedHook, subject: Subject, prefix: &str, error: &str) {
        if !hook.policy.ignores_errors() || planted(Mutant::IgnoreTellsConfiguration) {
            Report(self.report).configuration(subject, prefix, error);
        }
    }

    /// The request under a match, for all policies or webhooks that match it so.
    pub(crate) fn matched(&self, matched: &'a Match) -> Result<&'a Matched<'a>, Unanswered> {
        let known = self.matched.get(matched.number as usize);
        if let Some(known) = known.and_then(OnceCell::get) {
            return Ok(known);
        }
        let made = Matched::new(self.arena, self.plan, self.request, matched)?;
        Ok(match known {
            Some(cell) => cell.get_or_init(|| made),
            None => self.arena.alloc(made),
        })
    }

    /// Evaluates a policy with a param, for all bindings that share it. A panic becomes an error of that evaluation.
    fn evaluate(
        &mut self,
        hook: &'a PlannedHook,
        matched: &'a Match,
        param: Option<&'a Param>,
    ) -> Result<u32, Unanswered> {
        let policy = &*hook.policy;
        *self.evaluations += 1;
        self.counter.add(policy.counted());
        let on_error = policy.on_error();
        let matched = self.matched(matched)?;
        let case = Case { program: policy.program(), on_error, settled: &hook.settled, matched, param };
        let mut unfinished = self.results.begin();
        let evaluated = catch_unwind(AssertUnwindSafe(|| {
            policy.inject_fault();
            validate::evaluate(&self.ctx, &case, &mut unfinished)
        }));
        match evaluated {
            Ok(Ok(cost)) => {
                // Even an evaluation without cost takes a step.
                *self.cost = self.cost.saturating_add(cost).saturating_add(1);
                Ok(unfinished.finish(param))
            }
            Ok(Err(unanswered)) => Err(unanswered),
            Err(payload) => {
                discard(payload);
                unfinished.restart();
                unfinished.decision(0, on_error, Evaluation::Error, "", PANICKED);
                Ok(unfinished.finish(param))
            }
        }
    }
}

/// Drops a panic's payload, whose own `drop` may panic: that second payload is leaked.
pub(crate) fn discard(payload: Box<dyn std::any::Any + Send>) {
    if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
}
