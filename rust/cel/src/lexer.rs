//! Splits source text into tokens as the lexer generated from cel-go's `parser/gen/CEL.g4` does, its recovery included.

mod scan;
#[cfg(test)]
mod tests;

use scan::Scan;

/// The kinds of visible token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the grammar")]
pub enum TokenKind {
    Equals,
    NotEquals,
    In,
    Less,
    LessEquals,
    GreaterEquals,
    Greater,
    LogicalAnd,
    LogicalOr,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    Dot,
    Comma,
    Minus,
    Exclamation,
    Question,
    Colon,
    Plus,
    Star,
    Slash,
    Percent,
    True,
    False,
    Null,
    Float,
    Int,
    Uint,
    String,
    Bytes,
    Identifier,
    EscapedIdentifier,
    EndOfInput,
}

/// A token and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Code points before it.
    pub start: u32,
    /// Bytes before it.
    pub byte_start: u32,
    /// Its length in bytes.
    pub byte_len: u32,
}

impl Token {
    /// The token's text.
    pub fn text<'t>(&self, source: &'t str) -> &'t str {
        let start = self.byte_start as usize;
        source.get(start..start + self.byte_len as usize).unwrap_or("")
    }

    /// Where cel-go says that it ends: code points before it plus bytes in it.
    pub fn stop(&self) -> u32 {
        self.start.saturating_add(self.byte_len)
    }
}

/// Characters that begin no token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LexicalError<'t> {
    /// Code points before them.
    pub start: u32,
    /// The characters that were skipped: all that a token could have begun with, and the one that fits none.
    pub skipped: &'t str,
}

/// The tokens of a text, ending in [`TokenKind::EndOfInput`], and what was skipped between them.
#[derive(Debug)]
pub struct Tokens<'t> {
    /// The tokens; white space and comments are left out.
    pub tokens: Vec<Token>,
    /// The errors in order.
    pub errors: Vec<LexicalError<'t>>,
}

/// Splits a text of less than 4 GiB.
pub fn tokenize(text: &str) -> Tokens<'_> {
    let mut tokens = Vec::with_capacity(text.len() / 3 + 1);
    let mut errors = Vec::new();
    let (mut at, mut start) = (0, 0);
    while at < text.len() {
        let scan = scan::next(text, at);
        let end = match scan {
            Scan::Token(_, end) | Scan::Hidden(end) | Scan::Error(end) => end,
        };
        let piece = text.get(at..end).unwrap_or("");
        match scan {
            Scan::Token(kind, _) => {
                tokens.push(Token { kind, start, byte_start: at as u32, byte_len: piece.len() as u32 });
            }
            Scan::Error(_) => errors.push(LexicalError { start, skipped: piece }),
            Scan::Hidden(_) => {}
        }
        start += piece.chars().count() as u32;
        at = end;
    }
    tokens.push(Token { kind: TokenKind::EndOfInput, start, byte_start: at as u32, byte_len: 0 });
    Tokens { tokens, errors }
}
