//! Any text through the parser.

use celgate_cel::ast::Ast;
use celgate_cel::parser::{ParseOptions, parse};

use crate::text;

/// Small limits, which inputs of a fuzzer's size pass.
const SMALL: ParseOptions =
    ParseOptions { max_recursion_depth: 12, max_code_points: 200, max_ids: 300, ..ParseOptions::kubernetes() };

/// Parsing is deterministic, errors say something, and no limit is passed.
pub fn run(data: &[u8]) {
    let text = text(data);
    let first = show(&text, &ParseOptions::kubernetes());
    assert_eq!(first, show(&text, &ParseOptions::kubernetes()), "parsed twice");
    let with_calls = ParseOptions { populate_macro_calls: true, ..ParseOptions::kubernetes() };
    let parsed = parse(&text, &with_calls);
    assert_eq!(parsed.is_ok(), first.is_ok(), "macro calls change the verdict");
    limits(&text);
}

fn limits(text: &str) {
    let Ok(ast) = parse(text, &SMALL) else { return };
    assert!(text.chars().count() <= SMALL.max_code_points, "too long and yet parsed");
    let most = ast.source.offsets.keys().copied().max().unwrap_or(0);
    assert!(most <= i64::from(SMALL.max_ids), "{most} ids");
    assert_eq!(Ok(show_ast(&ast)), show(text, &ParseOptions::kubernetes()), "limits change the result");
}

fn show(text: &str, options: &ParseOptions) -> Result<String, String> {
    match parse(text, options) {
        Ok(ast) => Ok(show_ast(&ast)),
        Err(issues) => {
            assert!(!issues.is_empty(), "an error without a text");
            Err(issues.to_string())
        }
    }
}

pub(crate) fn show_ast(ast: &Ast) -> String {
    let mut offsets: Vec<_> = ast.source.offsets.iter().collect();
    offsets.sort_by_key(|(id, _)| **id);
    format!("{:?} {offsets:?}", ast.expr)
}
