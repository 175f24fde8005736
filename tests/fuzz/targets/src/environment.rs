//! What the targets check and evaluate expressions in.

use std::sync::{Arc, LazyLock};

use celgate_cel::context::{EvalContext, Host, Question};
use celgate_cel::decls::VariableDecl;
use celgate_cel::env::Env;
use celgate_cel::function::FunctionTable;
use celgate_cel::record::OwnedRecord;
use celgate_cel::types::Type;
use celgate_cel::value::Value;
use celgate_k8s::environment::{Version, env_builder, function_table};
use celgate_k8s::types::{AdmissionTypes, OptionalVariables, variables};
use celgate_testkit::record::{Root, encode};
use serde_json::json;

/// An environment with the variables that it declares, by slot.
pub(crate) struct Environment {
    pub(crate) env: Env,
    pub(crate) names: Vec<&'static str>,
    pub(crate) functions: FunctionTable,
}

/// The variables of [`Environment::untyped`]; the roots of [`VALUES`] are their values.
const NAMES: [&str; 6] = ["object", "oldObject", "params", "texts", "numbers", "unbound"];

impl Environment {
    /// That of an admission policy, with `request` and `namespaceObject` declared.
    pub(crate) fn declared() -> &'static Environment {
        static DECLARED: LazyLock<Environment> = LazyLock::new(|| {
            let declared = variables(OptionalVariables { params: true, authorizer: true });
            let env =
                env_builder(Version::STORED).build().with_provider(Arc::new(AdmissionTypes)).with_variables(declared);
            let names = vec![
                "object",
                "oldObject",
                "params",
                "request",
                "namespaceObject",
                "authorizer",
                "authorizer.requestResource",
            ];
            Environment { env, names, functions: function_table(Version::STORED) }
        });
        &DECLARED
    }

    /// One whose variables are all `dyn`, so that most that parses runs.
    pub(crate) fn untyped() -> &'static Environment {
        static UNTYPED: LazyLock<Environment> = LazyLock::new(|| {
            let declared = NAMES.iter().map(|name| VariableDecl::new(*name, Type::Dyn));
            let env = env_builder(Version::STORED).build().with_variables(declared);
            Environment { env, names: NAMES.to_vec(), functions: function_table(Version::STORED) }
        });
        &UNTYPED
    }
}

/// Values of the untyped variables: a typed object, the like of it as a custom resource, and odd texts and numbers.
pub(crate) static VALUES: LazyLock<OwnedRecord> = LazyLock::new(|| match OwnedRecord::parse(&values()) {
    Ok(record) => record,
    Err(error) => panic!("{error:?}"),
});

/// The bytes of [`VALUES`].
pub(crate) fn values() -> Vec<u8> {
    let object = json!({
        "a": 1, "b": "text", "c": [1, 2, 3], "d": {"e": {"f": true}}, "g": null, "h": 1.5,
        "metadata": {"name": "web", "labels": {"app": "web", "tier": "é"}, "creationTimestamp": "2024-01-02T03:04:05Z"},
        "spec": {"replicas": 3, "containers": [
            {"name": "c", "image": "nginx:1", "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}}},
            {"name": "d", "image": "", "resources": {}, "ports": [{"containerPort": 80}]}]},
    });
    let texts = json!([
        "",
        "a",
        "a.b.c",
        "1Gi",
        "-0.5e3",
        "10.0.0.1",
        "::ffff:1.2.3.4",
        "10.0.0.0/8",
        "https://u@h:1/p?q=r#f",
        "1.2.3-rc.1",
        "2024-02-29T23:59:60Z",
        "1h2m",
        "é\u{10ffff}",
        "%s %d %.3f",
        "^(a|b)*$",
        "true",
    ]);
    let numbers = json!([0, -1, i64::MIN, i64::MAX, u64::MAX, 0.5, -0.0, 1e300]);
    encode(&[
        Root::Typed(object.clone()),
        Root::Plain(object.clone()),
        Root::Plain(json!({"data": {"k": "v"}, "c": [1, "x", null, {"a": []}]})),
        Root::Plain(texts),
        Root::Plain(numbers),
    ])
}

/// A host that allows some, denies some and has no opinion on the rest.
pub(crate) struct Answering;

impl<'a> Host<'a> for Answering {
    fn ask(&self, ctx: &EvalContext<'a>, question: &Question<'a>) -> Option<Value<'a>> {
        let len = question.parts.iter().filter(|part| matches!(part, Value::String(text) if !text.is_empty())).count();
        let decision = Value::Int(len as i64 % 3);
        Some(Value::List(ctx.arena.alloc_slice_copy(&[decision, Value::String("because"), Value::Null])))
    }
}
