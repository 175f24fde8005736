//! What evaluating one policy with one param gave, kept so that every binding that shares it gets the same.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use crate::mutants::{Mutant, planted};
use crate::params::Param;
use crate::report::{Action, Conditions, Evaluation, Report, Subject, cut};

/// The results of the policy that is being decided. Buffers are reused from policy to policy and from request to request.
#[derive(Debug, Default)]
pub(crate) struct Results {
    entries: Vec<Entry>,
    decisions: Vec<Decision>,
    annotations: Vec<Annotation>,
    texts: String,
    /// The entry without a param.
    without_param: Option<u32>,
    /// The entry of each param, by the param's address.
    index: HashMap<usize, u32, BuildHasherDefault<AddressHasher>>,
}

/// The entry of all evaluations that have nothing to write.
const NOTHING: u32 = u32::MAX;

/// One evaluation.
#[derive(Debug, Clone)]
struct Entry {
    conditions: Option<(Conditions, u32)>,
    decisions: Range<u32>,
    annotations: Range<u32>,
}

#[derive(Debug, Clone)]
struct Decision {
    expression: u32,
    action: Action,
    evaluation: Evaluation,
    reason: Range<u32>,
    message: Range<u32>,
}

#[derive(Debug, Clone)]
struct Annotation {
    failed: bool,
    key: Range<u32>,
    value: Range<u32>,
}

/// Params are told apart by address: they stay where they are while a request is decided.
fn address(param: &Param) -> usize {
    if planted(Mutant::ParamsShareResults) { 0 } else { std::ptr::from_ref(param).addr() }
}

/// What the texts keep from one policy to the next.
const KEPT_TEXT: usize = 64 << 10;

impl Results {
    /// Forgets everything: the next policy begins.
    pub(crate) fn clear(&mut self) {
        self.without_param = None;
        self.index.clear();
        self.entries.clear();
        self.decisions.clear();
        self.annotations.clear();
        self.texts.clear();
        self.texts.shrink_to(KEPT_TEXT);
    }

    /// The evaluation with this param, if it is finished.
    pub(crate) fn get(&self, param: Option<&Param>) -> Option<u32> {
        match param {
            None => self.without_param,
            Some(param) => self.index.get(&address(param)).copied(),
        }
    }

    /// Whether an evaluation has nothing to write.
    pub(crate) fn says_nothing(entry: u32) -> bool {
        entry == NOTHING
    }

    /// Begins an evaluation. What is added until [`Self::finish`] belongs to it.
    pub(crate) fn begin(&mut self) -> Unfinished<'_> {
        let entry = Entry {
            conditions: None,
            decisions: self.decisions.len() as u32..0,
            annotations: self.annotations.len() as u32..0,
        };
        Unfinished { results: self, entry }
    }

    /// Writes an evaluation's outcome for one binding.
    pub(crate) fn write(&self, entry: u32, subject: Subject, report: &mut Report<'_>) {
        let Some(entry) = self.entries.get(entry as usize) else { return };
        if let Some((conditions, errors)) = entry.conditions {
            report.conditions(subject, conditions, errors);
        }
        for decision in slice(&self.decisions, &entry.decisions) {
            let Decision { expression, action, evaluation, .. } = *decision;
            report.decision(
                subject,
                expression,
                action,
                evaluation,
                self.text(&decision.reason),
                self.text(&decision.message),
            );
        }
        for annotation in slice(&self.annotations, &entry.annotations) {
            let (key, value) = (self.text(&annotation.key), self.text(&annotation.value));
            if annotation.failed {
                report.failed_annotation(subject, key, value);
            } else {
                report.annotation(subject, key, value);
            }
        }
    }

    fn text(&self, range: &Range<u32>) -> &str {
        self.texts.get(range.start as usize..range.end as usize).unwrap_or_default()
    }

    fn put(&mut self, text: &str) -> Range<u32> {
        let text = cut(text, self.texts.len());
        let start = self.texts.len() as u32;
        self.texts.push_str(text);
        start..self.texts.len() as u32
    }
}

fn slice<'a, T>(all: &'a [T], range: &Range<u32>) -> &'a [T] {
    all.get(range.start as usize..range.end as usize).unwrap_or_default()
}

/// An evaluation in progress. Dropping it without [`Self::finish`] leaves nothing behind that is ever reported.
pub(crate) struct Unfinished<'r> {
    results: &'r mut Results,
    entry: Entry,
}

impl Unfinished<'_> {
    /// Match conditions that did not simply hold.
    pub(crate) fn conditions(&mut self, outcome: Conditions, errors: u32) {
        self.entry.conditions = Some((outcome, errors));
    }

    /// Adds a decision.
    pub(crate) fn decision(
        &mut self,
        expression: u32,
        action: Action,
        evaluation: Evaluation,
        reason: &str,
        message: &str,
    ) {
        let (reason, message) = (self.results.put(reason), self.results.put(message));
        self.results.decisions.push(Decision { expression, action, evaluation, reason, message });
    }

    /// Takes everything back.
    pub(crate) fn restart(&mut self) {
        self.retract();
        self.entry.conditions = None;
    }

    /// Takes back the decisions and annotations added so far.
    pub(crate) fn retract(&mut self) {
        self.results.decisions.truncate(self.entry.decisions.start as usize);
        self.results.annotations.truncate(self.entry.annotations.start as usize);
    }

    /// Adds an audit annotation to publish, or one that failed.
    pub(crate) fn annotation(&mut self, failed: bool, key: &str, value: &str) {
        let (key, value) = (self.results.put(key), self.results.put(value));
        self.results.annotations.push(Annotation { failed, key, value });
    }

    /// Keeps the evaluation as the one with this param.
    pub(crate) fn finish(self, param: Option<&Param>) -> u32 {
        let Unfinished { results, mut entry } = self;
        entry.decisions.end = results.decisions.len() as u32;
        entry.annotations.end = results.annotations.len() as u32;
        let says_nothing = entry.conditions.is_none() && entry.decisions.is_empty() && entry.annotations.is_empty();
        let index = if says_nothing { NOTHING } else { results.entries.len() as u32 };
        if !says_nothing {
            results.entries.push(entry);
        }
        match param {
            None => results.without_param = Some(index),
            Some(param) => {
                results.index.insert(address(param), index);
            }
        }
        index
    }
}

/// Hashes an address: what matters is spread, and nobody chooses the addresses.
#[derive(Debug, Default)]
pub(crate) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_usize(usize::from(byte));
        }
    }

    fn write_usize(&mut self, address: usize) {
        // Fibonacci hashing; the table takes the upper bits for its tags and the lower ones for the bucket.
        let product = (self.0 ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }
}

#[cfg(test)]
mod tests {
    use celgate_testkit::report::lines;

    use super::*;

    #[test]
    fn evaluations_are_kept_by_param() {
        let mut results = Results::default();
        let param = Param::parse(&celgate_testkit::wire::param(&serde_json::json!({}))).unwrap();
        let mut first = results.begin();
        first.decision(1, Action::Deny, Evaluation::Deny, "Invalid", "no");
        first.annotation(false, "k", "v");
        let first = first.finish(None);
        let mut abandoned = results.begin();
        abandoned.decision(9, Action::Deny, Evaluation::Error, "", "lost");
        let mut second = results.begin();
        second.conditions(Conditions::Failed, 2);
        second.decision(0, Action::Deny, Evaluation::Error, "", "retracted");
        second.retract();
        let second = second.finish(Some(&param));
        assert_eq!((results.get(None), results.get(Some(&param))), (Some(first), Some(second)));

        let mut bytes = Vec::new();
        for entry in [second, first] {
            results.write(entry, Subject { hook: 0, binding: Some(entry) }, &mut Report(&mut bytes));
        }
        assert_eq!(
            lines(&bytes),
            [
                "conditions 0/1 failed, 2 errors, observed 1",
                "decision 0/0 expression 1 deny denied Invalid: no",
                "annotation 0/0 k=v"
            ]
        );
        results.clear();
        assert_eq!(results.get(None), None);
    }
}
