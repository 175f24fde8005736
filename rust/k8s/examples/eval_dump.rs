//! Evaluates each expression read from standard input, for comparison with cel-go (`tests/differential/eval`).
//!
//! The first argument is a file of variables as `eval values` prints them. Each input line is one expression in
//! hexadecimal; each output line is stage, cost and result, separated by tabs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, Write as _};

use bumpalo::Bump;
use celgate_cel::check::check;
use celgate_cel::context::{EvalContext, Halt, NoHost};
use celgate_cel::decls::VariableDecl;
use celgate_cel::env::Env;
use celgate_cel::eval::Slots;
use celgate_cel::gotext::quote as quoted;
use celgate_cel::parser::{ParseOptions, parse};
use celgate_cel::plan::{PlanOptions, Program, plan};
use celgate_cel::record::Record;
use celgate_cel::types::Type;
use celgate_cel::value::{ListView, MapView, Value};
use celgate_k8s::environment::{Version, env_builder, function_table};

const COST_LIMIT: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: eval_dump VALUES <EXPRESSIONS")?;
    let trees: BTreeMap<String, serde_json::Value> = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let mut writer = RecordWriter::default();
    let bytes = writer.encode(trees.values());
    let record = Record::parse(&bytes).map_err(|error| format!("{error:?}"))?;
    let names: Vec<&str> = trees.keys().map(String::as_str).collect();
    let env = environment(&names);
    let functions = function_table(Version::STORED);
    let mut slots = names.clone();
    slots.push("unbound");
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut arena = Bump::new();
    for line in std::io::stdin().lock().lines() {
        let text = decode(&line?).ok_or("not a line of hexadecimal UTF-8")?;
        let options = PlanOptions { variables: &slots, functions: &functions };
        let mut result = String::new();
        evaluate(&mut result, &arena, &env, &options, &record, &text);
        writeln!(out, "{result}")?;
        arena.reset();
    }
    Ok(out.flush()?)
}

fn environment(names: &[&str]) -> Env {
    let variables = names.iter().copied().chain(["unbound"]);
    let variables = variables.map(|name| VariableDecl { name: name.to_owned(), ty: Type::Dyn });
    env_builder(Version::STORED).build().with_variables(variables)
}

fn evaluate<'a>(
    out: &mut String,
    arena: &'a Bump,
    env: &Env,
    options: &PlanOptions<'_>,
    record: &'a Record<'a>,
    text: &str,
) {
    let checked = match parse(text, &ParseOptions::kubernetes()).and_then(|ast| check(ast, env)) {
        Ok(checked) => checked,
        Err(issues) => return line(out, "compile", 0, &quoted(&issues.to_string())),
    };
    let program = match plan(&checked, options) {
        Ok(program) => program,
        Err(error) => return line(out, "plan", 0, &quoted(&error.to_string())),
    };
    let simple = !program.is_tracked();
    run(out, arena, program, record);
    if simple && let Ok(program) = plan(&checked, options) {
        let mut tracked = String::new();
        run(&mut tracked, arena, program.with_tracking(), record);
        if *out != tracked {
            let _ = write!(out, "\tbut with tracking\t{tracked}");
        }
    }
}

fn run<'a>(out: &mut String, arena: &'a Bump, program: Program, record: &'a Record<'a>) {
    // Results borrow from the program; it lives as long as the arena's contents.
    let program = &*Box::leak(Box::new(program));
    let ctx = EvalContext::new(arena, &NoHost, COST_LIMIT);
    let variables: Vec<Option<Value<'a>>> = (0..record.roots()).map(|root| record.root(root)).collect();
    let value = program.eval(&ctx, &Slots(&variables));
    let halt = match ctx.halt() {
        Some(Halt::Panic(message)) => message,
        Some(_) => "operation cancelled: actual cost limit exceeded",
        None => "",
    };
    match value {
        Value::Halt => line(out, "error", ctx.cost(), &quoted(halt)),
        Value::Error(error) => line(out, "error", ctx.cost(), &quoted(error.message)),
        value => line(out, "value", ctx.cost(), &show(&ctx, value)),
    }
}

fn line(out: &mut String, stage: &str, cost: u64, result: &str) {
    let _ = write!(out, "{stage}\t{cost}\t{result}");
}

/// Prints a value without loss and in one way only.
fn show<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> String {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Uint(u) => format!("{u}u"),
        Value::Double(d) => format!("double:{:016x}", d.to_bits()),
        Value::String(text) => format!("string:{}", hex(text.as_bytes())),
        Value::Bytes(bytes) => format!("bytes:{}", hex(bytes)),
        Value::Duration(duration) => format!("duration:{}", duration.nanos),
        Value::Timestamp(time) => format!("timestamp:{}.{:09}{:+}", time.seconds, time.nanos, time.offset),
        Value::Optional(None) => "none".to_owned(),
        Value::Optional(Some(inner)) => format!("some({})", show(ctx, *inner)),
        Value::Type(name) => format!("type:{name}"),
        Value::Error(error) => format!("error:{}", quoted(error.message)),
        value => {
            if let Some(list) = ListView::of(value) {
                let parts: Vec<String> = list.iter().map(|part| show(ctx, part)).collect();
                return format!("[{}]", parts.join(", "));
            }
            let Some(map) = MapView::of(value) else {
                return format!("opaque:{}", value.type_name());
            };
            let order = map.order(ctx);
            let keys = (0..order.len()).filter_map(|i| order.key(i));
            // Looked up, since no look-up finds NaN.
            let entry = |key| match map.find(ctx, key) {
                Some(value) => format!("{}: {}", show(ctx, key), show(ctx, value)),
                None => format!("{}: error:\"no such key: NaN\"", show(ctx, key)),
            };
            let mut parts: Vec<String> = keys.map(entry).collect();
            parts.sort();
            format!("{{{}}}", parts.join(", "))
        }
    }
}

fn decode(hex: &str) -> Option<String> {
    let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let bytes = digits?.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect();
    String::from_utf8(bytes).ok()
}

/// Writes trees as a record.
#[derive(Default)]
struct RecordWriter {
    cells: Vec<[u8; 16]>,
    heap: Vec<u8>,
}

impl RecordWriter {
    fn encode<'t>(&mut self, roots: impl ExactSizeIterator<Item = &'t serde_json::Value>) -> Vec<u8> {
        let count = roots.len();
        self.cells.resize(count, [0; 16]);
        for (index, root) in roots.enumerate() {
            self.put(index, root);
        }
        let mut out = b"CGR1".to_vec();
        out.extend((self.cells.len() as u32).to_le_bytes());
        out.extend((self.heap.len() as u32).to_le_bytes());
        out.extend((count as u32).to_le_bytes());
        out.extend(self.cells.iter().flatten());
        out.extend(&self.heap);
        out
    }

    fn cell(&mut self, index: usize, tag: u8, flags: u8, len: usize, payload: u64) {
        let mut cell = [0; 16];
        cell[0] = tag;
        cell[1] = flags;
        cell[4..8].copy_from_slice(&(len as u32).to_le_bytes());
        cell[8..].copy_from_slice(&payload.to_le_bytes());
        self.cells[index] = cell;
    }

    fn text(&mut self, index: usize, flags: u8, text: &str) {
        let start = self.heap.len();
        self.heap.extend(text.as_bytes());
        self.cell(index, 6, flags, text.len(), start as u64);
    }

    fn put(&mut self, index: usize, tree: &serde_json::Value) {
        let text = tree["text"].as_str().unwrap_or("");
        let flag = |name: &str, bit: u8| {
            if tree[name].as_bool() == Some(true) { bit } else { 0 }
        };
        let typed = flag("typed", 1);
        let parts: &[serde_json::Value] = tree["parts"].as_array().map_or(&[], Vec::as_slice);
        let first = self.cells.len();
        match tree["kind"].as_str() {
            Some("bool") => self.cell(index, 2, 0, 0, u64::from(text == "true")),
            Some("int") => self.cell(index, 3, 0, 0, text.parse::<i64>().unwrap_or(0) as u64),
            Some("double") => self.cell(index, 5, 0, 0, text.parse::<f64>().unwrap_or(0.0).to_bits()),
            Some("string") => self.text(index, flag("quantity", 2) | flag("time", 4), text),
            Some("list") => {
                self.cell(index, 7, typed, parts.len(), first as u64);
                self.cells.resize(first + parts.len(), [0; 16]);
                for (i, part) in parts.iter().enumerate() {
                    self.put(first + i, part);
                }
            }
            Some(kind @ ("map" | "struct")) => {
                let (tag, sorted) = if kind == "map" { (8, 8) } else { (9, 0) };
                self.cell(index, tag, typed | sorted, parts.len(), first as u64);
                self.cells.resize(first + parts.len() * 2, [0; 16]);
                for (i, part) in parts.iter().enumerate() {
                    self.text(first + 2 * i, 0, tree["keys"][i].as_str().unwrap_or(""));
                    self.put(first + 2 * i + 1, part);
                }
            }
            _ => self.cell(index, 1, 0, 0, 0),
        }
    }
}
