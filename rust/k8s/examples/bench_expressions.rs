//! Evaluates expressions for `benchmarks/expressions`, which measures this process from outside and lets its rounds take turns
//! with those of other evaluators.
//!
//! The argument is a directory with `cases.json` and `record.bin`. Commands come in lines, each is answered by a line:
//! `show ENGINE CASE` by `cost<TAB>value` or `-<TAB>reason`, `run ENGINE CASE COUNT` by `done` after so many evaluations.
//! Engines are `celgate` and `cel-crate` (the `cel` crate, which counts no cost).

use std::cell::OnceCell;
use std::io::{BufRead as _, Write as _};
use std::path::Path;

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
use serde::Deserialize;

type Error = Box<dyn std::error::Error>;

const COST_LIMIT: u64 = 1_000_000;

/// Evaluations that share a context and variables, as the expressions of a request do. (cel-go is given its variables once for all.)
const TOGETHER: usize = 16;

/// `cases.json`.
#[derive(Deserialize)]
struct Input {
    /// The roots of the record, as JSON.
    values: Vec<serde_json::Value>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    expression: String,
    names: Vec<String>,
    /// For each name the root that it is bound to.
    roots: Vec<u32>,
}

fn main() -> Result<(), Error> {
    let dir = std::env::args().nth(1).ok_or("usage: bench_expressions DIRECTORY <COMMANDS")?;
    let input: Input = serde_json::from_str(&std::fs::read_to_string(Path::new(&dir).join("cases.json"))?)?;
    let bytes = std::fs::read(Path::new(&dir).join("record.bin"))?;
    let record = Record::parse(&bytes).map_err(|error| format!("{error:?}"))?;
    let ours = Celgate::new(&input.cases, &record);
    let theirs = CelCrates { input: &input, cases: input.cases.iter().map(|_| OnceCell::new()).collect() };
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match words.as_slice() {
            ["show", "celgate", case] => ours.show(case.parse()?),
            ["show", "cel-crate", case] => theirs.get(case.parse()?).map_or_else(String::new, CelCrate::show),
            ["run", engine, case, count] => {
                let (case, count) = (case.parse()?, count.parse()?);
                match *engine {
                    "celgate" => ours.run(case, count),
                    _ => theirs.get(case).into_iter().for_each(|case| case.run(count)),
                }
                "done".to_owned()
            }
            _ => return Err(format!("no such command: {line}").into()),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

struct Celgate<'i> {
    cases: &'i [Case],
    programs: Vec<Result<Program, String>>,
    record: &'i Record<'i>,
}

impl<'i> Celgate<'i> {
    fn new(cases: &'i [Case], record: &'i Record<'i>) -> Self {
        let functions = function_table(Version::STORED);
        let program = |case: &Case| {
            let variable = |name: &String| VariableDecl { name: name.clone(), ty: Type::Dyn };
            let env = env_builder(Version::STORED).build().with_variables(case.names.iter().map(variable));
            let names: Vec<&str> = case.names.iter().map(String::as_str).collect();
            let checked = parse(&case.expression, &ParseOptions::kubernetes()).and_then(|ast| check(ast, &env));
            let checked = checked.map_err(|issues| issues.to_string())?;
            plan(&checked, &PlanOptions { variables: &names, functions: &functions }).map_err(|error| error.to_string())
        };
        Celgate { cases, programs: cases.iter().map(program).collect(), record }
    }

    /// Variables that are roots of the record.
    fn variables<'a>(&'a self, arena: &'a Bump, case: &Case) -> &'a [Option<Value<'a>>] {
        arena.alloc_slice_fill_iter(case.roots.iter().map(|root| self.record.root(*root)))
    }

    fn show(&self, case: usize) -> String {
        let (Some(Ok(program)), Some(case)) = (self.programs.get(case), self.cases.get(case)) else {
            return "-\tdoes not compile".to_owned();
        };
        let arena = Bump::new();
        let ctx = EvalContext::new(&arena, &NoHost, COST_LIMIT);
        let value = program.eval(&ctx, self.variables(&arena, case));
        format!("{}\t{}", ctx.cost(), show(&ctx, value))
    }

    fn run(&self, case: usize, count: usize) {
        let (Some(Ok(program)), Some(case)) = (self.programs.get(case), self.cases.get(case)) else {
            return;
        };
        let (mut arena, patterns) = (Bump::new(), Patterns::default());
        let mut left = count;
        while left > 0 {
            let together = left.min(TOGETHER);
            {
                let ctx = EvalContext::new(&arena, &NoHost, COST_LIMIT).keeping(&patterns);
                let variables = self.variables(&arena, case);
                for _ in 0..together {
                    ctx.renew();
                    let value = program.eval(&ctx, variables);
                    std::hint::black_box((value, ctx.cost()));
                }
            }
            arena.reset();
            left -= together;
        }
    }
}

fn show<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> String {
    match value {
        Value::Error(_) | Value::Halt => "error".to_owned(),
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Double(d) => format!("{d:?}"),
        Value::String(text) => serde_json::Value::from(text.to_string()).to_string(),
        value => {
            if let Some(list) = ListView::of(value) {
                let parts: Vec<String> = list.iter().map(|part| show(ctx, part)).collect();
                return format!("[{}]", parts.join(","));
            }
            let Some(map) = MapView::of(value) else {
                return value.type_name().to_owned();
            };
            let order = map.order(ctx);
            let entries = (0..order.len()).filter_map(|i| order.entry(ctx, i));
            let mut parts: Vec<String> =
                entries.map(|(key, value)| format!("{}:{}", show(ctx, key), show(ctx, value))).collect();
            parts.sort();
            format!("{{{}}}", parts.join(","))
        }
    }
}

/// The `cel` crate with all cases, prepared when first asked for.
struct CelCrates<'i> {
    input: &'i Input,
    cases: Vec<OnceCell<CelCrate<'i>>>,
}

impl<'i> CelCrates<'i> {
    fn get(&self, index: usize) -> Option<&CelCrate<'i>> {
        let case = self.input.cases.get(index)?;
        Some(self.cases.get(index)?.get_or_init(|| CelCrate::new(case, &self.input.values)))
    }
}

/// The `cel` crate with one expression; the text says why it cannot run it.
struct CelCrate<'i>(Result<(cel::Program, cel::Context<'i, 'i>), String>);

impl CelCrate<'_> {
    fn new(case: &Case, values: &[serde_json::Value]) -> Self {
        // Its parser panics on some expressions.
        let compiled = std::panic::catch_unwind(|| cel::Program::compile(&case.expression));
        let program = match compiled {
            Ok(Ok(program)) => program,
            Ok(Err(error)) => return CelCrate(Err(error.to_string())),
            Err(_) => return CelCrate(Err("panic".to_owned())),
        };
        let mut context = cel::Context::default();
        for (name, root) in case.names.iter().zip(&case.roots) {
            if let Some(Ok(value)) = values.get(*root as usize).map(cel::to_value) {
                context.add_variable_from_value(name.clone(), value);
            }
        }
        CelCrate(Ok((program, context)))
    }

    fn show(&self) -> String {
        match &self.0 {
            Ok((program, context)) => match program.execute(context) {
                Ok(value) => format!("0\t{}", show_cel(&value)),
                // Where Kubernetes' environment gives an error as well, texts differ anyway.
                Err(error) => format!("0\terror\t{}", error.to_string().replace(['\n', '\t'], " ")),
            },
            Err(reason) => format!("-\t{}", reason.replace(['\n', '\t'], " ")),
        }
    }

    fn run(&self, count: usize) {
        if let Ok((program, context)) = &self.0 {
            for _ in 0..count {
                let _ = std::hint::black_box(program.execute(context));
            }
        }
    }
}

fn show_cel(value: &cel::Value) -> String {
    match value {
        cel::Value::Null => "null".to_owned(),
        cel::Value::Bool(b) => b.to_string(),
        cel::Value::Int(i) => i.to_string(),
        cel::Value::UInt(u) => u.to_string(),
        cel::Value::Float(d) => format!("{d:?}"),
        cel::Value::String(text) => serde_json::Value::from(text.to_string()).to_string(),
        cel::Value::List(parts) => format!("[{}]", parts.iter().map(show_cel).collect::<Vec<_>>().join(",")),
        cel::Value::Map(map) => {
            let entry = |(key, value): (&cel::objects::Key, &cel::Value)| match key {
                cel::objects::Key::String(text) => format!("{text:?}:{}", show_cel(value)),
                key => format!("{key}:{}", show_cel(value)),
            };
            let mut parts: Vec<String> = map.map.iter().map(entry).collect();
            parts.sort();
            format!("{{{}}}", parts.join(","))
        }
        other => format!("{other:?}"),
    }
}
