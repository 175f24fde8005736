//! The report of what happened, in upstream's order of events (docs/abi.md, "The report").

use crate::api::FailurePolicy;

/// No binding.
const NONE: u32 = u32::MAX;

/// How a policy's error or denial counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Admit = 0,
    Deny = 1,
}

impl Action {
    /// What an error means under a failurePolicy.
    pub(crate) fn of_errors(failure_policy: FailurePolicy) -> Action {
        match failure_policy {
            FailurePolicy::Fail => Action::Deny,
            FailurePolicy::Ignore => Action::Admit,
        }
    }
}

/// What came out of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evaluation {
    Error = 1,
    Deny = 2,
}

/// What match conditions came to, when they did not simply hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conditions {
    /// One was false.
    Excluded = 0,
    /// There were errors, under failurePolicy Fail.
    Failed = 1,
    /// There were errors, under failurePolicy Ignore.
    Ignored = 2,
}

/// Who an entry is about: indices of the engine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject {
    pub(crate) hook: u32,
    pub(crate) binding: Option<u32>,
}

impl Subject {
    fn binding(self) -> u32 {
        self.binding.unwrap_or(NONE)
    }
}

/// Writes entries to a buffer.
pub(crate) struct Report<'r>(pub(crate) &'r mut Vec<u8>);

/// After so many bytes of texts further ones are cut: an error can quote a whole object, for each binding anew.
const WHOLE_TEXTS: usize = 64 << 20;

/// What is left of a text that is cut.
const CUT: usize = 1 << 10;

/// A text that is to come after so many bytes of others.
pub(crate) fn cut(text: &str, before: usize) -> &str {
    match before.saturating_add(text.len()) {
        all if all <= WHOLE_TEXTS => text,
        _ => (0..=CUT).rev().find_map(|end| text.get(..end)).unwrap_or_default(),
    }
}

impl Report<'_> {
    /// A denial, or an error that failurePolicy Ignore admits.
    pub(crate) fn decision(
        &mut self,
        subject: Subject,
        expression: u32,
        action: Action,
        evaluation: Evaluation,
        reason: &str,
        message: &str,
    ) {
        self.head(1, subject);
        self.number(expression);
        self.number(action as u32);
        self.number(evaluation as u32);
        self.text(reason);
        self.text(message);
    }

    /// An audit annotation to publish; the key is without the policy's name.
    pub(crate) fn annotation(&mut self, subject: Subject, key: &str, value: &str) {
        self.head(2, subject);
        self.text(key);
        self.text(value);
    }

    /// An audit annotation that failed, under failurePolicy Fail.
    pub(crate) fn failed_annotation(&mut self, subject: Subject, key: &str, message: &str) {
        self.head(3, subject);
        self.text(key);
        self.text(message);
    }

    /// A configuration error, under failurePolicy Fail.
    pub(crate) fn configuration(&mut self, subject: Subject, prefix: &str, message: &str) {
        self.head(4, subject);
        let message = cut(message, self.0.len());
        self.number((prefix.len() + message.len()) as u32);
        self.0.extend_from_slice(prefix.as_bytes());
        self.0.extend_from_slice(message.as_bytes());
    }

    /// Match conditions that excluded the policy or failed. Upstream observes their evaluation time in all these cases, and only in these.
    pub(crate) fn conditions(&mut self, subject: Subject, outcome: Conditions, errors: u32) {
        self.numbers([5, subject.hook, subject.binding(), outcome as u32, errors, 1]);
    }

    /// The look-up of the request's namespace failed.
    pub(crate) fn namespace_failed(&mut self, subject: Subject) {
        self.head(6, subject);
    }

    /// A webhook is to be called, under the match of this number.
    pub(crate) fn call(&mut self, subject: Subject, matched: u32) {
        self.numbers([7, subject.hook, subject.binding(), matched]);
    }

    /// The objects could not be converted for a webhook, under the match of this number.
    pub(crate) fn not_converted(&mut self, subject: Subject, matched: u32) {
        self.numbers([8, subject.hook, subject.binding(), matched]);
    }

    fn head(&mut self, kind: u32, subject: Subject) {
        self.numbers([kind, subject.hook, subject.binding()]);
    }

    fn number(&mut self, number: u32) {
        self.numbers([number]);
    }

    #[inline]
    fn numbers<const N: usize>(&mut self, numbers: [u32; N]) {
        self.0.extend_from_slice(numbers.map(u32::to_le_bytes).as_flattened());
    }

    fn text(&mut self, text: &str) {
        let text = cut(text, self.0.len());
        self.number(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use celgate_testkit::report::lines;

    use super::*;

    #[test]
    fn texts_beyond_the_limit_are_cut() {
        let text = "é".repeat(CUT);
        assert_eq!(cut(&text, WHOLE_TEXTS - text.len()), text);
        assert_eq!(cut(&text[..1024], WHOLE_TEXTS).len(), CUT);
        assert_eq!(cut(&format!("a{text}"), WHOLE_TEXTS).len(), CUT - 1);
        assert_eq!(cut("short", WHOLE_TEXTS), "short");
    }

    #[test]
    fn every_kind_of_entry() {
        let mut bytes = Vec::new();
        let mut report = Report(&mut bytes);
        let (one, none) = (Subject { hook: 1, binding: Some(2) }, Subject { hook: 3, binding: None });
        report.decision(one, 4, Action::Deny, Evaluation::Deny, "Invalid", "no");
        report.decision(one, 0, Action::Admit, Evaluation::Error, "", "broken");
        report.annotation(one, "k", "v");
        report.failed_annotation(one, "k", "bad");
        report.configuration(none, "failed: ", "text");
        report.conditions(one, Conditions::Ignored, 2);
        report.namespace_failed(one);
        report.call(none, 4);
        report.not_converted(none, 5);
        assert_eq!(
            lines(&bytes),
            [
                "decision 1/2 expression 4 deny denied Invalid: no",
                "decision 1/2 expression 0 admit error : broken",
                "annotation 1/2 k=v",
                "annotation 1/2 k failed: bad",
                "configuration 3/-: failed: text",
                "conditions 1/2 failed and ignored, 2 errors, observed 1",
                "namespace 1/2",
                "call 3/- match 4",
                "not converted 3/- match 5",
            ]
        );
    }
}
