//! `has`, `all`, `exists`, `exists_one`, `map` and `filter` (cel-go `parser/macro.go`).

use super::ACCUMULATOR;
use super::expander::{Expanded, Expander, Fold};
use crate::ast::{Expr, ExprKind, Literal};

/// The target and exactly `N` arguments, as the macro table promises them.
pub(super) fn parts<const N: usize>(
    expander: &mut Expander<'_>,
    target: Option<Expr>,
    args: Vec<Expr>,
) -> Expanded<(Expr, [Expr; N])> {
    let target = match target {
        Some(target) => target,
        None => expander.expr(ExprKind::Unspecified),
    };
    match args.try_into() {
        Ok(args) => Ok((target, args)),
        Err(_) => expander.error(&target, "wrong number of arguments"),
    }
}

/// A loop over one variable.
fn fold_one(expander: &mut Expander<'_>, range: Expr, variable: String, parts: [Expr; 4]) -> Expr {
    let [init, condition, step, result] = parts;
    let variables = (variable, String::new());
    expander.fold(range, Fold { variables, accumulator: ACCUMULATOR.to_owned(), init, condition, step, result })
}

pub(super) fn has(expander: &mut Expander<'_>, _: Option<Expr>, mut args: Vec<Expr>) -> Expanded {
    match args.pop() {
        Some(Expr { kind: ExprKind::Select { operand, field, .. }, .. }) => {
            Ok(expander.expr(ExprKind::Select { operand, field, test_only: true }))
        }
        arg => {
            let arg = arg.unwrap_or(Expr { id: 0, kind: ExprKind::Unspecified });
            expander.error(&arg, "invalid argument to has() macro")
        }
    }
}

pub(super) fn all(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    let (range, [variable, predicate]) = parts(expander, target, args)?;
    let name = quantifier_variable(expander, &variable)?;
    let parts = all_parts(expander, predicate);
    Ok(fold_one(expander, range, name, parts))
}

pub(super) fn exists(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    let (range, [variable, predicate]) = parts(expander, target, args)?;
    let name = quantifier_variable(expander, &variable)?;
    let parts = exists_parts(expander, predicate);
    Ok(fold_one(expander, range, name, parts))
}

pub(super) fn exists_one(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    let (range, [variable, predicate]) = parts(expander, target, args)?;
    let name = quantifier_variable(expander, &variable)?;
    let parts = exists_one_parts(expander, predicate);
    Ok(fold_one(expander, range, name, parts))
}

fn quantifier_variable(expander: &Expander<'_>, variable: &Expr) -> Expanded<String> {
    let name = expander.name(variable, "argument must be a simple name")?;
    expander.check_not_accumulator(variable, &name)?;
    Ok(name)
}

/// Initial value, condition, step and result of `all`.
pub(super) fn all_parts(expander: &mut Expander<'_>, predicate: Expr) -> [Expr; 4] {
    let init = expander.literal(Literal::Bool(true));
    let so_far = expander.accumulator();
    let condition = expander.call("@not_strictly_false", vec![so_far]);
    let so_far = expander.accumulator();
    let step = expander.call("_&&_", vec![so_far, predicate]);
    [init, condition, step, expander.accumulator()]
}

/// Initial value, condition, step and result of `exists`.
pub(super) fn exists_parts(expander: &mut Expander<'_>, predicate: Expr) -> [Expr; 4] {
    let init = expander.literal(Literal::Bool(false));
    let so_far = expander.accumulator();
    let not = expander.call("!_", vec![so_far]);
    let condition = expander.call("@not_strictly_false", vec![not]);
    let so_far = expander.accumulator();
    let step = expander.call("_||_", vec![so_far, predicate]);
    [init, condition, step, expander.accumulator()]
}

/// Initial value, condition, step and result of `exists_one`.
pub(super) fn exists_one_parts(expander: &mut Expander<'_>, predicate: Expr) -> [Expr; 4] {
    let init = expander.literal(Literal::Int(0));
    let condition = expander.literal(Literal::Bool(true));
    let so_far = expander.accumulator();
    let one = expander.literal(Literal::Int(1));
    let more = expander.call("_+_", vec![so_far, one]);
    let step = expander.step_if(predicate, more);
    let count = expander.accumulator();
    let one = expander.literal(Literal::Int(1));
    [init, condition, step, expander.call("_==_", vec![count, one])]
}

pub(super) fn map(expander: &mut Expander<'_>, target: Option<Expr>, mut args: Vec<Expr>) -> Expanded {
    let filter = (args.len() == 3).then(|| args.remove(1));
    let (range, [variable, transform]) = parts(expander, target, args)?;
    let name = element_variable(expander, &variable)?;
    let init = expander.list(Vec::new());
    let condition = expander.literal(Literal::Bool(true));
    let mut step = expander.append(transform);
    if let Some(filter) = filter {
        step = expander.step_if(filter, step);
    }
    let result = expander.accumulator();
    Ok(fold_one(expander, range, name, [init, condition, step, result]))
}

pub(super) fn filter(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    let (range, [variable, predicate]) = parts(expander, target, args)?;
    let name = element_variable(expander, &variable)?;
    let init = expander.list(Vec::new());
    let condition = expander.literal(Literal::Bool(true));
    let step = expander.append(variable);
    let step = expander.step_if(predicate, step);
    let result = expander.accumulator();
    Ok(fold_one(expander, range, name, [init, condition, step, result]))
}

fn element_variable(expander: &Expander<'_>, variable: &Expr) -> Expanded<String> {
    let name = expander.name(variable, "argument is not an identifier")?;
    expander.check_not_accumulator(variable, &name)?;
    Ok(name)
}
