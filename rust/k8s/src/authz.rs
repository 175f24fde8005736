//! `kubernetes.authz` and `kubernetes.authzSelectors`: authorization checks in CEL (`pkg/cel/library/authz.go`).
//!
//! An `Authorizer` is the user of the request, or a service account. Builders narrow it down to a path or a resource;
//! `check` asks the host.
//!
//! # The question
//!
//! `check` asks a [`Question`] of kind [`QUESTION`]. Its parts are values; the caller turns them into
//! `authorizer.AttributesRecord` as upstream's `Authorize` methods do:
//!
//! | part | path check | resource check |
//! | --- | --- | --- |
//! | 0 | string `path` | string `resource` |
//! | 1 | service account's namespace, or null: the request's user | the same |
//! | 2 | service account's name, or null | the same |
//! | 3 | verb | verb |
//! | 4 | path | API group |
//! | 5 | | resource |
//! | 6 | | subresource |
//! | 7 | | namespace |
//! | 8 | | name |
//! | 9 | | field selector's text, empty for none |
//! | 10 | | label selector's text, empty for none |
//!
//! Parts 1 and 2 are both null or both strings, which are valid names. For a service account the user is
//! `serviceaccount.ServiceAccountInfo{Name, Namespace}.UserInfo()`. A resource check has `ResourceRequest: true` and
//! `APIVersion: "*"`. A selector that is not empty is parsed by `fields.ParseSelector` and
//! `labels.ParseToRequirements`: its requirements, or the error, go into the attributes.
//!
//! # The answer
//!
//! A list of three: the decision as `authorizer.Decision` counts (int: 0 deny, 1 allow, 2 no opinion), the reason
//! (string), and the authorizer's error (string), or null if there was none. The same question always gets the same
//! answer within a request. No answer stops the evaluation with [`Halt::NeedsInput`].

use celgate_cel::context::{EvalContext, Halt, Question};
use celgate_cel::decls::{FunctionDecl, OverloadDecl};
use celgate_cel::function::{Implementation, Library};
use celgate_cel::types::Type;
use celgate_cel::value::{GoKey, ListView, Native, Opaque, OpaqueType, Value};

use crate::args::{fields, mismatch, no_such_overload, opaque};
use crate::cost;
use crate::format::names::{is_namespace_name, is_service_account_name};

/// The kind of question that `check` asks.
pub const QUESTION: &str = "authorize";

/// The type of `authorizer`.
pub const AUTHORIZER: &str = "kubernetes.authorization.Authorizer";
/// The type of `authorizer.requestResource`.
pub const RESOURCE_CHECK: &str = "kubernetes.authorization.ResourceCheck";
const PATH_CHECK: &str = "kubernetes.authorization.PathCheck";
const GROUP_CHECK: &str = "kubernetes.authorization.GroupCheck";
const DECISION: &str = "kubernetes.authorization.Decision";

/// State: `[namespace, name]` of the service account, or nulls.
static AUTHORIZER_TYPE: OpaqueType = OpaqueType {
    name: AUTHORIZER,
    go_name: "library.authorizerVal",
    go_key: GoKey::Identity,
    equal,
    size: None,
    native: Native::Named(AUTHORIZER),
};
/// State: the authorizer's, and the path.
static PATH_CHECK_TYPE: OpaqueType = OpaqueType {
    name: PATH_CHECK,
    go_name: "library.pathCheckVal",
    go_key: GoKey::Identity,
    equal,
    size: None,
    native: Native::Named(PATH_CHECK),
};
/// State: the authorizer's, and the group.
static GROUP_CHECK_TYPE: OpaqueType = OpaqueType {
    name: GROUP_CHECK,
    go_name: "library.groupCheckVal",
    go_key: GoKey::Identity,
    equal,
    size: None,
    native: Native::Named(GROUP_CHECK),
};
/// State: the group check's, and resource, subresource, namespace, name, field selector, label selector, origin. Go compares the structs,
/// which hold a pointer to a type made for each check that does not come from another one.
static RESOURCE_CHECK_TYPE: OpaqueType = OpaqueType {
    name: RESOURCE_CHECK,
    go_name: "library.resourceCheckVal",
    go_key: GoKey::State,
    equal,
    size: None,
    native: Native::Named(RESOURCE_CHECK),
};
/// State: `[decision, reason, error]`, as the host answers.
static DECISION_TYPE: OpaqueType = OpaqueType {
    name: DECISION,
    go_name: "library.decisionVal",
    go_key: GoKey::Identity,
    equal,
    size: None,
    native: Native::Named(DECISION),
};

/// Places in a resource check's state.
mod place {
    pub(super) const SUBRESOURCE: usize = 4;
    pub(super) const NAMESPACE: usize = 5;
    pub(super) const NAME: usize = 6;
    pub(super) const FIELD_SELECTOR: usize = 7;
    pub(super) const LABEL_SELECTOR: usize = 8;
    pub(super) const ORIGIN: usize = 9;
}

/// The library.
pub static LIBRARY: Library = Library {
    name: "kubernetes.authz",
    functions,
    implementations: &[
        Implementation { id: "authorizer_path", eval: path, cost: None },
        Implementation { id: "authorizer_group", eval: group, cost: None },
        Implementation { id: "authorizer_serviceaccount", eval: service_account, cost: None },
        Implementation { id: "groupcheck_resource", eval: resource, cost: None },
        Implementation { id: "resourcecheck_subresource", eval: subresource, cost: None },
        Implementation { id: "resourcecheck_namespace", eval: namespace, cost: None },
        Implementation { id: "resourcecheck_name", eval: name, cost: None },
        Implementation { id: "pathcheck_check", eval: check_path, cost: Some(check_cost) },
        Implementation { id: "resourcecheck_check", eval: check_resource, cost: Some(check_cost) },
        Implementation { id: "decision_errored", eval: errored, cost: None },
        Implementation { id: "decision_error", eval: error, cost: None },
        Implementation { id: "decision_allowed", eval: allowed, cost: None },
        Implementation { id: "decision_reason", eval: reason, cost: None },
    ],
};

/// `fieldSelector` and `labelSelector`.
pub static SELECTORS_LIBRARY: Library = Library {
    name: "kubernetes.authzSelectors",
    functions: selector_functions,
    implementations: &[
        Implementation { id: "authorizer_fieldselector", eval: field_selector, cost: Some(selector_cost) },
        Implementation { id: "authorizer_labelselector", eval: label_selector, cost: Some(selector_cost) },
    ],
};

fn functions() -> Vec<FunctionDecl> {
    let member = |id, receiver, strings: usize, result| {
        let args = std::iter::once(Type::object(receiver)).chain(std::iter::repeat_n(Type::String, strings));
        OverloadDecl::member(id, args.collect(), result)
    };
    let one = |name, overload| FunctionDecl { name, overloads: vec![overload] };
    let build = |name, id, receiver, result| one(name, member(id, receiver, 1, Type::object(result)));
    let read = |name, id, result| one(name, member(id, DECISION, 0, result));
    vec![
        build("path", "authorizer_path", AUTHORIZER, PATH_CHECK),
        build("group", "authorizer_group", AUTHORIZER, GROUP_CHECK),
        one("serviceAccount", member("authorizer_serviceaccount", AUTHORIZER, 2, Type::object(AUTHORIZER))),
        build("resource", "groupcheck_resource", GROUP_CHECK, RESOURCE_CHECK),
        build("subresource", "resourcecheck_subresource", RESOURCE_CHECK, RESOURCE_CHECK),
        build("namespace", "resourcecheck_namespace", RESOURCE_CHECK, RESOURCE_CHECK),
        build("name", "resourcecheck_name", RESOURCE_CHECK, RESOURCE_CHECK),
        FunctionDecl {
            name: "check",
            overloads: vec![
                member("pathcheck_check", PATH_CHECK, 1, Type::object(DECISION)),
                member("resourcecheck_check", RESOURCE_CHECK, 1, Type::object(DECISION)),
            ],
        },
        read("errored", "decision_errored", Type::Bool),
        read("error", "decision_error", Type::String),
        read("allowed", "decision_allowed", Type::Bool),
        read("reason", "decision_reason", Type::String),
    ]
}

fn selector_functions() -> Vec<FunctionDecl> {
    let resource = || Type::object(RESOURCE_CHECK);
    let build = |name, id| FunctionDecl {
        name,
        overloads: vec![OverloadDecl::member(id, vec![resource(), Type::String], resource())],
    };
    vec![build("fieldSelector", "authorizer_fieldselector"), build("labelSelector", "authorizer_labelselector")]
}

/// The value of `authorizer`: the user of the request.
pub fn authorizer_value<'a>(ctx: &EvalContext<'a>) -> Value<'a> {
    opaque(ctx, &AUTHORIZER_TYPE, &[Value::Null, Value::Null])
}

/// What `authorizer.requestResource` checks.
#[derive(Clone, Copy, Debug)]
pub struct RequestResource<'a> {
    /// API group.
    pub group: &'a str,
    /// Resource.
    pub resource: &'a str,
    /// Subresource, empty for none.
    pub subresource: &'a str,
    /// Namespace, empty for cluster scope.
    pub namespace: &'a str,
    /// The object's name, empty where the request has none.
    pub name: &'a str,
}

/// The value of `authorizer.requestResource`.
pub fn request_resource_value<'a>(ctx: &EvalContext<'a>, request: &RequestResource<'a>) -> Value<'a> {
    let text = Value::String;
    let (group, resource) = (text(request.group), text(request.resource));
    let (subresource, namespace, name) = (text(request.subresource), text(request.namespace), text(request.name));
    let none = text("");
    let state = [Value::Null, Value::Null, group, resource, subresource, namespace, name, none, none, origin(ctx)];
    opaque(ctx, &RESOURCE_CHECK_TYPE, &state)
}

/// A value that is the same key of a map as its copies alone.
fn origin<'a>(ctx: &EvalContext<'a>) -> Value<'a> {
    Value::Optional(Some(ctx.arena.alloc(Value::Null)))
}

/// Upstream compares with a type that no value has.
fn equal<'a>(ctx: &EvalContext<'a>, _: &'a Opaque<'a>, other: Value<'a>) -> Value<'a> {
    no_such_overload(ctx, other)
}

/// The receiver's state and the only other argument, a string.
fn receiver<'a>(args: &[Value<'a>], ty: &'static OpaqueType) -> Option<(&'a [Value<'a>], &'a str)> {
    match args {
        [receiver, Value::String(text)] => fields(receiver, ty).map(|state| (state, *text)),
        _ => None,
    }
}

/// A value that has the receiver's state and more.
fn narrow<'a>(ctx: &EvalContext<'a>, ty: &'static OpaqueType, state: &[Value<'a>], more: &[Value<'a>]) -> Value<'a> {
    opaque(ctx, ty, &[state, more].concat())
}

/// Go's `len(strings.TrimSpace(text)) == 0`.
fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

fn path<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match receiver(args, &AUTHORIZER_TYPE) {
        Some((_, path)) if is_blank(path) => ctx.error("path must not be empty"),
        Some((state, path)) => narrow(ctx, &PATH_CHECK_TYPE, state, &[Value::String(path)]),
        None => mismatch(ctx, "path", args),
    }
}

fn group<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match receiver(args, &AUTHORIZER_TYPE) {
        Some((state, group)) => narrow(ctx, &GROUP_CHECK_TYPE, state, &[Value::String(group)]),
        None => mismatch(ctx, "group", args),
    }
}

fn service_account<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let (Some(_), [_, Value::String(namespace), Value::String(name)]) =
        (args.first().and_then(|v| fields(v, &AUTHORIZER_TYPE)), args)
    else {
        return mismatch(ctx, "serviceAccount", args);
    };
    if !is_service_account_name(name) {
        return ctx.error("Invalid service account name");
    }
    if !is_namespace_name(namespace) {
        return ctx.error("Invalid service account namespace");
    }
    opaque(ctx, &AUTHORIZER_TYPE, &[Value::String(namespace), Value::String(name)])
}

fn resource<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match receiver(args, &GROUP_CHECK_TYPE) {
        Some((_, resource)) if is_blank(resource) => ctx.error("resource must not be empty"),
        Some((state, resource)) => {
            let none = Value::String("");
            narrow(
                ctx,
                &RESOURCE_CHECK_TYPE,
                state,
                &[Value::String(resource), none, none, none, none, none, origin(ctx)],
            )
        }
        None => mismatch(ctx, "resource", args),
    }
}

/// A resource check with one part replaced.
fn replace<'a>(ctx: &EvalContext<'a>, function: &str, args: &[Value<'a>], place: usize) -> Value<'a> {
    let Some((state, text)) = receiver(args, &RESOURCE_CHECK_TYPE) else { return mismatch(ctx, function, args) };
    let mut state = state.to_vec();
    if let Some(part) = state.get_mut(place) {
        *part = Value::String(text);
    }
    opaque(ctx, &RESOURCE_CHECK_TYPE, &state)
}

fn subresource<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    replace(ctx, "subresource", args, place::SUBRESOURCE)
}

fn namespace<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    replace(ctx, "namespace", args, place::NAMESPACE)
}

fn name<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    replace(ctx, "name", args, place::NAME)
}

fn field_selector<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    replace(ctx, "fieldSelector", args, place::FIELD_SELECTOR)
}

fn label_selector<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    replace(ctx, "labelSelector", args, place::LABEL_SELECTOR)
}

fn check_path<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    check(ctx, args, "path", &PATH_CHECK_TYPE)
}

fn check_resource<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    check(ctx, args, "resource", &RESOURCE_CHECK_TYPE)
}

fn check<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], kind: &'static str, ty: &'static OpaqueType) -> Value<'a> {
    let Some((state, verb)) = receiver(args, ty) else { return mismatch(ctx, "check", args) };
    let state = state.get(..place::ORIGIN).unwrap_or(state);
    let [namespace, name, attributes @ ..] = state else { return mismatch(ctx, "check", args) };
    let parts = [&[Value::String(kind), *namespace, *name, Value::String(verb)], attributes].concat();
    let question = Question { kind: QUESTION, parts: ctx.arena.alloc_slice_copy(&parts) };
    let Some(answer) = ctx.host.ask(ctx, &question) else { return ctx.set_halt(Halt::NeedsInput) };
    let list = ListView::of(answer);
    let answer = |i| list.and_then(|list| list.get(i));
    match (answer(0), answer(1), answer(2)) {
        (
            Some(decision @ Value::Int(_)),
            Some(reason @ Value::String(_)),
            Some(error @ (Value::String(_) | Value::Null)),
        ) => opaque(ctx, &DECISION_TYPE, &[decision, reason, error]),
        _ => ctx.error("internal error: the answer to an authorization check has a wrong form"),
    }
}

/// Reads a decision.
fn read<'a>(
    ctx: &EvalContext<'a>,
    function: &str,
    args: &[Value<'a>],
    result: impl Fn(Value<'a>, Value<'a>, Value<'a>) -> Value<'a>,
) -> Value<'a> {
    match args {
        [decision] => match fields(decision, &DECISION_TYPE) {
            Some([decision, reason, error]) => result(*decision, *reason, *error),
            _ => mismatch(ctx, function, args),
        },
        _ => mismatch(ctx, function, args),
    }
}

fn errored<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    read(ctx, "errored", args, |_, _, error| Value::Bool(!matches!(error, Value::Null)))
}

fn error<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    read(ctx, "error", args, |_, _, error| if matches!(error, Value::Null) { Value::String("") } else { error })
}

fn allowed<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    read(ctx, "allowed", args, |decision, _, _| Value::Bool(matches!(decision, Value::Int(1))))
}

fn reason<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    read(ctx, "reason", args, |_, reason, _| reason)
}

/// So much that an expression can afford two.
fn check_cost<'a>(_: &EvalContext<'a>, _: &[Value<'a>], _: Value<'a>) -> u64 {
    350_000
}

/// Parsing, and a list and a struct for each of as many requirements as the selector's length allows.
fn selector_cost<'a>(_: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    const LIST: u64 = 10;
    const REQUIREMENT: u64 = 10 + 40;
    let length = cost::size_at(args, 1);
    let requirements = (length as f64 * 0.5).ceil() as u64;
    LIST.saturating_add(cost::traversal(length)).saturating_add(requirements.saturating_mul(REQUIREMENT))
}

#[cfg(test)]
mod tests;
