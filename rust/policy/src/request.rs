//! The request record as evaluation sees it (docs/record-format.md, "The request record").

use std::cell::RefCell;

use bumpalo::Bump;
use celgate_cel::record::Record;
use celgate_cel::value::Value;

use crate::InvalidRequest;
use crate::answers::{Answer, Answers, Ask, Pending};
use crate::params::ValueLabels;

/// An answer is missing; the question is pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unanswered;

const ATTRIBUTES: u32 = 0;
const NAMESPACE: u32 = 1;
const LABELS: u32 = 2;
const OLD_LABELS: u32 = 3;
const NAMESPACE_LABELS: u32 = 4;
const VERSIONS: u32 = 5;

/// A request and what has been answered about it.
#[derive(Clone, Copy)]
pub(crate) struct RequestView<'a> {
    arena: &'a Bump,
    record: &'a Record<'a>,
    name: &'a str,
    namespace: &'a str,
    pub(crate) answers: &'a Answers,
    pub(crate) pending: &'a RefCell<Pending>,
}

impl<'a> RequestView<'a> {
    pub(crate) fn new(
        arena: &'a Bump,
        record: &'a Record<'a>,
        answers: &'a Answers,
        pending: &'a RefCell<Pending>,
    ) -> Result<RequestView<'a>, InvalidRequest> {
        let text = |name: &str| match record.root(ATTRIBUTES) {
            None => Ok(""),
            Some(Value::Record(fields)) if !fields.is_list() => match fields.field(name) {
                None | Some(Value::Null) => Ok(""),
                Some(Value::String(text)) => Ok(text),
                Some(_) => Err(InvalidRequest::new(format!("request.{name} is not a string"))),
            },
            Some(_) => Err(InvalidRequest::new("root 0 is not the request")),
        };
        Ok(RequestView { arena, record, name: text("name")?, namespace: text("namespace")?, answers, pending })
    }

    /// The object's name; empty when the server is to generate it.
    #[inline]
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    /// The request's namespace; empty for a cluster-scoped resource.
    pub(crate) fn namespace(&self) -> &'a str {
        self.namespace
    }

    /// The AdmissionRequest without `kind` and `resource`.
    pub(crate) fn attributes(&self) -> Value<'a> {
        self.record.root(ATTRIBUTES).unwrap_or(Value::Null)
    }

    /// Labels of object and oldObject, where there are such.
    #[inline]
    pub(crate) fn object_labels(&self) -> impl Iterator<Item = ValueLabels<'a>> + use<'a> {
        let record = self.record;
        [LABELS, OLD_LABELS].into_iter().filter_map(move |root| match record.root(root) {
            None | Some(Value::Null) => None,
            labels => Some(ValueLabels(labels)),
        })
    }

    /// The labels that namespaceSelectors are about, or upstream's error about them.
    pub(crate) fn namespace_labels(&self) -> Result<Result<ValueLabels<'a>, &'a str>, Unanswered> {
        match self.record.root(NAMESPACE_LABELS) {
            Some(Value::Error(error)) => Ok(Err(error.message)),
            Some(labels) => Ok(Ok(ValueLabels(Some(labels)))),
            None => Ok(self.answered_namespace(1)?.map(|labels| ValueLabels(Some(labels)))),
        }
    }

    /// The full Namespace object (null when the caller found it but no policy reads it), or `Err` when its look-up failed.
    pub(crate) fn namespace_object(&self) -> Result<Result<Value<'a>, ()>, Unanswered> {
        match self.record.root(NAMESPACE) {
            Some(Value::Error(_)) => Ok(Err(())),
            Some(namespace) => Ok(Ok(namespace)),
            None => Ok(self.answered_namespace(0)?.map_err(|_| ())),
        }
    }

    fn answered_namespace(&self, root: u32) -> Result<Result<Value<'a>, &'a str>, Unanswered> {
        match self.answers.get(Ask::Namespace, "") {
            Some(Answer::Namespace(Ok(record))) => {
                let record: &'a Record<'a> = self.arena.alloc(record.as_record());
                Ok(Ok(record.root(root).unwrap_or(Value::Null)))
            }
            Some(Answer::Namespace(Err(error))) => Ok(Err(error)),
            _ => {
                self.pending.borrow_mut().ask(Ask::Namespace, "");
                Err(Unanswered)
            }
        }
    }

    /// `object` and `oldObject` in a version of the plan, or why their conversion failed.
    pub(crate) fn objects(&self, version: u32) -> Result<(Value<'a>, Value<'a>), &'a str> {
        let root = |index: u32| match VERSIONS
            .checked_add(version.saturating_mul(2))
            .and_then(|first| first.checked_add(index))
        {
            Some(index) => self.record.root(index).unwrap_or(Value::Null),
            None => Value::Null,
        };
        // Upstream converts oldObject first.
        match (root(0), root(1)) {
            (_, Value::Error(error)) | (Value::Error(error), _) => Err(error.message),
            both => Ok(both),
        }
    }
}
