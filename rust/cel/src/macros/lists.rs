//! `sortBy` (cel-go `ext/lists.go`).

use super::UNUSED;
use super::expander::{Expanded, Expander, Fold};
use super::standard::{self, parts};
use crate::ast::{Expr, ExprKind, Literal};

/// The variable that holds the list while it is sorted; no source text can name it.
const INPUT: &str = "@__sortBy_input__";

/// Sorts the target by the keys that a `map` with the same arguments gives for it.
pub(super) fn sort_by(expander: &mut Expander<'_>, target: Option<Expr>, args: Vec<Expr>) -> Expanded {
    let step = expander.ident(INPUT);
    let (target, [variable, key]) = parts(expander, target, args)?;
    if matches!(
        target.kind,
        ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Map { .. } | ExprKind::Struct { .. }
    ) {
        let message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
        return expander.error(&target, message);
    }
    let input = expander.copy(&step)?;
    let keys = standard::map(expander, Some(input), vec![variable, key])?;
    let input = expander.copy(&step)?;
    let sorted = expander.member_call(input, "@sortByAssociatedKeys", vec![keys]);
    let nothing = expander.list(Vec::new());
    let condition = expander.literal(Literal::Bool(false));
    let variables = (UNUSED.to_owned(), String::new());
    let fold = Fold { variables, accumulator: INPUT.to_owned(), init: target, condition, step, result: sorted };
    Ok(expander.fold(nothing, fold))
}
