//! A pattern, and after a NUL or line break the text to look in.

use bumpalo::Bump;
use celgate_cel::check::check;
use celgate_cel::context::{EvalContext, NoHost};
use celgate_cel::decls::VariableDecl;
use celgate_cel::env::Env;
use celgate_cel::gotext::quote;
use celgate_cel::parser::{ParseOptions, parse};
use celgate_cel::plan::{PlanOptions, plan};
use celgate_cel::regex::Regex;
use celgate_cel::types::Type;
use celgate_cel::value::Value;
use celgate_k8s::environment::{Version, env_builder, function_table};

use crate::show::show;
use crate::two_texts;

const NAMES: [&str; 2] = ["pattern", "text"];

/// The ways of matching agree with each other, and a pattern means the same prepared with the program or compiled when it runs.
pub fn run(data: &[u8]) {
    let (pattern, text) = two_texts(data);
    match Regex::new(&pattern) {
        Ok(regex) => agree(&regex, &text),
        Err(error) => {
            assert!(error.starts_with("error parsing regexp: "), "{error}");
            assert_eq!(Regex::new(&pattern).err(), Some(error), "compiled twice");
        }
    }
    for call in ["matches", "find", "findAll"] {
        let prepared = evaluate(&format!("text.{call}({})", quote(&pattern)), &pattern, &text);
        let computed = evaluate(&format!("text.{call}(pattern)"), &pattern, &text);
        if let (Some(prepared), Some(computed)) = (prepared, computed) {
            assert_eq!(prepared, computed, "{call} prepared and computed");
        }
    }
}

fn agree(regex: &Regex, text: &str) {
    let all: Vec<&str> = regex.find_all(text).collect();
    assert_eq!(regex.is_match(text), regex.find(text).is_some(), "is_match and find");
    assert_eq!(regex.find(text), all.first().copied(), "find and find_all");
    let found: usize = all.iter().map(|part| part.len()).sum();
    assert!(found <= text.len(), "matches overlap");
}

/// Value and cost; `None` if it is no program, as when a constant pattern does not compile.
fn evaluate(expression: &str, pattern: &str, text: &str) -> Option<String> {
    let (env, functions) = (environment(), function_table(Version::STORED));
    let checked = parse(expression, &ParseOptions::kubernetes()).and_then(|ast| check(ast, &env)).ok()?;
    let program = plan(&checked, &PlanOptions { variables: &NAMES, functions: &functions }).ok()?;
    let arena = Bump::new();
    let ctx = EvalContext::new(&arena, &NoHost, 1_000_000);
    let value = program.eval(&ctx, &[Some(Value::String(pattern)), Some(Value::String(text))]);
    let shown = show(&ctx, value);
    // The variable that the pattern is read from costs 1.
    let cost = ctx.cost() - u64::from(expression.ends_with("(pattern)"));
    Some(format!("{shown} cost {cost}"))
}

fn environment() -> Env {
    env_builder(Version::STORED).build().with_variables(NAMES.map(|name| VariableDecl::new(name, Type::String)))
}
