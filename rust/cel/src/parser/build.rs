//! Parse tree → AST, visiting in cel-go's order, since that order decides the ids.

mod calls;
mod literals;

use super::ParseOptions;
use super::ids::Ids;
use super::tree::{Element, Entry, Field, Node, NodeId, Term};
use crate::ast::{Expr, ExprId, ExprKind, Literal, MapEntry, OffsetRange, SourceInfo, StructField};
use crate::issues::{Issues, Location};
use crate::lexer::{Token, TokenKind};

/// The visit cannot go on; the reason has been reported.
struct Abort;

type Built<T = Expr> = Result<T, Abort>;

/// Names that cannot be variables or global functions, though they can be fields.
const RESERVED: &[&str] = &[
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "package",
    "namespace",
    "null",
    "return",
    "true",
    "var",
    "void",
    "while",
];

pub(super) struct Builder<'t> {
    text: &'t str,
    options: &'t ParseOptions,
    nodes: &'t [Node],
    ids: Ids,
    issues: Issues,
    depth: u32,
}

impl<'t> Builder<'t> {
    pub(super) fn new(
        text: &'t str,
        source: SourceInfo,
        options: &'t ParseOptions,
        nodes: &'t [Node],
        issues: Issues,
    ) -> Builder<'t> {
        Builder { text, options, nodes, ids: Ids::new(source), issues, depth: 0 }
    }

    /// The AST of a node, or `None` when a limit was passed.
    pub(super) fn run(&mut self, root: NodeId) -> Option<Expr> {
        self.visit(root).ok()
    }

    /// Positions, macro calls and errors.
    pub(super) fn finish(self) -> (SourceInfo, Issues) {
        (self.ids.into_source(), self.issues)
    }

    fn visit(&mut self, id: NodeId) -> Built {
        let nodes = self.nodes;
        let Some(node) = nodes.get(id as usize) else {
            return Err(Abort);
        };
        match node {
            Node::Ternary { .. }
            | Node::Binary { .. }
            | Node::Select { .. }
            | Node::MemberCall { .. }
            | Node::Index { .. } => {
                self.depth += 1;
                if self.depth > self.options.max_recursion_depth {
                    return self.abort("max recursion depth exceeded".to_owned());
                }
                let built = self.visit_counted(node);
                self.depth -= 1;
                built
            }
            Node::Logic { kind, first, rest } => self.visit_logic(*kind, *first, rest),
            Node::Unary { op, count, operand } => self.visit_unary(op, *count, *operand),
            Node::Ident { leading_dot, name } => self.visit_ident(leading_dot.as_ref(), name),
            Node::GlobalCall { leading_dot, function, open, args } => {
                self.visit_global_call(leading_dot.as_ref(), function, open, args)
            }
            Node::List { op, elements } => self.visit_list(op, elements),
            Node::Map { op, entries } => self.visit_map(op, entries),
            Node::Message { leading_dot, names, op, fields } => self.visit_message(*leading_dot, names, op, fields),
            Node::Literal { sign, token } => self.visit_literal(sign.as_ref(), token),
        }
    }

    // The visits of each kind of node stay functions of their own: inlined into one, their frames would add up.

    /// The nodes that cel-go counts against its recursion limit.
    #[inline(never)]
    fn visit_counted(&mut self, node: &'t Node) -> Built {
        match node {
            Node::Ternary { condition, op, if_true, if_false } => {
                self.visit_ternary(*condition, op, *if_true, *if_false)
            }
            Node::Binary { left, op, right } => self.visit_binary(*left, op, *right),
            Node::Select { operand, op, optional, field } => self.visit_select(*operand, op, *optional, field),
            Node::Index { operand, op, optional, index } => self.visit_index(*operand, op, *optional, *index),
            Node::MemberCall { target, function, open, args } => self.visit_member_call(*target, function, open, args),
            _ => Err(Abort),
        }
    }

    #[inline(never)]
    fn visit_ternary(&mut self, condition: NodeId, op: &Token, if_true: NodeId, if_false: NodeId) -> Built {
        let condition = self.visit(condition)?;
        let id = self.token_id(op);
        let if_true = self.visit(if_true)?;
        let if_false = self.visit(if_false)?;
        Ok(call(id, "_?_:_", vec![condition, if_true, if_false]))
    }

    #[inline(never)]
    fn visit_binary(&mut self, left: NodeId, op: &Token, right: NodeId) -> Built {
        let left = self.visit(left)?;
        let id = self.token_id(op);
        let right = self.visit(right)?;
        Ok(call(id, binary_operator(op.kind), vec![left, right]))
    }

    #[inline(never)]
    fn visit_logic(&mut self, kind: TokenKind, first: NodeId, rest: &'t [Term]) -> Built {
        let first = self.visit(first)?;
        let mut terms = Vec::with_capacity(rest.len());
        for (op, operand) in rest {
            let term = self.visit(*operand)?;
            terms.push((self.token_id(op), term));
        }
        let function = if kind == TokenKind::LogicalOr { "_||_" } else { "_&&_" };
        Ok(balance(function, first, terms))
    }

    #[inline(never)]
    fn visit_unary(&mut self, op: &Token, count: u32, operand: NodeId) -> Built {
        if count.is_multiple_of(2) {
            return self.visit(operand);
        }
        let id = self.token_id(op);
        let operand = self.visit(operand)?;
        let function = if op.kind == TokenKind::Exclamation { "!_" } else { "-_" };
        Ok(call(id, function, vec![operand]))
    }

    #[inline(never)]
    fn visit_select(&mut self, operand: NodeId, op: &Token, optional: bool, field: &Token) -> Built {
        let operand = self.visit(operand)?;
        let name = match self.identifier(field) {
            Ok(name) => name,
            Err(message) => {
                self.error_at(field, message);
                String::new()
            }
        };
        if !optional {
            let kind = ExprKind::Select { operand: Box::new(operand), field: name, test_only: false };
            return Ok(Expr { id: self.token_id(op), kind });
        }
        if !self.options.optional_syntax {
            return Ok(self.error_at(op, "unsupported syntax '.?'"));
        }
        let field = Expr { id: self.token_id(field), kind: ExprKind::Literal(Literal::String(name)) };
        Ok(call(self.token_id(op), "_?._", vec![operand, field]))
    }

    #[inline(never)]
    fn visit_index(&mut self, operand: NodeId, op: &Token, optional: bool, index: NodeId) -> Built {
        let operand = self.visit(operand)?;
        let id = self.token_id(op);
        let index = self.visit(index)?;
        if optional && !self.options.optional_syntax {
            return Ok(self.error_at(op, "unsupported syntax '[?'"));
        }
        Ok(call(id, if optional { "_[?_]" } else { "_[_]" }, vec![operand, index]))
    }

    #[inline(never)]
    fn visit_list(&mut self, op: &Token, items: &'t [Element]) -> Built {
        let id = self.token_id(op);
        let mut elements = Vec::with_capacity(items.len());
        let mut optional_indices = Vec::new();
        for (index, item) in items.iter().enumerate() {
            elements.push(self.visit(item.expr)?);
            if let Some(mark) = &item.optional {
                if self.options.optional_syntax {
                    optional_indices.push(index as u32);
                } else {
                    self.error_at(mark, "unsupported syntax '?'");
                }
            }
        }
        Ok(Expr { id, kind: ExprKind::List { elements, optional_indices } })
    }

    #[inline(never)]
    fn visit_map(&mut self, op: &Token, items: &'t [Entry]) -> Built {
        let id = self.token_id(op);
        let mut entries = Vec::with_capacity(items.len());
        for item in items {
            let entry_id = self.token_id(&item.colon);
            if let Some(mark) = item.key.optional.as_ref().filter(|_| !self.options.optional_syntax) {
                self.error_at(mark, "unsupported syntax '?'");
                continue;
            }
            let key = self.visit(item.key.expr)?;
            let value = self.visit(item.value)?;
            entries.push(MapEntry { id: entry_id, key, value, optional: item.key.optional.is_some() });
        }
        Ok(Expr { id, kind: ExprKind::Map { entries } })
    }

    #[inline(never)]
    fn visit_message(&mut self, leading_dot: bool, names: &[Token], op: &Token, items: &'t [Field]) -> Built {
        let mut type_name = String::new();
        for (index, name) in names.iter().enumerate() {
            if leading_dot || index > 0 {
                type_name.push('.');
            }
            type_name.push_str(name.text(self.text));
        }
        let id = self.token_id(op);
        let mut fields = Vec::with_capacity(items.len());
        for item in items {
            let field_id = self.token_id(&item.colon);
            if let Some(mark) = item.optional.as_ref().filter(|_| !self.options.optional_syntax) {
                self.error_at(mark, "unsupported syntax '?'");
                continue;
            }
            let field = match self.identifier(&item.name) {
                Ok(field) => field,
                Err(message) => {
                    // cel-go places this at the start of the list of fields.
                    let first = items.first().map_or(item.name, |first| first.optional.unwrap_or(first.name));
                    self.error_at(&first, message);
                    continue;
                }
            };
            let value = self.visit(item.value)?;
            fields.push(StructField { id: field_id, field, value, optional: item.optional.is_some() });
        }
        Ok(Expr { id, kind: ExprKind::Struct { type_name, fields } })
    }

    /// The name that a field's token stands for.
    fn identifier(&self, token: &Token) -> Result<String, &'static str> {
        let text = token.text(self.text);
        if token.kind != TokenKind::EscapedIdentifier {
            return Ok(text.to_owned());
        }
        if !self.options.escaped_identifiers {
            return Err("unsupported syntax: '`'");
        }
        Ok(text.trim_matches('`').to_owned())
    }

    fn token_id(&mut self, token: &Token) -> ExprId {
        self.ids.add(Some(OffsetRange { start: token.start, stop: token.stop() }))
    }

    /// Reports an error at a token and stands in for what could not be built.
    fn error_at(&mut self, token: &Token, message: &str) -> Expr {
        let id = self.token_id(token);
        let location = Location::of_offset(self.ids.source(), token.start);
        self.issues.report(id, location, message.to_owned());
        Expr { id, kind: ExprKind::Unspecified }
    }

    fn abort<T>(&mut self, message: String) -> Built<T> {
        self.issues.report(0, Location::NONE, message);
        Err(Abort)
    }
}

/// A call of a global function or an operator.
fn call(id: ExprId, function: &str, args: Vec<Expr>) -> Expr {
    Expr { id, kind: ExprKind::Call { target: None, function: function.to_owned(), args } }
}

fn binary_operator(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Less => "_<_",
        TokenKind::LessEquals => "_<=_",
        TokenKind::Greater => "_>_",
        TokenKind::GreaterEquals => "_>=_",
        TokenKind::Equals => "_==_",
        TokenKind::NotEquals => "_!=_",
        TokenKind::In => "@in",
        TokenKind::Plus => "_+_",
        TokenKind::Minus => "_-_",
        TokenKind::Star => "_*_",
        TokenKind::Slash => "_/_",
        _ => "_%_",
    }
}

/// Turns a chain of one logical operator into a balanced tree (cel-go `logicManager`).
fn balance(function: &str, first: Expr, mut rest: Vec<(ExprId, Expr)>) -> Expr {
    if rest.is_empty() {
        return first;
    }
    let middle = rest.len() / 2;
    let right = rest.split_off(middle + 1);
    let Some((op, pivot)) = rest.pop() else {
        return first;
    };
    let left = balance(function, first, rest);
    let right = balance(function, pivot, right);
    call(op, function, vec![left, right])
}
