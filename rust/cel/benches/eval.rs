//! How long expressions take, cost counted, over an encoded record: `cargo bench -p celgate-cel`.
#![allow(
    clippy::expect_used,
    missing_docs,
    reason = "a benchmark that cannot go on has failed; criterion makes functions"
)]

use bumpalo::Bump;
use celgate_cel::check::check;
use celgate_cel::context::{EvalContext, NoHost};
use celgate_cel::decls::VariableDecl;
use celgate_cel::env::EnvBuilder;
use celgate_cel::function::FunctionTable;
use celgate_cel::library::{comprehensions, optional, standard};
use celgate_cel::parser::{ParseOptions, parse};
use celgate_cel::plan::{PlanOptions, Program, plan};
use celgate_cel::record::Record;
use celgate_cel::types::Type;
use celgate_cel::value::Value;
use celgate_testkit::record::{Root, encode};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

const NAMES: [&str; 3] = ["object", "numbers", "maps"];

fn program(text: &str) -> Program {
    let libraries = [&standard::LIBRARY, &optional::LIBRARY, &comprehensions::LIBRARY];
    let builder = libraries.iter().fold(EnvBuilder::new(), |builder, library| builder.functions((library.functions)()));
    let variables = NAMES.map(|name| VariableDecl { name: name.to_owned(), ty: Type::Dyn });
    let env = builder.build().with_variables(variables);
    let checked = parse(text, &ParseOptions::kubernetes()).and_then(|ast| check(ast, &env)).expect(text);
    plan(&checked, &PlanOptions { variables: &NAMES, functions: &FunctionTable::new(libraries) }).expect(text)
}

fn record(len: usize) -> Vec<u8> {
    let object = serde_json::json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web-1", "namespace": "default", "labels": {"app": "web", "tier": "front", "env": "prod"}},
        "spec": {
            "serviceAccountName": "sa", "hostNetwork": false, "priority": 7,
            "containers": (0..4).map(|i| serde_json::json!({
                "name": format!("c{i}"), "image": format!("registry.example.com/team/app{i}:v1.2.3"),
                "securityContext": {"privileged": false, "runAsUser": 1000}
            })).collect::<Vec<_>>(),
        }
    });
    let numbers = (0..len).collect::<Vec<_>>();
    let maps = (0..len).map(|i| serde_json::json!({"a": i % 10, "b": "abcdef"})).collect::<Vec<_>>();
    encode(&[Root::Typed(object), Root::Plain(numbers.into()), Root::Plain(maps.into())])
}

fn measure(c: &mut Criterion, group: &str, name: &str, len: usize, text: &str) {
    let bytes = record(len);
    let record = Record::parse(&bytes).expect("a record");
    let program = program(text);
    let mut group = c.benchmark_group(group);
    if len > 0 {
        group.throughput(Throughput::Elements(len as u64));
    }
    group.bench_function(BenchmarkId::new(name, len), |b| {
        let mut arena = Bump::new();
        b.iter(|| {
            {
                let ctx = EvalContext::new(&arena, &NoHost, u64::MAX);
                let slots: [Option<Value<'_>>; 3] = std::array::from_fn(|i| record.root(i as u32));
                std::hint::black_box(program.eval(&ctx, &slots));
            }
            arena.reset();
        });
    });
    group.finish();
}

fn benchmarks(c: &mut Criterion) {
    for (name, text) in [
        ("constant", "true"),
        ("field", "object.metadata.namespace == 'default'"),
        ("fields", "object.spec.containers[0].securityContext.runAsUser > 10 && object.spec.hostNetwork == false"),
        ("has", "has(object.metadata.labels) && has(object.metadata.labels.app) && !has(object.metadata.labels.nope)"),
        ("optional", "object.?spec.?securityContext.?runAsNonRoot.orValue(true)"),
        ("containers", "object.spec.containers.all(c, has(c.securityContext) && !c.securityContext.privileged)"),
        ("images", "object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))"),
        (
            "regex",
            "object.spec.containers.all(c, c.image.matches('^registry[.]example[.]com/[a-z]+/[a-z0-9]+:v[0-9.]+$'))",
        ),
        ("message", "'pod ' + object.metadata.name + ' has ' + string(size(object.spec.containers)) + ' containers'"),
        ("names", "object.spec.containers.map(c, c.name).filter(n, n != 'c1').size() == 3"),
    ] {
        measure(c, "policy", name, 0, text);
    }
    for len in [10, 100, 1000] {
        measure(c, "list", "all", len, "numbers.all(x, x < 1000000 && x >= 0)");
        measure(c, "list", "maps", len, "maps.all(x, x.a < 5 || x.b.startsWith('abc'))");
        measure(c, "list", "map", len, "numbers.map(x, x + 1).size() > 0");
        measure(c, "list", "tracked", len, "numbers.map(x, x in [1, 2]).size() > 0");
    }
}

criterion_group!(benches, benchmarks);
criterion_main!(benches);
