//! The inputs that a target starts from: `seeds/<target>.txt`, one a line, and the cases of the tests against upstream.
//!
//! In a seed `\n`, `\t`, `\\`, `\0` and `\xHH` stand for bytes. Lines that begin with `# ` are comments. The targets `record`
//! and `abi` take bytes that no line can hold readably; their seeds are JSON and become records, batches and answers here.

use std::path::{Path, PathBuf};

use celgate_testkit::record::{Root, encode};
use celgate_testkit::request::Request;
use celgate_testkit::wire;
use serde_json::Value;

use crate::abi::PARTS;
use crate::environment;

/// The most cases that are taken of one differential test, spread over its file.
const MAX_CASES: usize = 400;

/// Of which differential tests a target takes the cases.
fn cases(target: &str) -> &'static [&'static str] {
    match target {
        "parser" => &["parser", "checker"],
        "checker" => &["checker", "parser"],
        _ => &[],
    }
}

/// A target's seeds.
///
/// # Panics
///
/// When the seeds cannot be read: they are part of the tree.
pub fn of(target: &str) -> Vec<Vec<u8>> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for line in lines(&tests.join(format!("fuzz/seeds/{target}.txt"))) {
        seeds.push(seed(target, &line));
    }
    for name in cases(target) {
        let lines = lines(&tests.join(format!("differential/{name}/cases.txt")));
        let step = lines.len().div_ceil(MAX_CASES).max(1);
        seeds.extend(lines.iter().step_by(step).map(|line| case(line)));
    }
    match target {
        "evaluator" => seeds.extend(expressions(&tests.join("cases/expressions"))),
        "record" => seeds.push(environment::values()),
        "expressions" => seeds.extend((0..64).map(|n| noise(n, 24))),
        _ => {}
    }
    seeds
}

/// Of the expression cases those that are expressions as they stand, and not templates.
fn expressions(folder: &Path) -> Vec<Vec<u8>> {
    let files = match std::fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(|entry| Some(entry.ok()?.path())),
        Err(error) => panic!("{}: {error}", folder.display()),
    };
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|it| it == "txt")).collect();
    files.sort();
    let lines: Vec<String> = files.iter().flat_map(lines).collect();
    let whole = lines.iter().filter(|line| !line.starts_with([' ', '#', '@']) && !line.contains('$'));
    let step = whole.clone().count().div_ceil(MAX_CASES).max(1);
    whole.step_by(step).map(|line| line.replace("\\N", "\n").into_bytes()).collect()
}

fn lines(path: &PathBuf) -> Vec<String> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => panic!("{}: {error}", path.display()),
    };
    let wanted = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    wanted.map(str::to_owned).collect()
}

/// A case of the parser's may be a Go string.
fn case(line: &str) -> Vec<u8> {
    match line.strip_prefix("go:") {
        Some(quoted) => unescape(quoted.trim().trim_matches('"')),
        None => line.into(),
    }
}

fn seed(target: &str, line: &str) -> Vec<u8> {
    match target {
        "record" => encode(&[Root::Typed(parse(line)), Root::Plain(parse(line)), Root::Absent]),
        "abi" => abi(line),
        _ => unescape(line),
    }
}

/// `<part> <JSON>`
fn abi(line: &str) -> Vec<u8> {
    let (part, json) = line.split_once(' ').unwrap_or((line, ""));
    let Some(index) = PARTS.iter().position(|known| *known == part) else { panic!("no part {part}") };
    let mut out = vec![index as u8];
    out.extend(match part {
        "batch" => wire::batch(&[("default", "a", Some(parse(json))), ("", "b", None)]),
        "request" => Request::create(parse(json)).encode(),
        "answers" => wire::answers(&[(0, 0, json.into())]),
        _ => json.into(),
    });
    out
}

fn parse(json: &str) -> Value {
    match serde_json::from_str(json) {
        Ok(value) => value,
        Err(error) => panic!("{json}: {error}"),
    }
}

fn unescape(line: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.extend(before.bytes());
        let hex = escape.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let (byte, len) = match (escape.bytes().next(), hex) {
            (Some(b'n'), _) => (b'\n', 1),
            (Some(b't'), _) => (b'\t', 1),
            (Some(b'0'), _) => (0, 1),
            (Some(b'x'), Some(byte)) => (byte, 3),
            (Some(byte @ (b'\\' | b'"')), _) => (byte, 1),
            _ => (b'\\', 0),
        };
        out.push(byte);
        rest = escape.get(len..).unwrap_or_default();
    }
    out.extend(rest.bytes());
    out
}

/// Bytes without a pattern (a linear congruential generator).
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(next).collect()
}
