//! Prints the AST of each expression read from standard input, for comparison with cel-go (`tests/differential/parser`).
//!
//! Each input line is one expression in hexadecimal; each output line is one JSON object. With `--macro-calls` the calls
//! that were expanded are kept.

use std::fmt::Write as _;
use std::io::{BufRead as _, Write as _};

use celgate_cel::ast::{Ast, Comprehension, Expr, ExprKind, Literal};
use celgate_cel::issues::Issues;
use celgate_cel::parser::{ParseOptions, parse};

fn main() -> std::io::Result<()> {
    let populate_macro_calls = std::env::args().any(|arg| arg == "--macro-calls");
    let options = ParseOptions { populate_macro_calls, ..ParseOptions::kubernetes() };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let text = decode(&line?).ok_or_else(|| std::io::Error::other("not a line of hexadecimal UTF-8"))?;
        let mut json = String::new();
        match parse(&text, &options) {
            Ok(ast) => write_ast(&mut json, &ast),
            Err(issues) => write_issues(&mut json, &issues),
        }
        writeln!(out, "{json}")?;
    }
    out.flush()
}

fn decode(hex: &str) -> Option<String> {
    let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let bytes = digits?.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect();
    String::from_utf8(bytes).ok()
}

fn write_ast(out: &mut String, ast: &Ast) {
    out.push_str("{\"expr\":");
    write_expr(out, &ast.expr);
    let mut offsets: Vec<_> = ast.source.offsets.iter().collect();
    offsets.sort_by_key(|(id, _)| **id);
    out.push_str(",\"offsets\":[");
    for (index, (id, range)) in offsets.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let (line, column) = ast.source.location(range.start);
        let _ = write!(out, "{comma}[{id},{},{},{line},{column}]", range.start, range.stop);
    }
    let mut calls: Vec<_> = ast.source.macro_calls.iter().collect();
    calls.sort_by_key(|(id, _)| **id);
    out.push_str("],\"macros\":[");
    for (index, (id, call)) in calls.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(out, "{comma}[{id},");
        write_expr(out, call);
        out.push(']');
    }
    let _ = write!(out, "],\"lines\":{:?}}}", ast.source.line_offsets);
}

fn write_issues(out: &mut String, issues: &Issues) {
    let mut sorted: Vec<_> = issues.errors().iter().collect();
    sorted.sort_by_key(|issue| issue.location);
    out.push_str("{\"errors\":[");
    for (index, issue) in sorted.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(out, "{comma}[{},{},", issue.location.line, issue.location.column);
        write_string(out, &issue.message);
        out.push(']');
    }
    out.push_str("],\"text\":");
    write_string(out, &issues.to_string());
    out.push('}');
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => {
                out.push('\\');
                out.push(char);
            }
            '\0'..=' ' | '\x7f' => {
                let _ = write!(out, "\\u{:04x}", char as u32);
            }
            _ => out.push(char),
        }
    }
    out.push('"');
}

fn write_list<T>(out: &mut String, items: &[T], write_item: impl Fn(&mut String, &T)) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_item(out, item);
    }
    out.push(']');
}

fn write_expr(out: &mut String, expr: &Expr) {
    let _ = write!(out, "[{},", expr.id);
    match &expr.kind {
        ExprKind::Unspecified => out.push_str("\"unspecified\""),
        ExprKind::Literal(literal) => write_literal(out, literal),
        ExprKind::Ident(name) => {
            out.push_str("\"ident\",");
            write_string(out, name);
        }
        ExprKind::Select { operand, field, test_only } => {
            out.push_str(if *test_only { "\"has\"," } else { "\"select\"," });
            write_expr(out, operand);
            out.push(',');
            write_string(out, field);
        }
        ExprKind::Call { target, function, args } => {
            out.push_str("\"call\",");
            write_string(out, function);
            out.push(',');
            match target {
                Some(target) => write_expr(out, target),
                None => out.push_str("null"),
            }
            out.push(',');
            write_list(out, args, write_expr);
        }
        ExprKind::List { elements, optional_indices } => {
            out.push_str("\"list\",");
            write_list(out, elements, write_expr);
            let _ = write!(out, ",{optional_indices:?}");
        }
        ExprKind::Map { entries } => {
            out.push_str("\"map\",");
            write_list(out, entries, |out, entry| {
                let _ = write!(out, "[{},", entry.id);
                write_expr(out, &entry.key);
                out.push(',');
                write_expr(out, &entry.value);
                let _ = write!(out, ",{}]", entry.optional);
            });
        }
        ExprKind::Struct { type_name, fields } => {
            out.push_str("\"struct\",");
            write_string(out, type_name);
            out.push(',');
            write_list(out, fields, |out, field| {
                let _ = write!(out, "[{},", field.id);
                write_string(out, &field.field);
                out.push(',');
                write_expr(out, &field.value);
                let _ = write!(out, ",{}]", field.optional);
            });
        }
        ExprKind::Comprehension(fold) => write_fold(out, fold),
    }
    out.push(']');
}

fn write_fold(out: &mut String, fold: &Comprehension) {
    out.push_str("\"fold\"");
    for name in [&fold.iter_var, &fold.iter_var2, &fold.accu_var] {
        out.push(',');
        write_string(out, name);
    }
    for part in [&fold.iter_range, &fold.accu_init, &fold.loop_condition, &fold.loop_step, &fold.result] {
        out.push(',');
        write_expr(out, part);
    }
}

fn write_literal(out: &mut String, literal: &Literal) {
    let _ = match literal {
        Literal::Null => write!(out, "\"null\""),
        Literal::Bool(value) => write!(out, "\"bool\",{value}"),
        Literal::Int(value) => write!(out, "\"int\",{value}"),
        Literal::Uint(value) => write!(out, "\"uint\",{value}"),
        Literal::Double(value) => write!(out, "\"double\",\"{:016x}\"", value.to_bits()),
        Literal::String(value) => {
            out.push_str("\"string\",");
            write_string(out, value);
            Ok(())
        }
        Literal::Bytes(value) => {
            out.push_str("\"bytes\",\"");
            for byte in value {
                let _ = write!(out, "{byte:02x}");
            }
            write!(out, "\"")
        }
    };
}
