//! Any text as an expression, evaluated over typed and plain values; after a NUL may come a record of other values.

use bumpalo::Bump;
use celgate_cel::check::check;
use celgate_cel::context::{EvalContext, Halt};
use celgate_cel::parser::{ParseOptions, parse};
use celgate_cel::plan::{PlanOptions, Program, plan};
use celgate_cel::record::{OwnedRecord, Record};
use celgate_cel::value::Value;

use crate::environment::{Answering, Environment, VALUES};
use crate::show::show;
use crate::text;

/// Kubernetes' limit for one expression.
const COST_LIMIT: u64 = 1_000_000;

/// Result and cost are the same each time, and the same when cost is counted by cel-go's simulated stack.
pub fn run(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (expression, rest) = data.split_at(end);
    let other = OwnedRecord::parse(rest.get(1..).unwrap_or_default()).ok();
    evaluate(&text(expression), other.as_ref());
}

/// Evaluates a text if it is an expression. The usual values come first and last, so that what the program remembers of
/// other ones is put to the test.
pub(crate) fn evaluate(text: &str, other: Option<&OwnedRecord>) {
    let environment = Environment::untyped();
    let Ok(checked) = parse(text, &ParseOptions::kubernetes()).and_then(|ast| check(ast, &environment.env)) else {
        return;
    };
    let options = PlanOptions { variables: &environment.names, functions: &environment.functions };
    let Ok(program) = plan(&checked, &options) else { return };
    let mut arena = Bump::new();
    let values = VALUES.as_record();
    let first = result(&arena, &program, &values);
    if let Some(other) = other {
        arena.reset();
        result(&arena, &program, &other.as_record());
    }
    arena.reset();
    assert_eq!(first, result(&arena, &program, &values), "evaluated twice");
    if !program.is_tracked() {
        arena.reset();
        assert_eq!(first, result(&arena, &program.with_tracking(), &values), "with tracking");
    }
}

fn result<'a>(arena: &'a Bump, program: &'a Program, record: &'a Record<'a>) -> String {
    let ctx = EvalContext::new(arena, &Answering, COST_LIMIT);
    let variables: Vec<Option<Value<'a>>> = (0..record.roots()).map(|root| record.root(root)).collect();
    let value = program.eval(&ctx, &variables);
    let (cost, halt) = (ctx.cost(), ctx.halt());
    assert_eq!(matches!(value, Value::Halt), halt.is_some(), "a halt without a reason, or a reason without a halt");
    assert!(cost <= COST_LIMIT || halt == Some(Halt::CostLimit), "cost {cost} and no end");
    format!("{} cost {cost} {halt:?}", show(&ctx, value))
}
