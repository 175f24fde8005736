//! Comprehensions over index and value, or key and value (cel-go `ext/comprehensions.go`).

use super::ACCUMULATOR;
use super::expander::{Expanded, Expander, Fold};
use super::standard::{all_parts, exists_one_parts, exists_parts, parts};
use crate::ast::{Expr, ExprKind, Literal};

/// Inserts into the accumulator of the map transforms; no source text can name it.
const MAP_INSERT: &str = "cel.@mapInsert";

pub(super) fn all(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    quantifier(expander, target, args, all_parts)
}

pub(super) fn exists(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    quantifier(expander, target, args, exists_parts)
}

pub(super) fn exists_one(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    quantifier(expander, target, args, exists_one_parts)
}

fn quantifier(
    expander: &mut Expander<'_>,
    target: Option<Expr>,
    args: Vec<Expr>,
    build: fn(&mut Expander<'_>, Expr) -> [Expr; 4],
) -> Expanded {
    let (range, [first, second, predicate]) = parts(expander, target, args)?;
    let variables = variables(expander, &first, &second)?;
    let parts = build(expander, predicate);
    Ok(fold_two(expander, range, variables, parts))
}

pub(super) fn transform_list(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    let transform = Transform::new(expander, target, args)?;
    let step = expander.append(transform.value);
    let step = step_if_some(expander, transform.filter, step);
    let init = expander.list(Vec::new());
    let condition = expander.literal(Literal::Bool(true));
    let result = expander.accumulator();
    Ok(fold_two(expander, transform.range, transform.variables, [init, condition, step, result]))
}

pub(super) fn transform_map(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    let transform = Transform::new(expander, target, args)?;
    let accumulator = expander.accumulator();
    let key = expander.ident(&transform.variables.0);
    let step = expander.call(MAP_INSERT, vec![accumulator, key, transform.value]);
    let step = step_if_some(expander, transform.filter, step);
    Ok(fold_into_map(expander, transform.range, transform.variables, step))
}

pub(super) fn transform_map_entry(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    let transform = Transform::new(expander, target, args)?;
    let accumulator = expander.accumulator();
    let step = expander.call(MAP_INSERT, vec![accumulator, transform.value]);
    let step = step_if_some(expander, transform.filter, step);
    Ok(fold_into_map(expander, transform.range, transform.variables, step))
}

/// The arguments that all transforms have.
struct Transform {
    range: Expr,
    variables: (String, String),
    filter: Option<Expr>,
    value: Expr,
}

impl Transform {
    fn new(expander: &mut Expander<'_>, target: Option<Expr>, mut args: Vec<Expr>) -> Expanded<Transform> {
        let filter = (args.len() == 4).then(|| args.remove(2));
        let (range, [first, second, value]) = parts(expander, target, args)?;
        let variables = variables(expander, &first, &second)?;
        Ok(Transform { range, variables, filter, value })
    }
}

fn step_if_some(expander: &mut Expander<'_>, filter: Option<Expr>, step: Expr) -> Expr {
    match filter {
        Some(filter) => expander.step_if(filter, step),
        None => step,
    }
}

fn fold_into_map(expander: &mut Expander<'_>, range: Expr, variables: (String, String), step: Expr) -> Expr {
    let init = expander.expr(ExprKind::Map { entries: Vec::new() });
    let condition = expander.literal(Literal::Bool(true));
    let result = expander.accumulator();
    fold_two(expander, range, variables, [init, condition, step, result])
}

fn fold_two(expander: &mut Expander<'_>, range: Expr, variables: (String, String), parts: [Expr; 4]) -> Expr {
    let [init, condition, step, result] = parts;
    expander.fold(range, Fold { variables, accumulator: ACCUMULATOR.to_owned(), init, condition, step, result })
}

fn variables(expander: &Expander<'_>, first: &Expr, second: &Expr) -> Expanded<(String, String)> {
    let name1 = expander.name(first, "argument must be a simple name")?;
    let name2 = expander.name(second, "argument must be a simple name")?;
    if name1 == name2 {
        return expander.error(second, format!("duplicate variable name: {name1}"));
    }
    expander.check_not_accumulator(first, &name1)?;
    expander.check_not_accumulator(second, &name2)?;
    Ok((name1, name2))
}
