//! Identifiers, calls, and the macros among them (cel-go `VisitIdent`, `VisitGlobalCall`, `VisitMemberCall`, `expandMacro`).

use super::{Builder, Built, NodeId, RESERVED};
use crate::ast::{Expr, ExprId, ExprKind, OffsetRange, SourceInfo};
use crate::issues::Location;
use crate::lexer::Token;
use crate::macros::{self, ExpandError, Expander};

impl<'t> Builder<'t> {
    #[inline(never)]
    pub(super) fn visit_ident(&mut self, leading_dot: Option<&Token>, name: &Token) -> Built {
        Ok(match self.variable_name(leading_dot, name) {
            Ok(ident) => Expr { id: self.token_id(name), kind: ExprKind::Ident(ident) },
            Err(error) => error,
        })
    }

    #[inline(never)]
    pub(super) fn visit_global_call(
        &mut self,
        leading_dot: Option<&Token>,
        function: &Token,
        open: &Token,
        args: &'t [NodeId],
    ) -> Built {
        let function = match self.variable_name(leading_dot, function) {
            Ok(function) => function,
            Err(error) => return Ok(error),
        };
        let id = self.token_id(open);
        let args = self.visit_all(args)?;
        self.call_or_macro(id, function, None, args)
    }

    #[inline(never)]
    pub(super) fn visit_member_call(
        &mut self,
        target: NodeId,
        function: &Token,
        open: &Token,
        args: &'t [NodeId],
    ) -> Built {
        let target = self.visit(target)?;
        let id = self.token_id(open);
        let args = self.visit_all(args)?;
        self.call_or_macro(id, function.text(self.text).to_owned(), Some(target), args)
    }

    #[inline(never)]
    fn visit_all(&mut self, nodes: &[NodeId]) -> Built<Vec<Expr>> {
        let mut exprs = Vec::with_capacity(nodes.len());
        for &node in nodes {
            exprs.push(self.visit(node)?);
        }
        Ok(exprs)
    }

    /// The name with its leading dot, unless it is reserved.
    fn variable_name(&mut self, leading_dot: Option<&Token>, name: &Token) -> Result<String, Expr> {
        let text = name.text(self.text);
        if RESERVED.contains(&text) {
            return Err(self.error_at(leading_dot.unwrap_or(name), &format!("reserved identifier: {text}")));
        }
        Ok(if leading_dot.is_some() { format!(".{text}") } else { text.to_owned() })
    }

    #[inline(never)]
    fn call_or_macro(&mut self, id: ExprId, function: String, target: Option<Expr>, args: Vec<Expr>) -> Built {
        let Some(expand) = macros::find(self.options.macros, &function, args.len(), target.is_some()) else {
            let kind = ExprKind::Call { target: target.map(Box::new), function, args };
            return Ok(Expr { id, kind });
        };
        let unexpanded = self.options.populate_macro_calls.then(|| {
            let source = self.ids.source();
            let args = args.iter().map(|arg| macro_call_part(source, arg)).collect();
            let target = target.as_ref().map(|target| Box::new(macro_call_part(source, target)));
            Expr { id: 0, kind: ExprKind::Call { target, function, args } }
        });
        let mut expander = Expander::new(&mut self.ids, id, self.options.max_ids);
        let expanded = expand(&mut expander, target, args);
        let error = match expanded {
            Ok(expr) => {
                if let Some(unexpanded) = unexpanded {
                    self.ids.source_mut().macro_calls.insert(expr.id, unexpanded);
                }
                self.ids.delete(id);
                return Ok(expr);
            }
            Err(error) => error,
        };
        match error {
            ExpandError::TooLarge => {
                let message = format!("expression expands to more than {} ids", self.options.max_ids);
                self.abort(message)
            }
            ExpandError::Argument { expr_id, message } => {
                let range = self.ids.range(expr_id).map(|range| OffsetRange { stop: range.start, ..range });
                let location = Location::of_expr(self.ids.source(), expr_id);
                self.ids.delete(id);
                let error_id = self.ids.add(range);
                self.issues.report(error_id, location, message);
                Ok(Expr { id: error_id, kind: ExprKind::Unspecified })
            }
        }
    }
}

/// A part of an unexpanded macro call; what itself came from a macro is only named by its id.
fn macro_call_part(source: &SourceInfo, expr: &Expr) -> Expr {
    let part = |expr: &Expr| macro_call_part(source, expr);
    let kind = match &expr.kind {
        _ if source.macro_calls.contains_key(&expr.id) => ExprKind::Unspecified,
        ExprKind::Call { target, function, args } => ExprKind::Call {
            target: target.as_ref().map(|target| Box::new(part(target))),
            function: function.clone(),
            args: args.iter().map(part).collect(),
        },
        ExprKind::List { elements, optional_indices } => {
            ExprKind::List { elements: elements.iter().map(part).collect(), optional_indices: optional_indices.clone() }
        }
        other => other.clone(),
    };
    Expr { id: expr.id, kind }
}
