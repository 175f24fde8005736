//! One level of copying an expression.

use crate::ast::{Comprehension, Expr, ExprId, ExprKind, Literal, MapEntry, StructField};

/// What is left to do of a copy.
pub(super) enum Todo<'a> {
    /// Copy an expression, and give it an id.
    Expr(&'a Expr, &'a mut Expr),
    /// Give an entry or a field its id.
    Id(&'a mut ExprId),
}

const BLANK: Expr = Expr { id: 0, kind: ExprKind::Unspecified };

/// The same kind with blanks for its children.
pub(super) fn without_children(kind: &ExprKind) -> ExprKind {
    let blanks = |exprs: &[Expr]| vec![BLANK; exprs.len()];
    match kind {
        ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => kind.clone(),
        ExprKind::Select { field, test_only, .. } => {
            ExprKind::Select { operand: Box::new(BLANK), field: field.clone(), test_only: *test_only }
        }
        ExprKind::Call { target, function, args } => ExprKind::Call {
            target: target.as_ref().map(|_| Box::new(BLANK)),
            function: function.clone(),
            args: blanks(args),
        },
        ExprKind::List { elements, optional_indices } => {
            ExprKind::List { elements: blanks(elements), optional_indices: optional_indices.clone() }
        }
        ExprKind::Map { entries } => ExprKind::Map {
            entries: entries
                .iter()
                .map(|entry| MapEntry { id: 0, key: BLANK, value: BLANK, optional: entry.optional })
                .collect(),
        },
        ExprKind::Struct { type_name, fields } => ExprKind::Struct {
            type_name: type_name.clone(),
            fields: fields
                .iter()
                .map(|field| StructField { id: 0, field: field.field.clone(), value: BLANK, optional: field.optional })
                .collect(),
        },
        ExprKind::Comprehension(fold) => ExprKind::Comprehension(Box::new(Comprehension {
            iter_range: BLANK,
            iter_var: fold.iter_var.clone(),
            iter_var2: fold.iter_var2.clone(),
            accu_var: fold.accu_var.clone(),
            accu_init: BLANK,
            loop_condition: BLANK,
            loop_step: BLANK,
            result: BLANK,
        })),
    }
}

/// The bytes of text that [`without_children`] copies.
pub(super) fn text_len(kind: &ExprKind) -> usize {
    match kind {
        ExprKind::Literal(Literal::String(text)) => text.len(),
        ExprKind::Literal(Literal::Bytes(bytes)) => bytes.len(),
        ExprKind::Ident(name) => name.len(),
        ExprKind::Select { field, .. } => field.len(),
        ExprKind::Call { function, .. } => function.len(),
        ExprKind::Struct { type_name, fields } => {
            type_name.len() + fields.iter().map(|field| field.field.len()).sum::<usize>()
        }
        ExprKind::Comprehension(fold) => fold.iter_var.len() + fold.iter_var2.len() + fold.accu_var.len(),
        ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::List { .. } | ExprKind::Map { .. } => 0,
    }
}

/// Pushes what fills the blanks of `to`; the last pushed is the first in cel-go's order.
pub(super) fn push_children<'a>(todo: &mut Vec<Todo<'a>>, from: &'a ExprKind, to: &'a mut ExprKind) {
    match (from, to) {
        (ExprKind::Select { operand, .. }, ExprKind::Select { operand: to, .. }) => todo.push(Todo::Expr(operand, to)),
        (ExprKind::Call { target, args, .. }, ExprKind::Call { target: to, args: args_to, .. }) => {
            if let (Some(from), Some(to)) = (target, to) {
                todo.push(Todo::Expr(from, to));
            }
            push_all(todo, args, args_to);
        }
        (ExprKind::List { elements, .. }, ExprKind::List { elements: to, .. }) => push_all(todo, elements, to),
        (ExprKind::Map { entries }, ExprKind::Map { entries: to }) => {
            for (from, to) in entries.iter().zip(to).rev() {
                todo.push(Todo::Expr(&from.value, &mut to.value));
                todo.push(Todo::Expr(&from.key, &mut to.key));
                todo.push(Todo::Id(&mut to.id));
            }
        }
        (ExprKind::Struct { fields, .. }, ExprKind::Struct { fields: to, .. }) => {
            for (from, to) in fields.iter().zip(to).rev() {
                todo.push(Todo::Expr(&from.value, &mut to.value));
                todo.push(Todo::Id(&mut to.id));
            }
        }
        (ExprKind::Comprehension(from), ExprKind::Comprehension(to)) => {
            let to = &mut **to;
            todo.push(Todo::Expr(&from.result, &mut to.result));
            todo.push(Todo::Expr(&from.loop_step, &mut to.loop_step));
            todo.push(Todo::Expr(&from.loop_condition, &mut to.loop_condition));
            todo.push(Todo::Expr(&from.accu_init, &mut to.accu_init));
            todo.push(Todo::Expr(&from.iter_range, &mut to.iter_range));
        }
        _ => {}
    }
}

fn push_all<'a>(todo: &mut Vec<Todo<'a>>, from: &'a [Expr], to: &'a mut [Expr]) {
    for (from, to) in from.iter().zip(to).rev() {
        todo.push(Todo::Expr(from, to));
    }
}
