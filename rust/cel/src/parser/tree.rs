//! The parse tree between grammar and AST: what cel-go's visitor sees, without the contexts that it skips.

use crate::lexer::{Token, TokenKind};

/// Index of a node in its [`Tree`].
pub(super) type NodeId = u32;

/// Nodes in an arena, so that neither building nor dropping a deep tree needs stack.
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
}

/// An operand of a chain and the operator before it.
pub(super) type Term = (Token, NodeId);

/// An element, key or field with an optional `?` before it.
pub(super) struct Element {
    pub(super) optional: Option<Token>,
    pub(super) expr: NodeId,
}

/// `key: value`.
pub(super) struct Entry {
    pub(super) key: Element,
    pub(super) colon: Token,
    pub(super) value: NodeId,
}

/// `field: value`.
pub(super) struct Field {
    pub(super) optional: Option<Token>,
    pub(super) name: Token,
    pub(super) colon: Token,
    pub(super) value: NodeId,
}

/// One construct of the grammar.
pub(super) enum Node {
    Ternary {
        condition: NodeId,
        op: Token,
        if_true: NodeId,
        if_false: NodeId,
    },
    /// A chain of `||` or of `&&`.
    Logic {
        kind: TokenKind,
        first: NodeId,
        rest: Vec<Term>,
    },
    /// A relation or a calculation.
    Binary {
        left: NodeId,
        op: Token,
        right: NodeId,
    },
    /// `!` or `-`, `count` times; `op` is the first.
    Unary {
        op: Token,
        count: u32,
        operand: NodeId,
    },
    Select {
        operand: NodeId,
        op: Token,
        optional: bool,
        field: Token,
    },
    MemberCall {
        target: NodeId,
        function: Token,
        open: Token,
        args: Vec<NodeId>,
    },
    Index {
        operand: NodeId,
        op: Token,
        optional: bool,
        index: NodeId,
    },
    Ident {
        leading_dot: Option<Token>,
        name: Token,
    },
    GlobalCall {
        leading_dot: Option<Token>,
        function: Token,
        open: Token,
        args: Vec<NodeId>,
    },
    List {
        op: Token,
        elements: Vec<Element>,
    },
    Map {
        op: Token,
        entries: Vec<Entry>,
    },
    Message {
        leading_dot: bool,
        names: Vec<Token>,
        op: Token,
        fields: Vec<Field>,
    },
    Literal {
        sign: Option<Token>,
        token: Token,
    },
}
