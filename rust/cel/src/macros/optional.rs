//! `optMap` and `optFlatMap` (cel-go `cel/library.go`, `OptionalTypes`).

use super::UNUSED;
use super::expander::{Expanded, Expander, Fold};
use super::standard::parts;
use crate::ast::{Expr, ExprKind, Literal};

/// `target.hasValue() ? optional.of(<transform of target.value()>) : optional.none()`
pub(super) fn opt_map(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    let (target, [variable, transform]) = parts(expander, target, args)?;
    let name = expander.name(&variable, "optMap() variable name must be a simple identifier")?;
    let present = expander.member_call(target, "hasValue", Vec::new());
    let bound = bind_value(expander, &present, name, transform)?;
    let value = expander.call("optional.of", vec![bound]);
    let none = expander.call("optional.none", Vec::new());
    Ok(expander.call("_?_:_", vec![present, value, none]))
}

/// `target.hasValue() ? <transform of target.value()> : optional.none()`
pub(super) fn opt_flat_map(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    let (target, [variable, transform]) = parts(expander, target, args)?;
    let name = expander.name(&variable, "optFlatMap() variable name must be a simple identifier")?;
    let present = expander.member_call(target, "hasValue", Vec::new());
    let value = bind_value(expander, &present, name, transform)?;
    let none = expander.call("optional.none", Vec::new());
    Ok(expander.call("_?_:_", vec![present, value, none]))
}

/// `transform` with `name` bound to the value of what `present` asks about: a loop over nothing whose accumulator is the
/// variable.
fn bind_value(expander: &mut Expander<'_>, present: &Expr, name: String, transform: Expr) -> Expanded {
    let nothing = expander.list(Vec::new());
    let target = match &present.kind {
        ExprKind::Call { target: Some(target), .. } => expander.copy(target)?,
        _ => expander.copy(present)?,
    };
    let init = expander.member_call(target, "value", Vec::new());
    let condition = expander.literal(Literal::Bool(false));
    let step = expander.ident(&name);
    let variables = (UNUSED.to_owned(), String::new());
    Ok(expander.fold(nothing, Fold { variables, accumulator: name, init, condition, step, result: transform }))
}
