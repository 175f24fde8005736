//! Source text → [`Ast`], with the ids, positions and errors of cel-go's parser (`parser/parser.go`, `parser/helper.go`).
//!
//! Three steps: tokens ([`crate::lexer`]), a parse tree, and the AST with macros expanded. A text that is not a sentence of
//! the grammar gives cel-go's position for the first error and a text of our own (`docs/differences.md`): cel-go's comes from
//! its parser generator, which also guesses at further errors.

mod build;
mod grammar;
pub(crate) mod ids;
#[cfg(test)]
mod tests;
mod tree;

use crate::ast::{Ast, SourceInfo};
use crate::issues::{Issues, Location};
use crate::lexer::{self, LexicalError, TokenKind};
use crate::macros::{self, Macro};
use grammar::Stop;

/// The most syntax errors that are reported before the rest is given up.
const MAX_SYNTAX_ERRORS: usize = 100;

/// What the parser accepts.
#[derive(Clone, Copy)]
pub struct ParseOptions {
    /// The macros to expand.
    pub macros: &'static [Macro],
    /// Whether `a.?b`, `a[?b]`, `[?a]` and `{?k: v}` are allowed.
    pub optional_syntax: bool,
    /// Whether field names can be quoted, as in ``a.`b-c` ``.
    pub escaped_identifiers: bool,
    /// Whether [`SourceInfo::macro_calls`] is filled in.
    pub populate_macro_calls: bool,
    /// The greatest depth of an expression, in cel-go's count.
    pub max_recursion_depth: u32,
    /// The greatest length of an expression.
    pub max_code_points: usize,
    /// The most ids that an expression may use once its macros are expanded. cel-go has no such limit: there, each `optMap`
    /// in a chain doubles the expression until memory runs out.
    pub max_ids: u32,
}

impl ParseOptions {
    /// The options of Kubernetes' CEL environments (apiserver `pkg/cel/environment/base.go` over cel-go's defaults).
    pub const fn kubernetes() -> ParseOptions {
        ParseOptions {
            macros: macros::KUBERNETES,
            optional_syntax: true,
            escaped_identifiers: true,
            populate_macro_calls: false,
            max_recursion_depth: 250,
            max_code_points: 100_000,
            max_ids: 500_000,
        }
    }
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions::kubernetes()
    }
}

/// Parses one expression.
pub fn parse(text: &str, options: &ParseOptions) -> Result<Ast, Issues> {
    if text.len() > options.max_code_points {
        let (size, limit) = (text.chars().count(), options.max_code_points);
        if size > limit {
            let message = format!("expression code point size exceeds limit: size: {size}, limit {limit}");
            return Err(Issues::unplaced(message));
        }
    }
    let mut issues = Issues::new(text);
    let source = source_info(text);
    let lexed = lexer::tokenize(text);
    let grammar::Outcome { tree, stop } = grammar::parse(&lexed.tokens, options.max_recursion_depth);
    let go_on = report(&mut issues, &source, &lexed.errors, stop.as_ref(), options);
    if !go_on {
        return Err(issues);
    }
    let Some(tree) = tree else { return Err(issues) };
    let mut builder = build::Builder::new(text, source, options, &tree.nodes, issues);
    let expr = builder.run(tree.root);
    let (source, issues) = builder.finish();
    match expr {
        Some(expr) if issues.is_empty() => Ok(Ast { expr, source }),
        _ => Err(issues),
    }
}

fn source_info(text: &str) -> SourceInfo {
    let mut line_offsets = Vec::new();
    let mut count = 0;
    for char in text.chars() {
        count += 1;
        if char == '\n' {
            line_offsets.push(count);
        }
    }
    // cel-go ends the list with one past the end of the text, but counts an empty text as having a line break at 0.
    line_offsets.push(if text.is_empty() { 0 } else { count + 1 });
    SourceInfo { text: text.to_owned(), line_offsets, ..SourceInfo::default() }
}

/// Reports what the lexer skipped and why the grammar stopped, in the order of the text; false when cel-go goes no further.
fn report(
    issues: &mut Issues,
    source: &SourceInfo,
    lexical: &[LexicalError<'_>],
    stop: Option<&Stop>,
    options: &ParseOptions,
) -> bool {
    let end = match stop {
        // cel-go reads one token ahead when it gives up, and never sees what comes later.
        Some(Stop::TooDeep { at }) => at.stop(),
        _ => u32::MAX,
    };
    let mut errors: Vec<(u32, String)> = lexical
        .iter()
        .filter(|error| error.start < end)
        .map(|error| (error.start, format!("token recognition error at: '{}'", error.skipped)))
        .collect();
    if let Some(Stop::Unexpected { found, wanted }) = stop {
        let shown = if found.kind == TokenKind::EndOfInput { "<EOF>" } else { found.text(&source.text) };
        let at = errors.partition_point(|error| error.0 < found.start);
        errors.insert(at, (found.start, format!("mismatched input '{shown}' expecting {wanted}")));
    }
    let too_many = errors.len() > MAX_SYNTAX_ERRORS;
    if too_many {
        errors.truncate(MAX_SYNTAX_ERRORS + 1);
        if let Some((_, message)) = errors.last_mut() {
            *message = format!("More than {MAX_SYNTAX_ERRORS} syntax errors");
        }
    }
    for (start, message) in errors {
        let location = match source.text.as_str() {
            // In an empty text cel-go counts lines from the second, and finds none.
            "" => Location { line: 1, column: -1 },
            _ => Location::of_offset(source, start),
        };
        issues.report(0, location, format!("Syntax error: {message}"));
    }
    if too_many {
        return false;
    }
    if let Some(Stop::TooDeep { .. }) = stop {
        let message = format!("expression recursion limit exceeded: {}", options.max_recursion_depth);
        issues.report(0, Location::NONE, message);
        return false;
    }
    true
}
