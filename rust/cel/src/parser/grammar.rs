//! Recursive descent over cel-go's grammar (`parser/gen/CEL.g4`).
//!
//! Depth is counted as cel-go's parse listener counts it: open contexts of one rule. Only three rules can reach the limit
//! first, since each of the others opens at most once between two openings of `expr`.

use super::tree::{Element, Entry, Field, Node, NodeId, Tree};
use crate::lexer::{Token, TokenKind};

/// Why parsing stopped.
#[derive(Debug)]
pub(super) enum Stop {
    /// No sentence of the grammar continues with this token.
    Unexpected { found: Token, wanted: &'static str },
    /// A rule is open more often than allowed.
    TooDeep { at: Token },
}

/// The stop itself is kept in [`Grammar::stop`], so that results, and with them the frames of the recursion, stay small.
struct Stopped;

type Parsed<T = NodeId> = Result<T, Stopped>;

/// Whether an expression can begin with this token. cel-go looks before it enters what may be left out.
fn starts_expression(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(
        kind,
        LeftParen
            | LeftBracket
            | LeftBrace
            | Dot
            | Minus
            | Exclamation
            | True
            | False
            | Null
            | Float
            | Int
            | Uint
            | String
            | Bytes
            | Identifier
    )
}

const OR: u8 = 1;
const AND: u8 = 2;
const RELATION: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;

/// How tightly an operator binds; 0 for what is no binary operator.
fn tightness(kind: TokenKind) -> u8 {
    use TokenKind::*;
    match kind {
        LogicalOr => OR,
        LogicalAnd => AND,
        Less | LessEquals | GreaterEquals | Greater | Equals | NotEquals | In => RELATION,
        Plus | Minus => SUM,
        Star | Slash | Percent => PRODUCT,
        _ => 0,
    }
}

/// The rules whose open contexts are counted.
#[derive(Clone, Copy)]
enum Rule {
    Expr,
    Relation,
    Calc,
}

/// What was parsed.
pub(super) struct Outcome {
    /// The tree, when the tokens are or begin with an expression.
    pub(super) tree: Option<Tree>,
    /// The error, when they are not an expression.
    pub(super) stop: Option<Stop>,
}

/// Parses tokens that end in [`TokenKind::EndOfInput`].
pub(super) fn parse(tokens: &[Token], max_depth: u32) -> Outcome {
    let mut grammar =
        Grammar { tokens, at: 0, nodes: Vec::with_capacity(tokens.len()), open: [0; 3], max_depth, stop: None };
    let root = grammar.expr().ok();
    if root.is_some() {
        let _ = grammar.expect(TokenKind::EndOfInput, "<EOF>");
    }
    Outcome { tree: root.map(|root| Tree { nodes: grammar.nodes, root }), stop: grammar.stop }
}

struct Grammar<'t> {
    tokens: &'t [Token],
    at: usize,
    nodes: Vec<Node>,
    open: [u32; 3],
    max_depth: u32,
    stop: Option<Stop>,
}

// What is off the main line of the recursion is not inlined into it, which keeps its frames small.
impl Grammar<'_> {
    fn nth(&self, ahead: usize) -> Token {
        match self.tokens.get(self.at + ahead).or(self.tokens.last()) {
            Some(&token) => token,
            None => Token { kind: TokenKind::EndOfInput, start: 0, byte_start: 0, byte_len: 0 },
        }
    }

    fn peek(&self) -> TokenKind {
        self.nth(0).kind
    }

    fn advance(&mut self) -> Token {
        let token = self.nth(0);
        self.at += 1;
        token
    }

    fn eat(&mut self, kind: TokenKind) -> Option<Token> {
        (self.peek() == kind).then(|| self.advance())
    }

    fn expect(&mut self, kind: TokenKind, wanted: &'static str) -> Parsed<Token> {
        match self.eat(kind) {
            Some(token) => Ok(token),
            None => self.unexpected(wanted),
        }
    }

    #[inline(never)]
    fn unexpected<T>(&mut self, wanted: &'static str) -> Parsed<T> {
        self.stop = Some(Stop::Unexpected { found: self.nth(0), wanted });
        Err(Stopped)
    }

    #[inline(never)]
    fn node(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.nodes.len() as NodeId - 1
    }

    fn enter(&mut self, rule: Rule) -> Parsed<()> {
        let open = &mut self.open[rule as usize];
        *open += 1;
        if *open > self.max_depth {
            self.stop = Some(Stop::TooDeep { at: self.nth(0) });
            return Err(Stopped);
        }
        Ok(())
    }

    fn exit(&mut self, rule: Rule) {
        self.open[rule as usize] -= 1;
    }

    /// `conditionalOr ('?' conditionalOr ':' expr)?`
    fn expr(&mut self) -> Parsed {
        self.enter(Rule::Expr)?;
        let mut expr = self.binary(OR)?;
        if let Some(op) = self.eat(TokenKind::Question) {
            let if_true = self.binary(OR)?;
            self.expect(TokenKind::Colon, "':'")?;
            let if_false = self.expr()?;
            expr = self.node(Node::Ternary { condition: expr, op, if_true, if_false });
        }
        self.exit(Rule::Expr);
        Ok(expr)
    }

    /// `conditionalOr`, `conditionalAnd`, `relation` and `calc`: operands joined by operators that bind at least as tightly
    /// as `floor`. One function by precedence, for the sake of the stack; the rules that are open in the meantime are those
    /// of the grammar, in which an operand of `&&` is a relation, and one of a relation a calculation.
    fn binary(&mut self, floor: u8) -> Parsed {
        let is_relation = floor <= SUM;
        if is_relation {
            self.enter(Rule::Relation)?;
        }
        self.enter(Rule::Calc)?;
        let mut open = if is_relation { SUM } else { PRODUCT };
        let mut left = self.unary()?;
        loop {
            let op = self.nth(0);
            let tightness = tightness(op.kind);
            if tightness < floor {
                break;
            }
            if tightness < SUM && open >= SUM {
                self.exit(Rule::Calc);
                open = RELATION;
            }
            if tightness < RELATION && open >= RELATION {
                self.exit(Rule::Relation);
                open = OR;
            }
            left = if tightness < RELATION {
                self.chain(left, op.kind, tightness)?
            } else {
                self.advance();
                let right = self.binary(tightness + 1)?;
                self.node(Node::Binary { left, op, right })
            };
        }
        if open >= SUM {
            self.exit(Rule::Calc);
        }
        if is_relation && open >= RELATION {
            self.exit(Rule::Relation);
        }
        Ok(left)
    }

    /// The operands after `first` of one logical operator.
    #[inline(never)]
    fn chain(&mut self, first: NodeId, kind: TokenKind, tightness: u8) -> Parsed {
        let mut rest = Vec::new();
        while let Some(op) = self.eat(kind) {
            rest.push((op, self.binary(tightness + 1)?));
        }
        Ok(self.node(Node::Logic { kind, first, rest }))
    }

    /// `member | '!'+ member | '-'+ member`. A single `-` before a number is that number's sign.
    fn unary(&mut self) -> Parsed {
        let op = self.nth(0);
        let signs_number = matches!(self.nth(1).kind, TokenKind::Int | TokenKind::Float);
        let is_operator = match op.kind {
            TokenKind::Exclamation => true,
            TokenKind::Minus => !signs_number,
            _ => false,
        };
        if !is_operator {
            return self.member();
        }
        let mut count = 0;
        while self.eat(op.kind).is_some() {
            count += 1;
        }
        let operand = self.member()?;
        Ok(self.node(Node::Unary { op, count, operand }))
    }

    /// `primary` and the selections, calls and indexes after it.
    fn member(&mut self) -> Parsed {
        let mut operand = self.primary()?;
        loop {
            let op = self.nth(0);
            operand = match op.kind {
                TokenKind::Dot => {
                    self.advance();
                    self.selection(operand, op)?
                }
                TokenKind::LeftBracket => {
                    self.advance();
                    let optional = self.eat(TokenKind::Question).is_some();
                    let index = self.expr()?;
                    self.expect(TokenKind::RightBracket, "']'")?;
                    self.node(Node::Index { operand, op, optional, index })
                }
                _ => return Ok(operand),
            };
        }
    }

    /// What follows the dot `op`: a field, or a method and its arguments.
    #[inline(never)]
    fn selection(&mut self, operand: NodeId, op: Token) -> Parsed {
        let optional = self.eat(TokenKind::Question).is_some();
        let field = self.nth(0);
        if !matches!(field.kind, TokenKind::Identifier | TokenKind::EscapedIdentifier) {
            return self.unexpected("IDENTIFIER");
        }
        self.advance();
        if !optional
            && field.kind == TokenKind::Identifier
            && let Some(open) = self.eat(TokenKind::LeftParen)
        {
            let args = self.arguments()?;
            return Ok(self.node(Node::MemberCall { target: operand, function: field, open, args }));
        }
        Ok(self.node(Node::Select { operand, op, optional, field }))
    }

    /// Arguments up to the closing parenthesis; no trailing comma.
    #[inline(never)]
    fn arguments(&mut self) -> Parsed<Vec<NodeId>> {
        let mut args = Vec::new();
        if self.eat(TokenKind::RightParen).is_some() {
            return Ok(args);
        }
        if !starts_expression(self.peek()) {
            return self.unexpected("')'");
        }
        loop {
            args.push(self.expr()?);
            if self.eat(TokenKind::Comma).is_none() {
                self.expect(TokenKind::RightParen, "')'")?;
                return Ok(args);
            }
        }
    }

    fn primary(&mut self) -> Parsed {
        use TokenKind::*;
        let token = self.nth(0);
        match token.kind {
            LeftParen => {
                self.advance();
                let expr = self.expr()?;
                self.expect(RightParen, "')'")?;
                Ok(expr)
            }
            LeftBracket => {
                self.advance();
                let elements = self.sequence(RightBracket, "']'", Self::element)?;
                Ok(self.node(Node::List { op: token, elements }))
            }
            LeftBrace => {
                self.advance();
                let entries = self.sequence(RightBrace, "'}'", Self::entry)?;
                Ok(self.node(Node::Map { op: token, entries }))
            }
            Dot | Identifier => self.name(),
            Minus => {
                self.advance();
                if !matches!(self.peek(), Int | Float) {
                    return self.unexpected("a number");
                }
                let number = self.advance();
                Ok(self.node(Node::Literal { sign: Some(token), token: number }))
            }
            Int | Uint | Float | String | Bytes | True | False | Null => {
                self.advance();
                Ok(self.node(Node::Literal { sign: None, token }))
            }
            _ => self.unexpected("an expression"),
        }
    }

    /// An identifier, a global call, or a message literal.
    #[inline(never)]
    fn name(&mut self) -> Parsed {
        let leading_dot = self.eat(TokenKind::Dot);
        let name = self.expect(TokenKind::Identifier, "IDENTIFIER")?;
        if let Some(open) = self.eat(TokenKind::LeftParen) {
            let args = self.arguments()?;
            return Ok(self.node(Node::GlobalCall { leading_dot, function: name, open, args }));
        }
        let mut parts = 0;
        while self.nth(2 * parts).kind == TokenKind::Dot && self.nth(2 * parts + 1).kind == TokenKind::Identifier {
            parts += 1;
        }
        if self.nth(2 * parts).kind != TokenKind::LeftBrace {
            return Ok(self.node(Node::Ident { leading_dot, name }));
        }
        let mut names = vec![name];
        for _ in 0..parts {
            self.advance();
            names.push(self.advance());
        }
        let op = self.advance();
        let fields = self.sequence(TokenKind::RightBrace, "'}'", Self::field)?;
        Ok(self.node(Node::Message { leading_dot: leading_dot.is_some(), names, op, fields }))
    }

    /// Items up to `close`; a comma may stand before it, even without items.
    #[inline(never)]
    fn sequence<T>(
        &mut self,
        close: TokenKind,
        wanted: &'static str,
        item: fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        if !matches!(self.peek(), TokenKind::Comma) && self.peek() != close {
            if !matches!(self.peek(), TokenKind::Question | TokenKind::EscapedIdentifier)
                && !starts_expression(self.peek())
            {
                return self.unexpected(wanted);
            }
            items.push(item(self)?);
        }
        while self.eat(TokenKind::Comma).is_some() {
            if items.is_empty() || self.peek() == close {
                break;
            }
            items.push(item(self)?);
        }
        self.expect(close, wanted)?;
        Ok(items)
    }

    #[inline(never)]
    fn element(&mut self) -> Parsed<Element> {
        let optional = self.eat(TokenKind::Question);
        Ok(Element { optional, expr: self.expr()? })
    }

    #[inline(never)]
    fn entry(&mut self) -> Parsed<Entry> {
        let key = self.element()?;
        let colon = self.expect(TokenKind::Colon, "':'")?;
        Ok(Entry { key, colon, value: self.expr()? })
    }

    #[inline(never)]
    fn field(&mut self) -> Parsed<Field> {
        let optional = self.eat(TokenKind::Question);
        let name = self.nth(0);
        if !matches!(name.kind, TokenKind::Identifier | TokenKind::EscapedIdentifier) {
            return self.unexpected("IDENTIFIER");
        }
        self.advance();
        let colon = self.expect(TokenKind::Colon, "':'")?;
        Ok(Field { optional, name, colon, value: self.expr()? })
    }
}
