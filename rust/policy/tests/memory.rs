//! Peak memory of hostile policies over an object of 3 MiB: what docs/limits.md states. Time is printed, not checked; see it with
//! `cargo test --release -p celgate-policy --test memory -- --nocapture`. Then what small policies keep, of which there can be many.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use celgate_policy::{Binding, Engine, Hook, Outcome, Plan, Policy};
use celgate_testkit::request::Request;
use common::{Run, Snapshot};
use serde_json::{Value, json};

/// What evaluating one request may take besides the request itself.
const EVALUATION: u64 = 384 << 20;
/// What compiling one policy may take.
const COMPILATION: u64 = 192 << 20;

/// Objects of 3 MiB as JSON.
fn object(kind: &str) -> Value {
    const SIZE: usize = 3 << 20;
    match kind {
        "text" => json!({"a": "a".repeat(SIZE)}),
        "wide" => json!({"a": "é".repeat(SIZE / 2)}),
        "list" => json!({"a": vec![1; SIZE / 2]}),
        "words" => json!({"a": (0..SIZE / 16).map(|i| format!("word-{i:08}")).collect::<Vec<_>>()}),
        "map" => {
            json!({"a": (0..SIZE / 20).map(|i| (format!("key-{i:08}"), json!(i))).collect::<serde_json::Map<_, _>>()})
        }
        "nested" => json!({"a": (0..64).fold(json!(1), |inner, _| json!([inner]))}),
        other => panic!("no object {other}"),
    }
}

fn peak(work: impl FnOnce()) -> (u64, Duration) {
    let mut took = Duration::ZERO;
    let counted = allocation_counter::measure(|| {
        let start = Instant::now();
        work();
        took = start.elapsed();
    });
    (counted.bytes_max, took)
}

/// A policy with these variables `v0`, `v1`, ... and validations.
fn spec(variables: &[String], validations: &[String]) -> Value {
    let variables: Vec<Value> = variables
        .iter()
        .enumerate()
        .map(|(i, expression)| json!({"name": format!("v{i}"), "expression": expression}))
        .collect();
    let validations: Vec<Value> = validations.iter().map(|expression| json!({"expression": expression})).collect();
    json!({"variables": variables, "validations": validations})
}

fn one(expression: &str) -> Value {
    spec(&[], &[expression.to_owned()])
}

fn evaluations() -> Vec<(&'static str, &'static str, Value)> {
    let doubling = |first: &str, step: &str, levels: usize, last: &str| {
        let mut variables = vec![first.to_owned()];
        variables.extend((1..levels).map(|i| step.replace('$', &format!("variables.v{}", i - 1))));
        spec(&variables, &[last.replace('$', &format!("variables.v{}", levels - 1))])
    };
    let many = |expression: &str, count: usize| spec(&[], &vec![expression.to_owned(); count]);
    let each = |expression: &str, count: usize| {
        let variables: Vec<String> = vec![expression.to_owned(); count];
        let read: Vec<String> = (0..count).map(|i| format!("size(variables.v{i}) >= 0")).collect();
        spec(&variables, &read)
    };
    vec![
        ("a string concatenated", "text", one("[1,2,3].map(i, object.a + object.a).size() == 3")),
        ("a string doubled by variables", "text", doubling("object.a", "$ + $", 8, "$.size() > 0")),
        (
            "concatenations in a loop",
            "text",
            one("lists.range(1000).all(i, (object.a.substring(0, 4000) + 'x').size() > 0)"),
        ),
        ("replace in a loop", "text", one("lists.range(10000).all(i, 'a'.replace('a', object.a) != '')")),
        ("replace, kept", "text", one("lists.range(10000).map(i, 'a'.replace('a', object.a)).size() > 0")),
        (
            "replace to the limit",
            "text",
            one("lists.range(1000).all(i, 'aaaaaaaaaaaaaaaaaaaa'.replace('a', object.a) != '')"),
        ),
        ("format in a loop", "text", one("lists.range(10000).all(i, '%s%s'.format([object.a, object.a]) != '')")),
        ("format of a list", "list", one("lists.range(10000).all(i, '%s'.format([object.a]) != '')")),
        ("format of a map", "map", one("lists.range(10000).all(i, '%s'.format([object.a]) != '')")),
        (
            "format of a list that shares its parts",
            "nested",
            doubling("[object.a]", "[$, $]", 60, "'%s'.format([$]) != ''"),
        ),
        ("join", "words", one("object.a.join('-').size() > 0 && object.a.join('-').size() > 0")),
        ("join in a loop", "words", one("lists.range(1000).all(i, object.a.join('') != '')")),
        ("quote in a loop", "text", one("lists.range(1000).all(i, strings.quote(object.a) != '')")),
        ("upperAscii", "text", many("object.a.upperAscii() != ''", 30)),
        ("split to characters", "text", one("object.a.split('').size() > 0")),
        ("split to characters, many", "text", each("object.a.split('')", 30)),
        ("findAll", "text", one("object.a.findAll('a').size() > 0")),
        ("findAll, many", "text", each("object.a.findAll('')", 4)),
        ("a list mapped", "list", one("object.a.map(x, [x]).size() > 0")),
        ("many lists mapped", "list", each("object.a.slice(0, 100000).map(x, [x, x])", 60)),
        ("a map built", "list", one("object.a.transformMap(i, v, [v]).size() > 0")),
        ("nested maps", "list", one("object.a.transformMap(i, v, object.a.transformMap(j, w, w)).size() > 0")),
        ("many maps built", "list", each("object.a.slice(0, 60000).transformMap(i, v, v)", 60)),
        ("a map transformed", "map", one("object.a.transformMap(k, v, {k: v}).size() > 0")),
        (
            "a large literal in a loop",
            "list",
            one(&format!("object.a.all(i, [{}dyn(i)].size() > 0)", "dyn(1), ".repeat(8_000))),
        ),
        ("a large map literal in a loop", "list", {
            let entries: String = (0..5_000).map(|i| format!("'{i}': dyn(1), ")).collect();
            one(&format!("object.a.all(i, {{{entries} 'i': dyn(i)}}.size() > 0)"))
        }),
        ("lists.range", "nested", one("lists.range(900000).size() > 0")),
        ("lists.range, many", "nested", each("lists.range(900000)", 60)),
        ("lists added", "list", doubling("object.a", "$ + $", 40, "$.size() > 0")),
        ("lists added and copied", "list", doubling("object.a", "$ + $", 40, "$.reverse().size() > 0")),
        ("lists added and sliced", "list", doubling("object.a", "$ + $", 20, "$.slice(1, size($) - 1).size() > 0")),
        ("lists added and sorted", "list", doubling("object.a", "$ + $", 20, "$.sort().size() > 0")),
        ("lists added and mapped", "list", doubling("object.a", "$ + $", 20, "$.map(x, x).size() > 0")),
        (
            "flatten of a list that shares its parts",
            "nested",
            doubling("[1]", "[$, $]", 50, "$.flatten(60).size() > 0"),
        ),
        (
            "flatten once, of a list that shares its parts",
            "list",
            doubling("[object.a, object.a, object.a]", "$ + $", 12, "$.flatten().size() > 0"),
        ),
        (
            "indexOf in a list that shares its parts",
            "nested",
            doubling("[1]", "[$, $]", 50, "$.indexOf(1) > 0 || true"),
        ),
        ("comparison of lists that share their parts", "nested", doubling("[1]", "[$, $]", 50, "$ == $ + []")),
        ("sets of lists that share their parts", "nested", doubling("[1]", "[$, $]", 50, "sets.contains([$], [$])")),
        ("sorted", "words", one("object.a.slice(0, 600).sort().size() > 0")),
        ("distinct", "words", one("object.a.distinct().size() > 0 || true")),
        ("optionals", "list", one("object.a.map(x, optional.of(optional.of(x))).size() > 0")),
        ("errors that quote a string", "text", one("lists.range(10000).all(i, {'a': 1}[object.a] == 1 || true)")),
        ("errors that quote a string, straight", "text", one(&vec!["{}[object.a]"; 4_000].join(" == 1 || "))),
        ("errors that quote a list", "list", one("lists.range(10000).all(i, [?dyn(object.a)] == [] || true)")),
        ("errors that quote what shares its parts", "nested", doubling("[1]", "[$, $]", 50, "[?dyn($)] == []")),
        ("errors kept by many validations", "text", many("{}[object.a] == 1", 300)),
        ("join errors", "list", one("lists.range(10000).all(i, [dyn(object.a)].join() == '' || true)")),
        ("conversions", "wide", one("lists.range(10000).all(i, string(bytes(object.a)) != '')")),
        ("bytes added", "text", one("[1,2,3,4].map(i, bytes(object.a) + bytes(object.a)).size() > 0")),
        ("computed patterns", "text", one("lists.range(100).all(i, !'b'.matches('\\\\pL{150}' + string(i)))")),
        (
            "computed small patterns",
            "text",
            one("lists.range(10000).all(i, !'b'.matches('^[a-z]{1,63}$' + string(i)))"),
        ),
        ("matching a long text", "text", one("object.a.substring(0, 100000).matches('(a|b|ab)*c') || true")),
        (
            "url queries",
            "text",
            one(
                "lists.range(1000).all(i, url('/?' + object.a.substring(0, 5000).replace('a', 'a&')).getQuery().size() > 0)",
            ),
        ),
        (
            "large quantities",
            "text",
            one("lists.range(100).all(i, isQuantity(object.a.substring(0, 10000).replace('a', '9')))"),
        ),
        ("timestamps as text", "list", one("object.a.map(i, string(timestamp(i))).size() > 0")),
        (
            "messages",
            "text",
            json!({"validations": (0..100).map(|_| json!({"expression": "false",
            "messageExpression": "object.a.upperAscii()"})).collect::<Vec<_>>()}),
        ),
        (
            "annotations",
            "text",
            json!({"validations": [{"expression": "true"}],
            "auditAnnotations": (0..20).map(|i| json!({"key": format!("k{i}"), "valueExpression": "object.a.upperAscii()"})).collect::<Vec<_>>()}),
        ),
        (
            "match conditions",
            "text",
            json!({"validations": [{"expression": "true"}],
            "matchConditions": (0..64).map(|i| json!({"name": format!("c{i}"), "expression": "{}[object.a] == 1"})).collect::<Vec<_>>()}),
        ),
    ]
}

/// Policies whose expressions are costly to compile. An expression has up to 100,000 characters, a policy up to 1.5 MiB.
fn compilations() -> Vec<(&'static str, Value)> {
    let nest = |open: &str, close: &str, depth: usize, inner: &str| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    let joined = |part: &str, by: &str| vec![part; 99_000 / (part.len() + by.len())].join(by);
    let doubled = format!("[1]{}", ".map(a, {'a': a, 'b': a})".repeat(11));
    let lists = format!("[1]{}", ".map(a, [a, a])".repeat(11));
    let patterns = |pattern: &str, count: usize| -> Vec<String> {
        (0..count).map(|i| format!("'a'.matches('{pattern}{i}')")).collect()
    };
    vec![
        ("a long sum", one(&format!("{} > 0", joined("1", "+")))),
        ("a long sum of variables", one(&format!("{} > 0", joined("object.a.b", "+")))),
        ("unknown names", one(&joined("a", "+"))),
        ("syntax errors", one(&"a b ".repeat(25_000))),
        ("unterminated strings", one(&"'\n".repeat(33_000))),
        ("a large list", one(&format!("[{}].size() > 0", joined("1", ",")))),
        ("a large list of lists", one(&format!("[{}].size() > 0", joined("[]", ",")))),
        (
            "a large map",
            one(&format!("{{{}}}.size() > 0", (0..9_000).map(|i| format!("'{i}':1")).collect::<Vec<_>>().join(","))),
        ),
        ("nested lists", one(&format!("{}.size() > 0", nest("[", "]", 240, "1")))),
        ("nested comprehensions", one(&nest("[1].all(x, ", ")", 60, "true"))),
        ("chained comprehensions", one(&format!("object.a{}.size() > 0", ".map(x, x)".repeat(120)))),
        ("many comprehensions", one(&joined("object.a.all(x, x > 1)", " && "))),
        ("chained optMap", one(&format!("optional.of(1){}.hasValue()", ".optMap(x, x)".repeat(14)))),
        (
            "chained optMap of a long text",
            one(&format!("optional.of('{}'){}.hasValue()", "x".repeat(90_000), ".optMap(x, x)".repeat(14))),
        ),
        ("a type of maps that doubles", one(&format!("{doubled}.size() > 0"))),
        ("a type that doubles, many times", one(&joined(&format!("{lists}.size() > 0"), " && "))),
        ("a type that doubles too often", one(&format!("[1]{}.size() > 0", ".map(a, [a, a])".repeat(30)))),
        ("a type that doubles as a map", one(&format!("[1]{}.size() > 0", ".transformMap(a, b, {a: b})".repeat(30)))),
        ("errors that show types", one(&format!("{doubled}.map(x, {})", joined("x + 1", ",").replace(",", " == ")))),
        ("a large pattern", one("object.a.matches('\\\\pL{300}')")),
        ("a pattern beyond the limit", one("object.a.matches('\\\\pL{900}')")),
        ("large patterns in one expression", one(&patterns("\\\\pL{300}", 4).join(" || "))),
        ("large patterns in many expressions", spec(&[], &patterns("\\\\pL{300}", 8))),
        ("many expressions", spec(&[], &vec!["object.metadata.name.startsWith('a')".to_owned(); 20_000])),
        ("constants folded", one(&format!("{} != ''", joined("string(1.5)", "+")))),
        ("a constant list searched", one(&format!("1 in [{}]", joined("1", ",")))),
    ]
}

#[test]
fn compiling_stays_within_its_bound() {
    let wanted = std::env::var("ONLY").unwrap_or_default();
    for (name, spec) in compilations().into_iter().filter(|case| wanted.is_empty() || case.0 == wanted) {
        let json = json!({"metadata": {"name": "p"}, "spec": spec}).to_string();
        let mut policy = None;
        let (bytes, took) = peak(|| policy = Some(Policy::from_json(json.as_bytes()).unwrap()));
        let before = allocation_counter::measure(|| drop(policy));
        let kept = before.bytes_current.unsigned_abs();
        println!("{name} | {} MiB | {} KiB kept | {} ms", bytes >> 20, kept >> 10, took.as_millis());
        assert!(bytes <= COMPILATION || std::env::var("LOOK").is_ok(), "{name}: {bytes}");
    }
}

#[test]
fn evaluating_stays_within_its_bound() {
    let wanted = std::env::var("ONLY").unwrap_or_default();
    for (name, kind, spec) in evaluations().into_iter().filter(|case| wanted.is_empty() || case.0 == wanted) {
        let request = Request::create(object(kind));
        let mut run = Run::new(Snapshot::of(spec).plan(), &request);
        let mut calls = 0;
        let (bytes, took) = peak(|| {
            loop {
                calls += 1;
                if run.step(&[]) == Outcome::Done {
                    break;
                }
            }
        });
        let output = run.lines().join(" ");
        let output: String = output.chars().rev().take(70).collect::<Vec<_>>().into_iter().rev().collect();
        println!("{name} | {} MiB | {} ms | {calls} | {output}", bytes >> 20, took.as_millis());
        assert!(bytes <= EVALUATION || !wanted.is_empty() || std::env::var("LOOK").is_ok(), "{name}: {bytes}");
        run.scratch.reset();
    }
}

/// What a small policy and its binding may keep, and what they may add to a plan: bytes, and tenths of a block. What makes them more
/// than they are should be worth it.
const KEPT: (u64, u64) = (1_900, 175);
const PLANNED: (u64, u64) = (230, 21);

/// Checks as public policies make them: those of the benchmark.
const CHECKS: &str = include_str!("../../../benchmarks/workloads/checks.txt");

/// One of many small policies, with its binding.
fn small(i: usize) -> Hooked {
    let check = CHECKS.lines().nth(i % CHECKS.lines().count()).unwrap().replace("%d", &i.to_string());
    let policy = json!({"metadata": {"name": format!("policy-{i:04}")}, "spec": {
        "matchConstraints": {"resourceRules": [
            {"operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "scope": "*"},
        ]},
        "validations": [{"expression": check, "message": format!("check {i} failed")}],
    }});
    let binding = json!({"metadata": {"name": format!("policy-{i:04}-binding")}, "spec": {"policyName": format!("policy-{i:04}")}});
    (
        Arc::new(Policy::from_json(policy.to_string().as_bytes()).unwrap()),
        Arc::new(Binding::from_json(binding.to_string().as_bytes()).unwrap()),
    )
}

type Hooked = (Arc<Policy>, Arc<Binding>);

/// What stays of some work, for one of so many.
fn kept(of: usize, work: impl FnOnce()) -> (u64, u64) {
    let counted = allocation_counter::measure(work);
    (counted.bytes_current.unsigned_abs() / of as u64, counted.count_current.unsigned_abs() * 10 / of as u64)
}

#[test]
fn small_policies_keep_little() {
    let count = 100 * CHECKS.lines().count();
    (0..CHECKS.lines().count()).for_each(|i| drop(small(i)));
    let mut policies = Vec::with_capacity(count);
    let each = kept(count, || policies.extend((0..count).map(small)));
    let hooks = policies.iter().zip(0..).map(|((policy, _), at)| Hook {
        policy: Arc::clone(policy),
        bindings: at..at + 1,
        params: None,
        error: None,
        namespaced_params: false,
    });
    let engine = Engine::new(hooks.collect(), policies.iter().map(|(_, binding)| Arc::clone(binding)).collect());
    let (engine, key) = (Arc::new(engine), common::pod_key().to_string());
    let mut plan = None;
    let planned = kept(count, || plan = Some(Plan::new(engine, key.as_bytes()).unwrap()));
    println!("kept {each:?}, planned {planned:?}");
    for ((bytes, blocks), (most_bytes, most_blocks)) in [(each, KEPT), (planned, PLANNED)] {
        assert!(
            bytes <= most_bytes && blocks <= most_blocks,
            "{bytes} bytes in {}.{} blocks",
            blocks / 10,
            blocks % 10
        );
    }
}
