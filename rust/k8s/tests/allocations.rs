//! Evaluation allocates nothing on the heap once its arena is large enough: no expression of the corpus over a 4 KiB Pod does.

#![allow(clippy::expect_used, reason = "a test that cannot go on has failed")]

use bumpalo::Bump;
use celgate_cel::check::check;
use celgate_cel::context::{EvalContext, NoHost};
use celgate_cel::decls::VariableDecl;
use celgate_cel::parser::{ParseOptions, parse};
use celgate_cel::plan::{PlanOptions, Program, plan};
use celgate_cel::record::Record;
use celgate_cel::regex::Patterns;
use celgate_cel::types::Type;
use celgate_cel::value::{ListView, MapView, Value};
use celgate_k8s::environment::{Version, env_builder, function_table};
use celgate_testkit::record::{Root, encode};
use serde_json::{Map, Value as Json, json};

const POD: &str = include_str!("../../../benchmarks/expressions/pod.json");
const NAMES: [&str; 6] = ["object", "oldObject", "params", "request", "namespaceObject", "variables"];

/// One expression of each kind that the corpus may lack.
const OTHERS: [&str; 6] = [
    "object.metadata.name + ' in ' + object.metadata.namespace + ': ' + string(size(object.spec.containers))",
    "object.spec.containers.map(c, c.name).filter(n, n != 'server') == ['sidecar']",
    "{'name': object.metadata.name, 'labels': dyn(object.metadata.labels)}.labels.all(k, k != 'none')",
    "object.spec.containers.all(c, quantity(c.resources.limits.memory).isLessThan(quantity('1Gi')))",
    "object.spec.containers == object.spec.initContainers || object.?spec.?hostPID.orValue(false)",
    "object.spec.containers.all(c, c.image.matches(object.metadata.labels.owner) || c.image.split('/').size() > 1)",
];

/// The roots as variables.
fn roots<'a>(record: &'a Record<'a>) -> [Option<Value<'a>>; NAMES.len()] {
    std::array::from_fn(|slot| record.root(slot as u32))
}

#[test]
fn evaluation_allocates_nothing() {
    let mut guilty = Vec::new();
    let mut seen = 0;
    for expression in OTHERS {
        seen += 1;
        guilty.extend(allocations(expression, &Json::Null, &json!({})).1);
    }
    let Some(corpus) = celgate_testkit::corpus::directory("a few expressions only") else {
        assert!(guilty.is_empty(), "{}", guilty.join("\n"));
        return;
    };
    for library in ["kubescape", "pod-security-standards"] {
        for file in std::fs::read_dir(corpus.join(library)).expect("the corpus") {
            let text = std::fs::read_to_string(file.expect("a file").path()).expect("a policy");
            let policy: Json = serde_json::from_str(&text).expect("a policy");
            policy_expressions(&policy, |expression, params, variables| {
                seen += 1;
                let (value, found) = allocations(expression, params, variables);
                guilty.extend(found);
                value
            });
        }
    }
    assert!(seen > 300, "{seen} expressions only");
    assert!(guilty.is_empty(), "{} of {seen}:\n{}", guilty.len(), guilty.join("\n"));
}

/// Calls `evaluate` for each expression of a policy, with the params of the first case that has some; the values that it
/// returns for variables are the variables of the expressions that follow.
fn policy_expressions(file: &Json, mut evaluate: impl FnMut(&str, &Json, &Json) -> Json) {
    let cases = file["cases"].as_array().into_iter().flatten();
    let params = cases.map(|case| &case["params"]).find(|params| params.is_object()).unwrap_or(&Json::Null);
    let mut variables = Map::new();
    for (section, field) in [
        ("matchConditions", "expression"),
        ("variables", "expression"),
        ("validations", "expression"),
        ("validations", "messageExpression"),
        ("auditAnnotations", "valueExpression"),
    ] {
        for entry in file["policy"]["spec"][section].as_array().into_iter().flatten() {
            let Some(expression) = entry[field].as_str() else { continue };
            let value = evaluate(expression, params, &Json::Object(variables.clone()));
            if section == "variables" {
                variables.insert(entry["name"].as_str().unwrap_or_default().to_owned(), value);
            }
        }
    }
}

/// The value of an expression, and a line that says how often its second evaluation allocates, if it does.
fn allocations(expression: &str, params: &Json, variables: &Json) -> (Json, Option<String>) {
    let pod: Json = serde_json::from_str(POD).expect("the Pod");
    let request = json!({"operation": "CREATE", "userInfo": {"username": "user-1"}});
    let bytes = encode(&[
        Root::Typed(pod),
        Root::Plain(Json::Null),
        Root::Plain(params.clone()),
        Root::Plain(request),
        Root::Plain(Json::Null),
        Root::Plain(variables.clone()),
    ]);
    let record = Record::parse(&bytes).expect("a record");
    let program = program(expression);
    let patterns = Patterns::default();
    let mut arena = Bump::new();
    let value = {
        let ctx = EvalContext::new(&arena, &NoHost, 1_000_000).keeping(&patterns);
        plain(&ctx, program.eval(&ctx, &roots(&record)))
    };
    // An arena keeps its largest chunk only, which the first evaluation may not have fitted in.
    let used = arena.allocated_bytes();
    arena.reset();
    arena.alloc_slice_fill_copy(used * 2 + 4096, 0u8);
    arena.reset();
    let counted = allocation_counter::measure(|| {
        let ctx = EvalContext::new(&arena, &NoHost, 1_000_000).keeping(&patterns);
        std::hint::black_box(program.eval(&ctx, &roots(&record)));
    });
    let guilty = (counted.count_total > 0).then(|| format!("{} allocations: {expression}", counted.count_total));
    (value, guilty)
}

fn program(expression: &str) -> Program {
    let variables = NAMES.map(|name| VariableDecl { name: name.to_owned(), ty: Type::Dyn });
    let env = env_builder(Version::STORED).build().with_variables(variables);
    let checked = parse(expression, &ParseOptions::kubernetes()).and_then(|ast| check(ast, &env)).expect(expression);
    plan(&checked, &PlanOptions { variables: &NAMES, functions: &function_table(Version::STORED) }).expect(expression)
}

fn plain<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Json {
    match value {
        Value::Bool(b) => Json::from(b),
        Value::Int(i) => Json::from(i),
        Value::String(text) => Json::from(text),
        value => {
            if let Some(list) = ListView::of(value) {
                return list.iter().map(|element| plain(ctx, element)).collect();
            }
            let Some(map) = MapView::of(value) else { return Json::Null };
            let order = map.order(ctx);
            let entries = (0..order.len()).filter_map(|i| order.entry(ctx, i));
            let entry = |(key, value)| match key {
                Value::String(key) => Some((key.to_owned(), plain(ctx, value))),
                _ => None,
            };
            Json::Object(entries.filter_map(entry).collect())
        }
    }
}
