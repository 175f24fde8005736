//! Evaluates the expressions read from standard input, one a line, and prints value or error, and cost
//! (`tests/differential/libraries`, which compares with upstream). With `printable` as argument, prints the ranges of
//! code points that Go prints as they are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, Write as _};
use std::sync::Arc;

use bumpalo::Bump;
use celgate_cel::check::check;
use celgate_cel::context::{EvalContext, Halt, Host, Question};
use celgate_cel::decls::VariableDecl;
use celgate_cel::env::Env;
use celgate_cel::eval::Slots;
use celgate_cel::function::FunctionTable;
use celgate_cel::parser::{ParseOptions, parse};
use celgate_cel::plan::{PlanOptions, plan};
use celgate_cel::types::Type;
use celgate_cel::value::{ListView, MapValue, MapView, Value};
use celgate_k8s::authz::{RequestResource, authorizer_value, request_resource_value};
use celgate_k8s::environment::{Version, env_builder, function_table};
use celgate_k8s::gotext;
use celgate_k8s::types::{AdmissionTypes, OptionalVariables, variables};

/// Kubernetes' limit for one expression.
const COST_LIMIT: u64 = 1_000_000;

const SLOTS: [&str; 5] = ["authorizer", "authorizer.requestResource", "texts", "request", "namespaceObject"];

fn main() -> std::io::Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    if std::env::args().nth(1).as_deref() == Some("printable") {
        return printable(&mut out);
    }
    let declared = variables(OptionalVariables { params: false, authorizer: true });
    let texts_variable = VariableDecl::new("texts", Type::map(Type::String, Type::String));
    let env = env_builder(Version::STORED)
        .build()
        .with_provider(Arc::new(AdmissionTypes))
        .with_variables(declared.into_iter().filter(|v| SLOTS.contains(&v.name.as_str())).chain([texts_variable]));
    let functions = function_table(Version::STORED);
    let texts = texts();
    let mut arena = Bump::new();
    for line in std::io::stdin().lock().lines() {
        let result = evaluate(&arena, &env, &functions, &texts, &line?);
        writeln!(out, "{result}")?;
        arena.reset();
    }
    out.flush()
}

/// The values of the variable of that name; the Go side builds the same.
fn texts() -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("nines", "9".repeat(100_000)),
        ("points", format!("0.{}", "3".repeat(100_000))),
        ("labels", format!("{}a", "a.".repeat(50_000))),
        ("long", "é".repeat(60_000)),
        ("pairs", format!("/p?{}k=w", "k=v&".repeat(9_999))),
        ("toMany", format!("/p?{}k=w", "k=v&".repeat(10_000))),
    ])
}

/// Decides by verb, and gives what it was asked as the reason, in the words of the Go side.
struct Echo;

impl<'a> Host<'a> for Echo {
    fn ask(&self, ctx: &EvalContext<'a>, question: &Question<'a>) -> Option<Value<'a>> {
        let part = |i: usize| match question.parts.get(i) {
            Some(Value::String(text)) => *text,
            _ => "",
        };
        let user = match question.parts.get(1) {
            Some(Value::String(namespace)) => format!("system:serviceaccount:{namespace}:{}", part(2)),
            _ => "bob".to_owned(),
        };
        let is_resource = part(0) == "resource";
        let quoted = |i| gotext::quote(part(i));
        let attributes = if is_resource {
            let path = format!("{}/{}/{}/{}/{} \"\"", quoted(4), quoted(5), quoted(6), quoted(7), quoted(8));
            // Blanks alone are no requirement for labels, and an error for fields.
            let labels = part(10).trim_matches([' ', '\t', '\r', '\n']);
            format!("{path} fields {} labels {}", !part(9).is_empty(), !labels.is_empty())
        } else {
            format!("\"\"/\"\"/\"\"/\"\"/\"\" {} fields false labels false", quoted(4))
        };
        let reason = format!("{user} {} {is_resource} {attributes}", part(3));
        let (decision, error) = match part(3) {
            "get" => (1, Value::Null),
            "fail" => (2, Value::String("no")),
            _ => (0, Value::Null),
        };
        let reason = Value::String(ctx.arena.alloc_str(&reason));
        Some(Value::List(ctx.arena.alloc_slice_copy(&[Value::Int(decision), reason, error])))
    }
}

fn evaluate(
    arena: &Bump,
    env: &Env,
    functions: &FunctionTable,
    texts: &BTreeMap<&'static str, String>,
    expression: &str,
) -> String {
    let checked = match parse(expression, &ParseOptions::kubernetes()).and_then(|ast| check(ast, env)) {
        Ok(checked) => checked,
        Err(issues) => return format!("does not compile: {}", quote(&issues.to_string())),
    };
    let program = match plan(&checked, &PlanOptions { variables: &SLOTS, functions }) {
        Ok(program) => program,
        Err(error) => return format!("no program: {}", quote(&error.to_string())),
    };
    let ctx = EvalContext::new(arena, &Echo, COST_LIMIT);
    let entries: Vec<_> = texts.iter().map(|(k, v)| (Value::String(k), Value::String(v))).collect();
    let request =
        RequestResource { group: "apps", resource: "deployments", subresource: "scale", namespace: "ns", name: "web" };
    let values = [
        Some(authorizer_value(&ctx)),
        Some(request_resource_value(&ctx, &request)),
        Some(Value::Map(MapValue::from_pairs(arena, entries))),
        None,
        None,
    ];
    let value = program.eval(&ctx, &Slots(&values));
    let error = match (value, ctx.halt()) {
        (_, Some(Halt::Panic(message))) => message,
        (_, Some(_)) => "operation cancelled: actual cost limit exceeded",
        (Value::Error(error), None) => error.message,
        (value, None) => return format!("{} cost {}", show(&ctx, value), ctx.cost()),
    };
    format!("error {} cost {}", quote(error), ctx.cost())
}

fn quote(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

fn show<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Uint(u) => format!("{u}u"),
        Value::Double(d) if d.is_nan() => "NaN".to_owned(),
        Value::Double(d) => format!("double {:x}", d.to_bits()),
        Value::String(text) => quote(text),
        Value::Bytes(bytes) => format!("bytes {}", bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()),
        Value::Duration(duration) => format!("duration {}", duration.nanos),
        Value::Timestamp(time) => format!("timestamp {}.{:09}", time.seconds, time.nanos),
        Value::Type(name) => format!("type {name}"),
        Value::Optional(inner) => inner.map_or("none".to_owned(), |v| format!("some({})", show(ctx, *v))),
        value => {
            if let Some(list) = ListView::of(value) {
                let items: Vec<String> = list.iter().map(|item| show(ctx, item)).collect();
                return format!("[{}]", items.join(", "));
            }
            let Some(map) = MapView::of(value) else { return value.type_name().to_owned() };
            let order = map.order(ctx);
            let mut entries: Vec<String> = (0..order.len())
                .filter_map(|i| order.entry(ctx, i))
                .map(|(key, value)| format!("{}: {}", show(ctx, key), show(ctx, value)))
                .collect();
            entries.sort();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

fn printable(out: &mut impl std::io::Write) -> std::io::Result<()> {
    let mut start = None;
    for code in 0x80..=0x11_0000 {
        match (char::from_u32(code).is_some_and(gotext::is_print), start) {
            (true, None) => start = Some(code),
            (false, Some(first)) => {
                writeln!(out, "{first:x} {:x}", code - 1)?;
                start = None;
            }
            _ => {}
        }
    }
    out.flush()
}
