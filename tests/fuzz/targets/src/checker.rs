//! Any text through parser, checker and planner, in the environment of an admission policy.

use celgate_cel::check::{Checked, check};
use celgate_cel::parser::{ParseOptions, parse};
use celgate_cel::plan::{PlanOptions, plan};

use crate::environment::Environment;
use crate::parser::show_ast;
use crate::text;

/// Checking is deterministic, gives the whole a type, and what it accepts can be planned or is refused with a text.
pub fn run(data: &[u8]) {
    let text = text(data);
    let Ok(ast) = parse(&text, &ParseOptions::kubernetes()) else { return };
    let environment = Environment::declared();
    let first = check(ast.clone(), &environment.env);
    let second = check(ast, &environment.env);
    match (first, second) {
        (Ok(first), Ok(second)) => {
            assert_eq!(show(&first), show(&second), "checked twice");
            let options = PlanOptions { variables: &environment.names, functions: &environment.functions };
            if let Err(error) = plan(&first, &options) {
                assert!(!error.to_string().is_empty(), "an error without a text");
            }
        }
        (Err(first), Err(second)) => assert_eq!(first.to_string(), second.to_string(), "checked twice"),
        (first, _) => panic!("checked twice: first {}", first.is_ok()),
    }
}

fn show(checked: &Checked) -> String {
    let mut types: Vec<_> = checked.types.iter().map(|(id, ty)| (*id, ty.to_string())).collect();
    types.sort();
    let mut references: Vec<_> = checked.references.iter().collect();
    references.sort_by_key(|(id, _)| **id);
    format!("{} {} {types:?} {references:?}", show_ast(&checked.ast), checked.output)
}
