#![allow(clippy::panic, reason = "a test that cannot go on has failed")]

use std::sync::Arc;

use super::*;
use crate::decls::{FunctionDecl, OverloadDecl, StructTable, VariableDecl};
use crate::env::EnvBuilder;
use crate::library::standard::decls;
use crate::parser::{ParseOptions, parse};

fn builder() -> EnvBuilder {
    EnvBuilder::new()
        .functions(decls::functions())
        .functions(decls::optional_functions())
        .functions(decls::two_variable_comprehension_functions())
        .optional_type_name()
}

fn env() -> Env {
    let pod = [("name", Type::String), ("count", Type::Int), ("labels", Type::map(Type::String, Type::String))];
    builder().build().with_provider(Arc::new(StructTable::new().with("k8s.Pod", pod))).with_variables([
        VariableDecl::new("object", Type::Dyn),
        VariableDecl::new("pod", Type::object("k8s.Pod")),
        VariableDecl::new("a.b", Type::Int),
    ])
}

fn checked_in(env: &Env, text: &str) -> Result<Checked, Issues> {
    check(parse(text, &ParseOptions::kubernetes())?, env)
}

fn checked(text: &str) -> Checked {
    match checked_in(&env(), text) {
        Ok(checked) => checked,
        Err(issues) => panic!("{text}: {issues}"),
    }
}

fn type_of(text: &str) -> String {
    checked(text).output.to_string()
}

/// The messages in the order in which they are printed, without positions.
fn errors_in(env: &Env, text: &str) -> Vec<String> {
    let Err(issues) = checked_in(env, text) else { panic!("{text} checks") };
    let mut errors = issues.errors().to_vec();
    errors.sort_by_key(|issue| issue.location);
    errors.into_iter().map(|issue| issue.message).collect()
}

fn errors(text: &str) -> Vec<String> {
    errors_in(&env(), text)
}

fn overloads(checked: &Checked) -> Vec<&'static str> {
    checked.references.get(&checked.ast.expr.id).map(|r| r.overloads.clone()).unwrap_or_default()
}

#[test]
fn infers_types() {
    let cases = [
        ("1 + 2", "int"),
        ("[1, 2].map(x, string(x))", "list(string)"),
        ("[]", "list(dyn)"),
        ("[[], [1]]", "list(list(int))"),
        ("[1, 'a']", "list(dyn)"),
        ("{'a': [], 'b': [1.5]}", "map(string, list(double))"),
        ("object.a.b + 1", "int"),
        ("object.a == 1 ? 'a' : object.b", "dyn"),
        ("object.a == 1 ? object.b : 'a'", "dyn"),
        ("pod.labels.app", "string"),
        ("pod.?labels.?app", "optional_type(string)"),
        ("optional.none().orValue(1)", "int"),
        ("type(1)", "type(int)"),
        ("type", "type(type)"),
        ("{'a': 1}.transformMap(k, v, k)", "map(string, string)"),
        ("google.protobuf.Int32Value{value: 1}", "wrapper(int)"),
        ("google.protobuf.NullValue.NULL_VALUE", "int"),
        ("[].exists(x, x == 1 || x == 2)", "bool"),
        ("a.b + 1", "int"),
        ("null == pod", "bool"),
    ];
    for (text, ty) in cases {
        assert_eq!(type_of(text), ty, "{text}");
    }
}

#[test]
fn says_what_is_wrong_as_cel_go_does() {
    let cases: [(&str, &[&str]); 16] = [
        ("nope", &["undeclared reference to 'nope' (in container '')"]),
        ("1 + 'a'", &["found no matching overload for '_+_' applied to '(int, string)'"]),
        ("'a'.size(1)", &["found no matching overload for 'size' applied to 'string.(int)'"]),
        ("size()", &["found no matching overload for 'size' applied to '()'"]),
        ("pod.UID", &["undefined field 'UID'"]),
        ("pod.name.x", &["type 'string' does not support field selection"]),
        ("1 && 'a'", &["expected type 'bool' but found 'int'", "expected type 'bool' but found 'string'"]),
        (
            "1.all(x, x)",
            &["expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)"],
        ),
        ("[?1]", &["expected type 'optional_type(int)' but found 'int'"]),
        ("int{}", &["'int' is not a message type"]),
        ("k8s.Pod{name: 1}", &["expected type of field 'name' is 'string' but provided type is 'int'"]),
        ("k8s.Pod{x: 1}", &["undefined field 'x'"]),
        ("int{x: 1}", &["'int' is not a message type", "unexpected failed resolution of 'int'"]),
        ("K8s.Pod{}", &["undeclared reference to 'K8s.Pod' (in container '')"]),
        ("[1].map(x, [2].all(y, z))", &["undeclared reference to 'z' (in container '')"]),
        (
            "nope.f(1 + 'a')",
            &[
                "undeclared reference to 'nope' (in container '')",
                "undeclared reference to 'f' (in container '')",
                "found no matching overload for '_+_' applied to '(int, string)'",
            ],
        ),
    ];
    for (text, messages) in cases {
        assert_eq!(errors(text), messages, "{text}");
    }
}

#[test]
fn points_at_the_expression() {
    let Err(issues) = checked_in(&env(), "object.a +\n  nope") else { panic!("checks") };
    let expected = "ERROR: <input>:2:3: undeclared reference to 'nope' (in container '')\n |   nope\n | ..^";
    assert_eq!(issues.to_string(), expected);
}

#[test]
fn notes_all_overloads_that_may_apply() {
    assert_eq!(overloads(&checked("1 + 1")), ["add_int64"]);
    assert_eq!(overloads(&checked("object.a[0]")).len(), 4);
    assert_eq!(overloads(&checked("object.a + 1")), ["add_int64"]);
    assert_eq!(overloads(&checked("pod.?name")), ["select_optional_field"]);
}

#[test]
fn rewrites_qualified_names() {
    let root = |text| checked(text).ast.expr.kind;
    assert_eq!(root("a.b"), ExprKind::Ident("a.b".to_owned()));
    assert_eq!(root(".object"), ExprKind::Ident("object".to_owned()));
    let ExprKind::Call { target: None, function, .. } = root("optional.of(1)") else { panic!("has a receiver") };
    assert_eq!(function, "optional.of");
}

#[test]
fn comprehension_variables_hide_names() {
    assert_eq!(type_of("['x'].map(object, object)"), "list(string)");
    assert_eq!(type_of("['x'].map(object, .object)"), "list(dyn)");
    assert_eq!(type_of("[{'b': 'x'}].map(a, a.b)"), "list(string)");
    assert_eq!(type_of("['x'].map(a, .a.b)"), "list(int)");
    let hidden = checked("['x'].map(object, .object)");
    assert!(hidden.references.values().any(|reference| reference.name == ".object"));
}

#[test]
fn names_are_looked_up_in_the_container() {
    let env = builder()
        .container("x.y")
        .build()
        .with_variables([VariableDecl::new("x.y.v", Type::Int), VariableDecl::new("x.w", Type::Uint)]);
    let ty = |text| checked_in(&env, text).map(|checked| checked.output.to_string());
    assert_eq!(ty("v"), Ok("int".to_owned()));
    assert_eq!(ty("w"), Ok("uint".to_owned()));
    assert_eq!(errors_in(&env, "z"), ["undeclared reference to 'z' (in container 'x.y')"]);
    assert_eq!(errors_in(&env, ".v"), ["undeclared reference to '.v' (in container 'x.y')"]);
}

#[test]
fn comparisons_across_types_can_be_off_until_a_comprehension() {
    let env = builder().cross_type_numeric_comparisons(false).build();
    assert_eq!(errors_in(&env, "1 < 2.0"), ["found no matching overload for '_<_' applied to '(int, double)'"]);
    assert!(checked_in(&env, "[1].all(x, x < 2.0)").is_ok());
    assert!(checked_in(&env, "1 < 2").is_ok());
}

#[test]
fn overloads_of_one_function_come_from_several_libraries() {
    let more = FunctionDecl::new(
        "size",
        vec![
            OverloadDecl::global("size_string", vec![Type::String], Type::Int),
            OverloadDecl::global("size_pod", vec![Type::object("k8s.Pod")], Type::Int),
        ],
    );
    let env = builder().functions([more]).build().with_variables([VariableDecl::new("object", Type::Dyn)]);
    let Ok(checked) = checked_in(&env, "size(object)") else { panic!("does not check") };
    assert_eq!(overloads(&checked), ["size_bytes", "size_list", "size_map", "size_string", "size_pod"]);
}

#[test]
fn deep_expressions_fit_a_small_stack() {
    let deep = [
        format!("{}1{}", "[".repeat(230), "]".repeat(230)),
        format!("object{}", ".a".repeat(240)),
        format!("1{}", " + 1".repeat(240)),
        format!("{}true{}", "[1].all(x, ".repeat(120), ")".repeat(120)),
        format!("[1]{}", ".map(x, x)".repeat(240)),
        vec!["true"; 10_000].join(" && "),
    ];
    let check_all = move || {
        for text in &deep {
            assert!(checked_in(&env(), text).is_ok(), "{text}");
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(check_all);
    assert!(thread.is_ok_and(|thread| thread.join().is_ok()));
}

#[test]
fn types_that_double_are_cut_off() {
    let nest = (1..80).rev().fold("a79".to_owned(), |inner, i| {
        let outer = i - 1;
        format!("[{{a{outer}: a{outer}}}].map(a{i}, {inner})")
    });
    let messages = errors(&format!("[1].map(a0, {nest})"));
    assert!(messages.iter().any(|message| message == "type is too large"), "{messages:?}");
}
