//! What an evaluation carries along: arena, cost, and the host's answers.

use std::cell::{Cell, OnceCell};
use std::fmt::Write as _;

use bumpalo::Bump;

use crate::memo::{Memo, MemoOf};
use crate::record::Record;
use crate::regex::{Patterns, Regex};
use crate::value::{EvalError, Value};

/// Why an evaluation stopped in a way that no operator absorbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The expression's cost passed its limit.
    CostLimit,
    /// The host has no answer yet; the question is with the host.
    NeedsInput,
    /// Upstream's Go code would have panicked here; the text is what Go's recover would print (`internal error: ...`).
    Panic(&'static str),
}

/// Answers what evaluation cannot compute. Implemented by the caller of the engine.
pub trait Host<'a> {
    /// Answers `question` (its meaning is the asking library's), or returns `None` when the answer must be fetched first.
    /// The same question always gets the same answer within one evaluation.
    fn ask(&self, ctx: &EvalContext<'a>, question: &Question<'a>) -> Option<Value<'a>>;
}

/// A question to the host: which library asks, and the parts of the question.
pub struct Question<'a> {
    /// The asking library's name for this kind of question, such as `authorize`.
    pub kind: &'static str,
    /// The question's parts, as that library defines them.
    pub parts: &'a [Value<'a>],
}

/// A host that never has an answer.
pub struct NoHost;

impl<'a> Host<'a> for NoHost {
    fn ask(&self, _: &EvalContext<'a>, _: &Question<'a>) -> Option<Value<'a>> {
        None
    }
}

/// The state of one evaluation. Interior mutability, since values and functions share it.
pub struct EvalContext<'a> {
    /// Where results and intermediate values live.
    pub arena: &'a Bump,
    /// Answers questions.
    pub host: &'a dyn Host<'a>,
    cost: Cell<u64>,
    cost_limit: Cell<u64>,
    halt: Cell<Option<Halt>>,
    /// The constant pattern of the call being evaluated.
    pub(crate) prepared: Cell<Option<&'a Regex>>,
    /// Patterns computed by expressions of this evaluation, unless they are kept for longer.
    patterns: OnceCell<Patterns>,
    kept_patterns: Option<&'a Patterns>,
    /// Paths that have been followed in the record of the request.
    pub(crate) memo: Option<MemoOf<'a>>,
    /// Rounds of comprehensions so far.
    rounds: Cell<u64>,
    /// Why nobody waits for the result any more, if that is so.
    ended: Option<&'a str>,
    /// Rounds of this program that were completed since then, and whether it is interrupted.
    interrupt: Cell<(u64, bool)>,
    /// Bytes of the arena that were in use when the context was made or renewed.
    memory_before: Cell<usize>,
    /// Steps of uncharged work that are left.
    steps: Cell<u64>,
}

/// Bytes that one context's evaluations may take of the arena. cel-go has no such limit: what Kubernetes does not charge for
/// (results of `replace` and `format`, error texts) fills its memory.
pub const MEMORY_LIMIT: usize = 128 << 20;

/// Steps that one context's evaluations may take where cost does not bound them: comparing, formatting or walking lists that
/// share their parts can go on for ever, and does in cel-go.
pub const STEP_LIMIT: u64 = 1 << 26;

/// Rounds of comprehensions after which a program looks whether its context has ended (apiserver `pkg/apis/cel/config.go`).
const INTERRUPT_CHECK_FREQUENCY: u64 = 100;

/// The error of a comprehension that is interrupted (cel-go `interpreter.InterruptError`).
const INTERRUPTED: &str = "operation interrupted";

/// Error texts end after this many bytes: a value that shares its parts can have a text beyond all memory.
const MAX_ERROR_BYTES: usize = 16 << 20;

impl<'a> EvalContext<'a> {
    /// A context with no cost so far and the given limit per expression.
    pub fn new(arena: &'a Bump, host: &'a dyn Host<'a>, cost_limit: u64) -> Self {
        EvalContext {
            arena,
            host,
            cost: Cell::new(0),
            cost_limit: Cell::new(cost_limit),
            halt: Cell::new(None),
            prepared: Cell::new(None),
            patterns: OnceCell::new(),
            kept_patterns: None,
            memo: None,
            rounds: Cell::new(0),
            ended: None,
            interrupt: Cell::new((0, false)),
            memory_before: Cell::new(used(arena)),
            steps: Cell::new(STEP_LIMIT),
        }
    }

    /// Makes the context as good as new: for expressions that share nothing with those so far.
    pub fn renew(&self) {
        self.cost.set(0);
        self.halt.set(None);
        self.prepared.set(None);
        self.rounds.set(0);
        self.memory_before.set(used(self.arena));
        self.steps.set(STEP_LIMIT);
    }

    /// If `bytes` more of the arena would pass [`MEMORY_LIMIT`]: halts, so that they are not taken. The limit is that of all
    /// expressions that share the context.
    #[inline]
    pub fn no_room(&self, bytes: usize) -> Option<Value<'a>> {
        let taken = used(self.arena).saturating_sub(self.memory_before.get());
        if taken.saturating_add(bytes) <= MEMORY_LIMIT {
            return None;
        }
        Some(self.set_halt(Halt::CostLimit))
    }

    /// The result of a call: the value, unless the call has halted the evaluation or taken more memory than there is.
    #[inline]
    pub(crate) fn checked(&self, value: Value<'a>) -> Value<'a> {
        match self.halt.get() {
            None => self.no_room(0).unwrap_or(value),
            Some(_) => Value::Halt,
        }
    }

    /// Takes steps of work that is not charged; false (and a halt) when [`STEP_LIMIT`] is passed. As with memory, the limit is
    /// that of all expressions that share the context.
    #[inline]
    pub fn step(&self, steps: u64) -> bool {
        match self.steps.get().checked_sub(steps) {
            Some(left) => {
                self.steps.set(left);
                true
            }
            None => {
                self.steps.set(0);
                self.set_halt(Halt::CostLimit);
                false
            }
        }
    }

    /// Keeps patterns that expressions compute there, so that later evaluations need not compile them again.
    #[must_use]
    pub fn keeping(mut self, patterns: &'a Patterns) -> Self {
        self.kept_patterns = Some(patterns);
        self
    }

    /// Remembers where paths lead in this record; [`Memo::begin`] has been called for it.
    #[must_use]
    pub fn remembering(mut self, memo: &'a Memo, record: &'a Record<'a>) -> Self {
        self.memo = Some(MemoOf { memo, record });
        self
    }

    pub(crate) fn patterns(&self) -> &Patterns {
        self.kept_patterns.unwrap_or_else(|| self.patterns.get_or_init(Patterns::default))
    }

    /// The cost counted so far in this expression (cel-go's `ActualCost`).
    pub fn cost(&self) -> u64 {
        self.cost.get()
    }

    /// Adds to the cost; false (and [`Halt::CostLimit`]) when the limit is passed. Reaching it exactly is allowed.
    #[inline]
    pub fn charge(&self, cost: u64) -> bool {
        let total = self.cost.get().saturating_add(cost);
        self.cost.set(total);
        if total > self.cost_limit.get() {
            return self.past_limit();
        }
        true
    }

    #[cold]
    fn past_limit(&self) -> bool {
        self.set_halt(Halt::CostLimit);
        false
    }

    /// If `cost` more would pass the limit: adds it and returns [`Value::Halt`], so that work can be left out whose result
    /// would come too late.
    pub fn unaffordable(&self, cost: u64) -> Option<Value<'a>> {
        if self.cost.get().saturating_add(cost) <= self.cost_limit.get() {
            return None;
        }
        self.charge(cost);
        Some(Value::Halt)
    }

    /// Charges so many steps of 1 each: as one charge, except that what passes the limit is the first step that does.
    #[inline]
    pub(crate) fn charge_units(&self, steps: u64) -> bool {
        let total = self.cost.get().saturating_add(steps);
        if total <= self.cost_limit.get() {
            self.cost.set(total);
            return true;
        }
        self.charge(self.cost_limit.get().saturating_sub(self.cost.get()).saturating_add(1))
    }

    /// Says that nobody waits for results any more, and why: comprehensions of programs that run [`Self::interruptible`] are interrupted.
    #[must_use]
    pub fn ended(mut self, cause: Option<&'a str>) -> Self {
        self.ended = cause;
        self
    }

    /// Runs a program as cel-go's `ContextEval` does: with rounds of its own to be interrupted after, and the cause in the error of one that
    /// is.
    pub fn interruptible(&self, program: impl FnOnce() -> Value<'a>) -> Value<'a> {
        let Some(cause) = self.ended else { return program() };
        let outer = self.interrupt.replace((0, false));
        let value = program();
        self.interrupt.set(outer);
        match value {
            Value::Error(EvalError { message: INTERRUPTED }) => self.errorf(format_args!("{INTERRUPTED}: {cause}")),
            value => value,
        }
    }

    /// The value of a comprehension that is interrupted: an error as others are, which operators absorb.
    pub(crate) fn interruption(&self) -> Value<'a> {
        self.error(INTERRUPTED)
    }

    /// Begins a round of a comprehension; false (and [`Halt::CostLimit`]) when memory is used up.
    #[inline]
    pub(crate) fn round(&self) -> bool {
        let rounds = self.rounds.get().wrapping_add(1);
        self.rounds.set(rounds);
        // What one round takes without a call or a literal is little.
        rounds & 63 != 0 || self.no_room(0).is_none()
    }

    /// Completes a round of a comprehension, and says whether all comprehensions around it are to end.
    #[inline]
    pub(crate) fn interrupted(&self) -> bool {
        self.ended.is_some() && self.looks_up()
    }

    /// cel-go's `CheckInterrupt`: it looks at the context after each so many rounds, and once it has ended it stays so.
    #[cold]
    fn looks_up(&self) -> bool {
        let (completed, interrupted) = self.interrupt.get();
        let completed = completed.wrapping_add(1);
        let interrupted = interrupted || completed % INTERRUPT_CHECK_FREQUENCY == 0;
        self.interrupt.set((completed, interrupted));
        interrupted
    }

    /// Takes back what a step was charged; below nothing it wraps around, as cel-go's counter does, and so passes the limit.
    pub(crate) fn uncharge(&self, cost: u64) -> bool {
        self.cost.set(self.cost.get().wrapping_sub(cost));
        self.charge(0)
    }

    /// Starts a nested evaluation (a lazily computed variable): cost from 0. Returns the outer cost for [`Self::leave`].
    pub fn enter(&self) -> u64 {
        self.cost.replace(0)
    }

    /// Ends a nested evaluation and restores the outer cost; returns the nested cost.
    pub fn leave(&self, outer: u64) -> u64 {
        self.cost.replace(outer)
    }

    /// Why evaluation stopped, if it did.
    pub fn halt(&self) -> Option<Halt> {
        self.halt.get()
    }

    /// Stops evaluation; the first reason stays. Returns [`Value::Halt`] for the caller to return.
    pub fn set_halt(&self, reason: Halt) -> Value<'a> {
        if self.halt.get().is_none() {
            self.halt.set(Some(reason));
        }
        Value::Halt
    }

    /// Forgets the halt, so that the next expression can run.
    pub fn clear_halt(&self) -> Option<Halt> {
        self.halt.take()
    }

    /// Go's panic on a map key of a type that has no hash.
    pub(crate) fn unhashable(&self, key: Value<'a>) -> Value<'a> {
        self.set_halt(Halt::Panic(key.unhashable().unwrap_or("internal error: unhashable key")))
    }

    /// An error value with a fixed text.
    pub fn error(&self, message: &'static str) -> Value<'a> {
        Value::Error(EvalError { message })
    }

    /// An error value whose text is a fixed part and another one.
    pub(crate) fn error_with(&self, prefix: &str, text: &str) -> Value<'a> {
        let mut message = bumpalo::collections::String::with_capacity_in(prefix.len() + text.len(), self.arena);
        message.push_str(prefix);
        message.push_str(text);
        Value::Error(EvalError { message: message.into_bump_str() })
    }

    /// An error value with a formatted text.
    pub fn errorf(&self, message: std::fmt::Arguments<'_>) -> Value<'a> {
        if let Some(halt) = self.no_room(0) {
            return halt;
        }
        let mut text = ErrorText(bumpalo::collections::String::new_in(self.arena));
        // It fails only where the text is cut.
        let _ = text.write_fmt(message);
        let message = text.0.into_bump_str();
        self.no_room(0).unwrap_or(Value::Error(EvalError { message }))
    }
}

/// The bytes of an arena that are in use; the same for the same allocations in an arena that began the same.
pub fn used(arena: &Bump) -> usize {
    arena.allocated_bytes().saturating_sub(arena.chunk_capacity())
}

/// A text that takes no more than [`MAX_ERROR_BYTES`].
struct ErrorText<'a>(bumpalo::collections::String<'a>);

impl std::fmt::Write for ErrorText<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len() + text.len() > MAX_ERROR_BYTES {
            return Err(std::fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}
