//! What one request needs while it is decided, reused from request to request.

use std::cell::RefCell;

use bumpalo::Bump;
use celgate_cel::memo::Memo;
use celgate_cel::regex::Patterns;

use crate::answers::{Answers, Pending};
use crate::counts::Counter;
use crate::params::ParamSet;
use crate::results::Results;

/// One request's arena, answers and finished results. Exclusive while in use.
#[derive(Debug, Default)]
pub struct Scratch {
    /// For what evaluations make; emptied now and then between them.
    pub(crate) arena: Bump,
    pub(crate) answers: Answers,
    pub(crate) pending: RefCell<Pending>,
    /// Params as they were when evaluation first stopped: a request sees one version of them.
    pub(crate) pinned: Vec<Option<ParamSet>>,
    pub(crate) progress: Progress,
    pub(crate) results: Results,
    pub(crate) report: Vec<u8>,
    pub(crate) questions: Vec<u8>,
    pub(crate) output: Output,
    pub(crate) evaluations: u64,
    /// Counts evaluations by policy.
    pub(crate) counter: Counter,
    pub(crate) kept: Kept,
}

/// What evaluations leave for others, which changes no result.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Patterns that expressions compute, often from params: from request to request the same.
    pub(crate) patterns: Patterns,
    /// Paths followed in the record of the request.
    pub(crate) memo: Memo,
}

/// Where evaluation goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Position among the plan's hooks.
    pub(crate) hook: usize,
    /// Position among the hook's bindings; `None` before the hook has been matched.
    pub(crate) binding: Option<usize>,
    /// Position among the binding's params.
    pub(crate) param: usize,
}

/// What the last call put out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Output {
    #[default]
    Nothing,
    Report,
    Questions,
}

/// What an arena keeps when it is emptied. A larger one is given back, so that one evaluation does not hold its memory for ever.
const KEPT_BYTES: usize = 256 << 10;

/// What buffers of text keep from one request to the next.
const KEPT_TEXT: usize = 64 << 10;

/// Empties an arena.
pub(crate) fn renew(arena: &mut Bump) {
    arena.reset();
    // A chunk is a little larger than what was asked for.
    if !(KEPT_BYTES..KEPT_BYTES * 2).contains(&arena.allocated_bytes()) {
        *arena = Bump::with_capacity(KEPT_BYTES);
    }
}

impl Scratch {
    /// A scratch for any number of requests, one after the other.
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Ends a request, also one that is abandoned between calls.
    pub fn reset(&mut self) {
        self.answers.clear();
        self.pending.get_mut().clear();
        self.pinned.clear();
        self.progress = Progress::default();
        self.results.clear();
        self.report.clear();
        self.report.shrink_to(KEPT_TEXT);
        self.questions.clear();
        self.questions.shrink_to(KEPT_TEXT);
        self.output = Output::Nothing;
        self.evaluations = 0;
    }

    /// The report or the questions of the last call; empty after one that yielded or failed.
    pub fn output(&self) -> &[u8] {
        match self.output {
            Output::Nothing => &[],
            Output::Report => &self.report,
            Output::Questions => &self.questions,
        }
    }

    /// Policies evaluated in the last call, counted once per distinct param.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }
}

const _: () = {
    const fn movable<T: Send>() {}
    movable::<Scratch>();
};
