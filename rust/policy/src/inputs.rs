//! What expressions can read: upstream's `evaluationActivation`. Most of it is the same for all policies that match a request in the same way,
//! and is prepared once for them.

use std::cell::OnceCell;

use bumpalo::Bump;
use celgate_cel::memo::SPACES;
use celgate_cel::record::Edit;
use celgate_cel::value::Value;

use crate::constraints::Match;
use crate::mutants::{Mutant, planted};
use crate::plan::Plan;
use crate::reads::Reads;
use crate::request::{RequestView, Unanswered};
use crate::rules::{Kind, Resource};

/// The inputs: programs are planned against their positions.
pub(crate) struct Input;

impl Input {
    pub(crate) const COUNT: usize = 8;

    /// The names that expressions have for the inputs, in order.
    pub(crate) const NAMES: [&'static str; Input::COUNT] = [
        "object",
        "oldObject",
        "params",
        "request",
        "namespaceObject",
        "authorizer",
        "authorizer.requestResource",
        "variables",
    ];

    pub(crate) const PARAMS: usize = 2;
    pub(crate) const AUTHORIZER: usize = 5;
    pub(crate) const REQUEST_RESOURCE: usize = 6;
    pub(crate) const VARIABLES: usize = 7;
}

/// The values of the inputs, in the order of [`Input::NAMES`]; `None` is unbound.
pub(crate) type Inputs<'a> = [Option<Value<'a>>; Input::COUNT];

/// The sections of a policy, by what their expressions see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// matchConditions: the requested resource under the matched kind, and no namespace.
    Conditions,
    Validations,
    /// messageExpressions: no authorizer.
    Messages,
    /// auditAnnotations: the namespace as it is, no authorizer.
    Annotations,
}

impl Scope {
    /// Whether `authorizer` is bound.
    pub(crate) fn has_authorizer(self) -> bool {
        match self {
            Scope::Conditions | Scope::Validations => true,
            Scope::Messages => planted(Mutant::MessagesSeeAuthorizer),
            Scope::Annotations => planted(Mutant::AnnotationsSeeAuthorizer),
        }
    }
}

/// A request under one match, for all policies that match it so.
pub(crate) struct Matched<'a> {
    arena: &'a Bump,
    pub(crate) plan: &'a Plan,
    pub(crate) request: &'a RequestView<'a>,
    matched: &'a Match,
    /// object and oldObject in the matched version.
    objects: (Value<'a>, Value<'a>),
    /// The full Namespace, or null.
    namespace: Value<'a>,
    /// By section, in the order of [`Scope`].
    inputs: [OnceCell<&'a Inputs<'a>>; 4],
}

impl<'a> Matched<'a> {
    pub(crate) fn new(
        arena: &'a Bump,
        plan: &'a Plan,
        request: &'a RequestView<'a>,
        matched: &'a Match,
    ) -> Result<Matched<'a>, Unanswered> {
        let namespace = match plan.has_namespace_object() {
            true => request.namespace_object()?.unwrap_or(Value::Null),
            false => Value::Null,
        };
        Ok(Matched {
            arena,
            plan,
            request,
            matched,
            objects: request.objects(matched.version).unwrap_or((Value::Null, Value::Null)),
            namespace,
            inputs: Default::default(),
        })
    }

    /// The number of the match.
    pub(crate) fn number(&self) -> u32 {
        self.matched.number
    }

    /// The inputs of a section whose policy reads neither params nor the authorizer nor variables.
    pub(crate) fn inputs(&self, scope: Scope) -> &'a Inputs<'a> {
        let [conditions, validations, messages, annotations] = &self.inputs;
        let made = match scope {
            Scope::Conditions => conditions,
            Scope::Validations => validations,
            Scope::Messages => messages,
            Scope::Annotations => annotations,
        };
        made.get_or_init(|| self.arena.alloc(self.make(scope)))
    }

    fn make(&self, scope: Scope) -> Inputs<'a> {
        let null = Some(Value::Null);
        let authorizer = if scope.has_authorizer() { null } else { None };
        let (request, namespace) = match scope {
            Scope::Conditions => {
                let whole = planted(Mutant::ConditionsSeeMatchedResource);
                let resource = if whole { &self.matched.resource } else { &self.plan.key.resource };
                let namespace = if planted(Mutant::ConditionsSeeNamespace) { self.namespace } else { Value::Null };
                (self.request_as(resource, self.space(0)), namespace)
            }
            Scope::Validations | Scope::Messages => (self.matched_request(), self.visible_namespace()),
            Scope::Annotations => (self.matched_request(), self.namespace),
        };
        // In the order of `Input::NAMES`.
        let (object, old_object) = self.objects;
        [Some(object), Some(old_object), null, Some(request), Some(namespace), authorizer, authorizer, null]
    }

    /// The request for the matched resource.
    fn matched_request(&self) -> Value<'a> {
        self.request_as(&self.matched.resource, self.space(1))
    }

    /// Where paths in the request are remembered: there is one for the conditions of each match, and one for all else.
    fn space(&self, which: u32) -> u8 {
        let space = 1 + 2 * u64::from(self.matched.number) + u64::from(which);
        u8::try_from(space).ok().filter(|&space| space < SPACES).unwrap_or(0)
    }

    /// The request for this resource and of the matched kind: upstream's `CreateAdmissionRequest`.
    fn request_as(&self, resource: &Resource, space: u8) -> Value<'a> {
        let Kind { group, version, kind } =
            if planted(Mutant::RequestKeepsKind) { &self.plan.key.kind } else { &self.matched.kind };
        match self.request.attributes() {
            Value::Record(fields) if self.plan.reads.intersects(Reads::REQUEST_MATCH) => fields.edited(
                self.arena,
                space,
                &[
                    Edit::Add("kind", &[("group", group.as_str()), ("version", version), ("kind", kind)]),
                    Edit::Add(
                        "resource",
                        &[("group", &resource.group), ("version", &resource.version), ("resource", &resource.resource)],
                    ),
                ],
            ),
            attributes => attributes,
        }
    }

    /// The namespace as validations see it: upstream's `CreateNamespaceObject`, which leaves some of the metadata out.
    fn visible_namespace(&self) -> Value<'a> {
        match self.namespace {
            Value::Record(fields)
                if self.plan.reads.intersects(Reads::NAMESPACE_WHOLE) && !planted(Mutant::NamespaceIsWhole) =>
            {
                fields.edited(
                    self.arena,
                    0,
                    &[
                        Edit::Drop("kind"),
                        Edit::Drop("apiVersion"),
                        Edit::DropInner("metadata", &["managedFields", "ownerReferences", "selfLink"]),
                    ],
                )
            }
            namespace => namespace,
        }
    }
}
