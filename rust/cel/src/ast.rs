//! The abstract syntax tree, with cel-go's shape and expression ids (cel-go `common/ast`, cel-spec `syntax.proto`).
//!
//! Ids are assigned in the order in which cel-go's parser assigns them; messages, references and types are keyed by them.

use std::collections::HashMap;

/// Identifies one expression of an [`Ast`]. Positive; 0 means "none".
pub type ExprId = i64;

/// One expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// Unique within its [`Ast`], except where a macro expansion copies a sub-expression.
    pub id: ExprId,
    /// What the expression is.
    pub kind: ExprKind,
}

/// The kinds of expression that remain after macro expansion.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// An expression that the parser or a macro failed on; never present in a successfully parsed tree.
    Unspecified,
    /// A constant.
    Literal(Literal),
    /// A simple or qualified name (qualified ones appear after checking; a leading dot is kept in the text).
    Ident(String),
    /// `operand.field`, or `has(operand.field)` when `test_only`.
    Select {
        /// The expression selected from.
        operand: Box<Expr>,
        /// The field, unescaped (without back-quotes).
        field: String,
        /// True for the expansion of the `has` macro.
        test_only: bool,
    },
    /// A function, operator (`_+_`, `_&&_`, `_?_:_`, `_[_]`, `_?._`, ...) or method call.
    Call {
        /// The receiver of a method call.
        target: Option<Box<Expr>>,
        /// Function name, operators in cel-go's spelling (`common/operators`).
        function: String,
        /// Arguments without the receiver.
        args: Vec<Expr>,
    },
    /// `[a, ?b, c]`.
    List {
        /// The elements in order.
        elements: Vec<Expr>,
        /// Indices of elements marked with `?`.
        optional_indices: Vec<u32>,
    },
    /// `{k: v, ?k2: v2}`.
    Map {
        /// The entries in order.
        entries: Vec<MapEntry>,
    },
    /// `type.name{field: v, ?field2: v2}`.
    Struct {
        /// The message type's name as written.
        type_name: String,
        /// The field initialisers in order.
        fields: Vec<StructField>,
    },
    /// A macro's loop.
    Comprehension(Box<Comprehension>),
}

/// One `key: value` of a map literal.
#[derive(Debug, Clone, PartialEq)]
pub struct MapEntry {
    /// The entry's own id.
    pub id: ExprId,
    /// The key.
    pub key: Expr,
    /// The value.
    pub value: Expr,
    /// Marked with `?`.
    pub optional: bool,
}

/// One `field: value` of a message literal.
#[derive(Debug, Clone, PartialEq)]
pub struct StructField {
    /// The field's own id.
    pub id: ExprId,
    /// The field's name, unescaped.
    pub field: String,
    /// The value.
    pub value: Expr,
    /// Marked with `?`.
    pub optional: bool,
}

/// The fold that `all`, `exists`, `map` and their kin expand to (cel-spec `Expr.Comprehension`).
#[derive(Debug, Clone, PartialEq)]
pub struct Comprehension {
    /// The list or map iterated over.
    pub iter_range: Expr,
    /// The (first) iteration variable.
    pub iter_var: String,
    /// The second iteration variable of a two-variable comprehension; empty when there is none.
    pub iter_var2: String,
    /// The accumulator's name: `@result`, or a macro's own.
    pub accu_var: String,
    /// The accumulator's first value.
    pub accu_init: Expr,
    /// Continue while this holds.
    pub loop_condition: Expr,
    /// The accumulator's next value.
    pub loop_step: Expr,
    /// The comprehension's value, in terms of the accumulator.
    pub result: Expr,
}

/// A literal constant.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `-1`, `0x1F`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.5e3`
    Double(f64),
    /// `'abc'`
    String(String),
    /// `b'abc'`
    Bytes(Vec<u8>),
}

/// A range of code points in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OffsetRange {
    /// First code point, from 0.
    pub start: u32,
    /// One past the last code point.
    pub stop: u32,
}

/// Where expressions stand in the source, and the macro calls that were expanded.
#[derive(Debug, Clone, Default)]
pub struct SourceInfo {
    /// The source text.
    pub text: String,
    /// Code-point offsets at which each line after the first starts (one past each newline), as cel-go's `LineOffsets`.
    pub line_offsets: Vec<u32>,
    /// The source range of each expression.
    pub offsets: HashMap<ExprId, OffsetRange>,
    /// The unexpanded call of each macro, by the id of its expansion.
    pub macro_calls: HashMap<ExprId, Expr>,
}

/// A parsed expression.
#[derive(Debug, Clone)]
pub struct Ast {
    /// The root expression.
    pub expr: Expr,
    /// Positions and macro calls.
    pub source: SourceInfo,
}

impl SourceInfo {
    /// Line (from 1) and column (from 0, in code points) of a code-point offset, as cel-go's `GetLocationByOffset`.
    pub fn location(&self, offset: u32) -> (u32, u32) {
        let line = self.line_offsets.partition_point(|&start| start <= offset);
        let line_start = if line == 0 { 0 } else { self.line_offsets[line - 1] };
        (line as u32 + 1, offset - line_start)
    }

    /// Line (from 1) and column (from 0) of an expression, if it has a position.
    pub fn expr_location(&self, id: ExprId) -> Option<(u32, u32)> {
        self.offsets.get(&id).map(|range| self.location(range.start))
    }
}
