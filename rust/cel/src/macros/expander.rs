//! What an expansion builds with (cel-go `exprHelper`). Each new expression stands where the macro call stands.

use super::copy::{self, Todo};
use super::{ACCUMULATOR, OLD_ACCUMULATOR};
use crate::ast::{Comprehension, Expr, ExprId, ExprKind, Literal, OffsetRange};
use crate::parser::ids::Ids;

/// Why a macro call cannot be expanded.
pub(crate) enum ExpandError {
    /// An argument is not of the form that the macro needs.
    Argument {
        /// The argument, or the target.
        expr_id: ExprId,
        /// cel-go's text.
        message: String,
    },
    /// The expansion would use more ids than allowed.
    TooLarge,
}

pub(super) type Expanded<T = Expr> = Result<T, ExpandError>;

/// The loop of a macro, before it has an id.
pub(super) struct Fold {
    pub(super) variables: (String, String),
    pub(super) accumulator: String,
    pub(super) init: Expr,
    pub(super) condition: Expr,
    pub(super) step: Expr,
    pub(super) result: Expr,
}

/// Builds one macro's expansion.
pub(crate) struct Expander<'i> {
    ids: &'i mut Ids,
    place: Option<OffsetRange>,
    max_ids: ExprId,
}

impl<'i> Expander<'i> {
    /// Builds where the call with this id stands.
    pub(crate) fn new(ids: &'i mut Ids, call: ExprId, max_ids: u32) -> Expander<'i> {
        let place = ids.range(call).map(|range| OffsetRange { stop: range.start, ..range });
        Expander { ids, place, max_ids: max_ids.into() }
    }

    pub(super) fn expr(&mut self, kind: ExprKind) -> Expr {
        Expr { id: self.ids.add(self.place), kind }
    }

    pub(super) fn literal(&mut self, value: Literal) -> Expr {
        self.expr(ExprKind::Literal(value))
    }

    pub(super) fn ident(&mut self, name: &str) -> Expr {
        self.expr(ExprKind::Ident(name.to_owned()))
    }

    pub(super) fn accumulator(&mut self) -> Expr {
        self.ident(ACCUMULATOR)
    }

    pub(super) fn list(&mut self, elements: Vec<Expr>) -> Expr {
        self.expr(ExprKind::List { elements, optional_indices: Vec::new() })
    }

    pub(super) fn call(&mut self, function: &str, args: Vec<Expr>) -> Expr {
        self.expr(ExprKind::Call { target: None, function: function.to_owned(), args })
    }

    pub(super) fn member_call(&mut self, target: Expr, function: &str, args: Vec<Expr>) -> Expr {
        self.expr(ExprKind::Call { target: Some(Box::new(target)), function: function.to_owned(), args })
    }

    /// `condition ? step : accumulator`
    pub(super) fn step_if(&mut self, condition: Expr, step: Expr) -> Expr {
        let otherwise = self.accumulator();
        self.call("_?_:_", vec![condition, step, otherwise])
    }

    /// `accumulator + [element]`
    pub(super) fn append(&mut self, element: Expr) -> Expr {
        let accumulator = self.accumulator();
        let list = self.list(vec![element]);
        self.call("_+_", vec![accumulator, list])
    }

    pub(super) fn fold(&mut self, range: Expr, fold: Fold) -> Expr {
        self.expr(ExprKind::Comprehension(Box::new(Comprehension {
            iter_range: range,
            iter_var: fold.variables.0,
            iter_var2: fold.variables.1,
            accu_var: fold.accumulator,
            accu_init: fold.init,
            loop_condition: fold.condition,
            loop_step: fold.step,
            result: fold.result,
        })))
    }

    pub(super) fn error<T>(&self, at: &Expr, message: impl Into<String>) -> Expanded<T> {
        Err(ExpandError::Argument { expr_id: at.id, message: message.into() })
    }

    /// The name that an argument consists of.
    pub(super) fn name(&self, arg: &Expr, otherwise: &str) -> Expanded<String> {
        match &arg.kind {
            ExprKind::Ident(name) => Ok(name.clone()),
            _ => self.error(arg, otherwise),
        }
    }

    pub(super) fn check_not_accumulator(&self, arg: &Expr, name: &str) -> Expanded<()> {
        if name == ACCUMULATOR || name == OLD_ACCUMULATOR {
            return self.error(arg, "iteration variable overwrites accumulator variable");
        }
        Ok(())
    }

    /// A copy with ids of its own, standing where the original stands (its entries and fields stand at the macro call).
    pub(super) fn copy(&mut self, expr: &Expr) -> Expanded {
        let mut copied = Expr { id: 0, kind: ExprKind::Unspecified };
        // Depth first, like cel-go, but without recursion: what comes next is on top.
        let mut todo = vec![Todo::Expr(expr, &mut copied)];
        while let Some(next) = todo.pop() {
            if self.ids.count() >= self.max_ids {
                return Err(ExpandError::TooLarge);
            }
            match next {
                Todo::Id(id) => *id = self.ids.add(self.place),
                Todo::Expr(from, to) => {
                    let range = self.ids.range(from.id).unwrap_or(OffsetRange { start: 0, stop: 0 });
                    to.id = self.ids.add(Some(range));
                    self.ids.copied(copy::text_len(&from.kind));
                    to.kind = copy::without_children(&from.kind);
                    copy::push_children(&mut todo, &from.kind, &mut to.kind);
                }
            }
        }
        drop(todo);
        Ok(copied)
    }
}
