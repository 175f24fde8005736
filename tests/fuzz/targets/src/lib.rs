//! The bodies of the fuzz targets. Each takes any bytes and panics when something holds that must not; [`TARGETS`] names them.
//!
//! They need no fuzzer: `tests/replay.rs` runs them over their seeds, and `fuzz_targets/` hands them to libFuzzer.

pub mod abi;
pub mod checker;
mod environment;
pub mod evaluator;
pub mod expressions;
pub mod format;
pub mod ip;
mod library;
pub mod object;
pub mod parser;
pub mod quantity;
pub mod record;
pub mod regex;
pub mod seeds;
pub mod semver;
mod show;
pub mod typecheck;
pub mod url;

/// A target: its name, as that of its module and libFuzzer program, and its body.
pub struct Target {
    /// The name.
    pub name: &'static str,
    /// The body.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "parser", run: parser::run },
    Target { name: "checker", run: checker::run },
    Target { name: "evaluator", run: evaluator::run },
    Target { name: "expressions", run: expressions::run },
    Target { name: "regex", run: regex::run },
    Target { name: "quantity", run: quantity::run },
    Target { name: "url", run: url::run },
    Target { name: "ip", run: ip::run },
    Target { name: "semver", run: semver::run },
    Target { name: "format", run: format::run },
    Target { name: "record", run: record::run },
    Target { name: "abi", run: abi::run },
    Target { name: "typecheck", run: typecheck::run },
    Target { name: "object", run: object::run },
];

/// The bytes as text; what is not UTF-8 is replaced, so that every input is of use.
fn text(data: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// Two texts: before and after the first NUL or line break.
fn two_texts(data: &[u8]) -> (String, String) {
    let end = data.iter().position(|byte| matches!(byte, 0 | b'\n')).unwrap_or(data.len());
    let (first, rest) = data.split_at(end);
    (text(first).into_owned(), text(rest.get(1..).unwrap_or_default()).into_owned())
}
