use std::cell::RefCell;

use bumpalo::Bump;
use celgate_cel::context::Host;

use super::*;
use crate::testing::{call, equal, show, text, with_context};

/// Remembers questions; allows the verb `get`, fails on `fail`, has no answer for `later`.
#[derive(Default)]
struct Answers {
    asked: RefCell<Vec<String>>,
}

impl<'a> Host<'a> for Answers {
    fn ask(&self, ctx: &EvalContext<'a>, question: &Question<'a>) -> Option<Value<'a>> {
        self.asked.borrow_mut().push(show(Value::List(question.parts)));
        let verb = question.parts.get(3).map(|verb| show(*verb)).unwrap_or_default();
        let (decision, error) = match verb.as_str() {
            "\"get\"" => (1, Value::Null),
            "\"fail\"" => (2, text(ctx, "no")),
            "\"later\"" => return None,
            _ => (0, Value::Null),
        };
        Some(Value::List(ctx.arena.alloc_slice_copy(&[Value::Int(decision), text(ctx, "because"), error])))
    }
}

fn run(ids: &[(&str, &[&str])], from_request: bool) -> (String, Vec<String>, Option<Halt>) {
    let arena = Bump::new();
    let answers = Answers::default();
    let (shown, halt) = {
        let ctx = EvalContext::new(&arena, &answers, u64::MAX);
        let request = RequestResource {
            group: "apps",
            resource: "deployments",
            subresource: "scale",
            namespace: "ns",
            name: "web",
        };
        let mut value = if from_request { request_resource_value(&ctx, &request) } else { authorizer_value(&ctx) };
        for (id, strings) in ids {
            let library = if id.ends_with("selector") { &SELECTORS_LIBRARY } else { &LIBRARY };
            let args: Vec<Value<'_>> = std::iter::once(value).chain(strings.iter().map(|s| text(&ctx, s))).collect();
            value = call(&ctx, library, id, &args);
        }
        (show(value), ctx.halt())
    };
    (shown, answers.asked.into_inner(), halt)
}

#[test]
fn a_path() {
    let (allowed, asked, _) =
        run(&[("authorizer_path", &["/healthz"]), ("pathcheck_check", &["get"]), ("decision_allowed", &[])], false);
    assert_eq!(allowed, "true");
    assert_eq!(asked, [r#"["path", null, null, "get", "/healthz"]"#]);
    assert_eq!(run(&[("authorizer_path", &[" \u{a0}"])], false).0, "error: path must not be empty");
}

#[test]
fn a_resource_with_everything() {
    let (reason, asked, _) = run(
        &[
            ("authorizer_serviceaccount", &["ns", "sa"]),
            ("authorizer_group", &["apps"]),
            ("groupcheck_resource", &["deployments"]),
            ("resourcecheck_name", &["web"]),
            ("resourcecheck_namespace", &["prod"]),
            ("resourcecheck_subresource", &["scale"]),
            ("authorizer_labelselector", &["a=b"]),
            ("authorizer_fieldselector", &["x.y=z"]),
            ("resourcecheck_check", &["list"]),
            ("decision_reason", &[]),
        ],
        false,
    );
    assert_eq!(reason, "\"because\"");
    let parts = r#"["resource", "ns", "sa", "list", "apps", "deployments", "scale", "prod", "web", "x.y=z", "a=b"]"#;
    assert_eq!(asked, [parts]);
}

#[test]
fn the_requests_own_resource() {
    let (errored, asked, _) = run(&[("resourcecheck_check", &["fail"]), ("decision_errored", &[])], true);
    assert_eq!(errored, "true");
    assert_eq!(asked, [r#"["resource", null, null, "fail", "apps", "deployments", "scale", "ns", "web", "", ""]"#]);
    assert_eq!(run(&[("resourcecheck_check", &["fail"]), ("decision_error", &[])], true).0, "\"no\"");
    assert_eq!(run(&[("resourcecheck_check", &["get"]), ("decision_error", &[])], true).0, "\"\"");
}

#[test]
fn no_answer_stops_the_evaluation() {
    let (shown, _, halt) = run(&[("resourcecheck_check", &["later"])], true);
    assert_eq!((shown.as_str(), halt), ("halt", Some(Halt::NeedsInput)));
}

#[test]
fn service_accounts_have_valid_names() {
    let account = |namespace, name| run(&[("authorizer_serviceaccount", &[namespace, name])], false).0;
    assert_eq!(account("ns", "not@valid"), "error: Invalid service account name");
    assert_eq!(account("a.b", "sa"), "error: Invalid service account namespace");
    assert_eq!(account("ns", "a.b"), AUTHORIZER);
}

#[test]
fn nothing_equals_an_authorizer() {
    with_context(|ctx| {
        let authorizer = authorizer_value(ctx);
        assert_eq!(equal(ctx, authorizer, authorizer), "error: no such overload");
    });
}

#[test]
fn selectors_cost_by_length() {
    with_context(|ctx| {
        let cost = |s: &str| selector_cost(ctx, &[Value::Null, text(ctx, s)], Value::Null);
        assert_eq!((cost(""), cost("a=b"), cost(&"k".repeat(100))), (10, 111, 10 + 10 + 50 * 50));
    });
}
