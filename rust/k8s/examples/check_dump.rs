//! Prints what the type checker makes of each case read from standard input, for comparison with cel-go
//! (`tests/differential/checker`, which describes the cases).

use std::collections::BTreeSet;
use std::io::{BufRead as _, Write};
use std::sync::Arc;

use celgate_cel::ast::{Expr, ExprKind, Literal};
use celgate_cel::check::{Checked, Reference, check};
use celgate_cel::env::Env;
use celgate_cel::parser::{ParseOptions, parse};
use celgate_cel::types::Type;
use celgate_k8s::environment::{self, Version};
use celgate_k8s::types::{self, AdmissionTypes, OptionalVariables};

fn main() -> std::io::Result<()> {
    let base = policy_environment();
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        dump_case(&mut out, &base, &line?)?;
        writeln!(out, ".")?;
    }
    out.flush()
}

/// The environment of stored expressions with what every policy sees.
fn policy_environment() -> Env {
    let env = environment::env_builder(Version::STORED).build().with_provider(Arc::new(AdmissionTypes));
    env.with_variables([types::variables_variable()])
}

fn dump_case(out: &mut impl Write, base: &Env, line: &str) -> std::io::Result<()> {
    let mut fields = line.split(' ');
    let flags = fields.next().unwrap_or_default();
    let expression = decode(fields.next().unwrap_or_default())?;
    let optional = OptionalVariables { params: flags.contains('p'), authorizer: flags.contains('a') };
    let mut env = base.with_variables(types::variables(optional));
    for field in fields {
        let (name, text) = field.split_once('=').unwrap_or((field, ""));
        let ty = dump_expression(out, &env, &decode(text)?)?;
        env = env.with_struct_field(types::VARIABLES, name, ty.as_ref().map_or(Type::Dyn, types::variable_type));
    }
    dump_expression(out, &env, &expression)?;
    Ok(())
}

fn dump_expression(out: &mut impl Write, env: &Env, text: &str) -> std::io::Result<Option<Type>> {
    let Ok(ast) = parse(text, &ParseOptions::kubernetes()) else {
        writeln!(out, "syntax")?;
        return Ok(None);
    };
    match check(ast, env) {
        Ok(checked) => {
            writeln!(out, "ok {} | {}", checked.output, checked.output.go_string())?;
            for line in lines(&checked) {
                writeln!(out, "{line}")?;
            }
            Ok(Some(checked.output))
        }
        Err(issues) => {
            writeln!(out, "error {}", escape(&issues.to_string()))?;
            Ok(None)
        }
    }
}

fn lines(checked: &Checked) -> BTreeSet<String> {
    let mut lines = BTreeSet::new();
    for (id, ty) in &checked.types {
        lines.insert(format!("{id:08} type {ty}"));
    }
    for (id, Reference { name, overloads, value }) in &checked.references {
        let value = match value {
            Some(Literal::Int(value)) => value.to_string(),
            _ => String::new(),
        };
        lines.insert(format!("{id:08} refers {}|{}|{value}", escape(name), overloads.join(",")));
    }
    names(&checked.ast.expr, &mut lines);
    lines
}

/// Adds the names of identifiers, calls and messages.
fn names(expr: &Expr, lines: &mut BTreeSet<String>) {
    let id = expr.id;
    match &expr.kind {
        ExprKind::Unspecified | ExprKind::Literal(_) => {}
        ExprKind::Ident(name) => {
            lines.insert(format!("{id:08} ident {}", escape(name)));
        }
        ExprKind::Select { operand, .. } => names(operand, lines),
        ExprKind::Call { target, function, args } => {
            lines.insert(format!("{id:08} call {function} {}", target.is_some()));
            target.iter().for_each(|target| names(target, lines));
            args.iter().for_each(|arg| names(arg, lines));
        }
        ExprKind::List { elements, .. } => elements.iter().for_each(|element| names(element, lines)),
        ExprKind::Map { entries } => entries.iter().for_each(|entry| {
            names(&entry.key, lines);
            names(&entry.value, lines);
        }),
        ExprKind::Struct { type_name, fields } => {
            lines.insert(format!("{id:08} struct {}", escape(type_name)));
            fields.iter().for_each(|field| names(&field.value, lines));
        }
        ExprKind::Comprehension(fold) => {
            let parts = [&fold.iter_range, &fold.accu_init, &fold.loop_condition, &fold.loop_step, &fold.result];
            parts.into_iter().for_each(|part| names(part, lines));
        }
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

fn decode(hex: &str) -> std::io::Result<String> {
    let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect();
    let bytes: Option<Vec<u8>> = digits
        .map(|digits| digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| std::io::Error::other("not hexadecimal UTF-8"))
}
