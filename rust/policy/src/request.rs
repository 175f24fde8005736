//! The request record as evaluation sees it (docs/record-format.md, "The request record").

use std::cell::RefCell;

use bumpalo::Bump;
use celgate_cel::record::Record;
use celgate_cel::value::Value;

use crate::InvalidRequest;
use crate::answers::{Answer, Answers, Ask, Pending};
use crate::authorize::Authorizer;
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

/// A request and what has been answered about it. Made once for many policies: roots are read once.
pub(crate) struct RequestView<'a> {
    arena: &'a Bump,
    pub(crate) record: &'a Record<'a>,
    attributes: Value<'a>,
    name: &'a str,
    namespace: &'a str,
    /// Of object and oldObject, where there are such.
    object_labels: [Option<ValueLabels<'a>>; 2],
    namespace_labels: Root<'a>,
    namespace_object: Root<'a>,
    versions: &'a [Objects<'a>],
    /// Answers the checks of the authorizer.
    pub(crate) authorizer: Authorizer<'a>,
}

/// object and oldObject in one version, or why their conversion failed.
type Objects<'a> = Result<(Value<'a>, Value<'a>), &'a str>;

/// What a root of the record says about the namespace; `None` must be asked for.
type Root<'a> = Option<Result<Value<'a>, &'a str>>;

impl<'a> RequestView<'a> {
    pub(crate) fn new(
        arena: &'a Bump,
        record: &'a Record<'a>,
        answers: &'a Answers,
        pending: &'a RefCell<Pending>,
    ) -> Result<RequestView<'a>, InvalidRequest> {
        let attributes = record.root(ATTRIBUTES);
        let text = |name: &str| match attributes {
            None => Ok(""),
            Some(Value::Record(fields)) if !fields.is_list() => match fields.field(name) {
                None | Some(Value::Null) => Ok(""),
                Some(Value::String(text)) => Ok(text),
                Some(_) => Err(InvalidRequest::new(format!("request.{name} is not a string"))),
            },
            Some(_) => Err(InvalidRequest::new("root 0 is not the request")),
        };
        let labels = |root| match record.root(root) {
            None | Some(Value::Null) => None,
            labels => Some(ValueLabels(labels)),
        };
        let result = |root| match record.root(root) {
            Some(Value::Error(error)) => Some(Err(error.message)),
            value => value.map(Ok),
        };
        let version = |number: u32| {
            let first = VERSIONS + number * 2;
            let root = |root: u32| record.root(root).unwrap_or(Value::Null);
            // Upstream converts oldObject first.
            match (root(first), root(first + 1)) {
                (_, Value::Error(error)) | (Value::Error(error), _) => Err(error.message),
                both => Ok(both),
            }
        };
        Ok(RequestView {
            arena,
            record,
            attributes: attributes.unwrap_or(Value::Null),
            name: text("name")?,
            namespace: text("namespace")?,
            object_labels: [labels(LABELS), labels(OLD_LABELS)],
            namespace_labels: result(NAMESPACE_LABELS),
            namespace_object: result(NAMESPACE),
            versions: arena
                .alloc_slice_fill_iter((0..record.roots().saturating_sub(VERSIONS).div_ceil(2)).map(version)),
            authorizer: Authorizer { answers, pending },
        })
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
        self.attributes
    }

    /// Labels of object and oldObject, where there are such.
    #[inline]
    pub(crate) fn object_labels(&self) -> impl Iterator<Item = &ValueLabels<'a>> {
        self.object_labels.iter().flatten()
    }

    /// Whether the labels of the namespace are there, without asking.
    pub(crate) fn has_namespace_labels(&self) -> bool {
        matches!(self.namespace_labels, Some(Ok(_)))
    }

    /// The labels that namespaceSelectors are about, or upstream's error about them.
    #[inline]
    pub(crate) fn namespace_labels(&self) -> Result<Result<ValueLabels<'a>, &'a str>, Unanswered> {
        let labels = match self.namespace_labels {
            Some(labels) => labels,
            None => self.answered_namespace(1)?,
        };
        Ok(labels.map(|labels| ValueLabels(Some(labels))))
    }

    /// The full Namespace object (null when the caller found it but no policy reads it), or why its look-up failed.
    #[inline]
    pub(crate) fn namespace_object(&self) -> Result<Result<Value<'a>, &'a str>, Unanswered> {
        match self.namespace_object {
            Some(namespace) => Ok(namespace),
            None => self.answered_namespace(0),
        }
    }

    fn answered_namespace(&self, root: u32) -> Result<Result<Value<'a>, &'a str>, Unanswered> {
        match self.authorizer.answer(Ask::Namespace, "")? {
            Answer::Namespace(Ok(record)) => {
                let record: &'a Record<'a> = self.arena.alloc(record.as_record());
                Ok(Ok(record.root(root).unwrap_or(Value::Null)))
            }
            Answer::Namespace(Err(error)) => Ok(Err(error)),
            _ => Err(Unanswered),
        }
    }

    /// `object` and `oldObject` in a version of the plan, or why their conversion failed.
    #[inline]
    pub(crate) fn objects(&self, version: u32) -> Objects<'a> {
        self.versions.get(version as usize).copied().unwrap_or(Ok((Value::Null, Value::Null)))
    }
}
