//! Literals (cel-go `VisitInt`, `VisitUint`, `VisitDouble`, `VisitString`, `VisitBytes`).

use super::{Builder, Built};
use crate::ast::{Expr, ExprKind, Literal, OffsetRange};
use crate::lexer::{Token, TokenKind};
use crate::unescape::{unescape_bytes, unescape_string};

impl Builder<'_> {
    #[inline(never)]
    pub(super) fn visit_literal(&mut self, sign: Option<&Token>, token: &Token) -> Built {
        let first = sign.unwrap_or(token);
        Ok(match self.literal(sign.is_some(), token) {
            Ok(literal) => {
                // The range counts the literal's own characters, not white space after the sign.
                let len = token.byte_len + sign.map_or(0, |sign| sign.byte_len);
                let range = OffsetRange { start: first.start, stop: first.start + len };
                Expr { id: self.ids.add(Some(range)), kind: ExprKind::Literal(literal) }
            }
            Err(message) => self.error_at(first, message),
        })
    }

    fn literal(&self, negative: bool, token: &Token) -> Result<Literal, &'static str> {
        let text = token.text(self.text);
        match token.kind {
            TokenKind::Int => int(text, negative).map(Literal::Int).ok_or("invalid int literal"),
            TokenKind::Uint => uint(text).map(Literal::Uint).ok_or("invalid uint literal"),
            TokenKind::Float => double(text, negative).map(Literal::Double).ok_or("invalid double literal"),
            TokenKind::String => unescape_string(text).map(Literal::String).map_err(|error| error.message()),
            TokenKind::Bytes => {
                unescape_bytes(text.get(1..).unwrap_or("")).map(Literal::Bytes).map_err(|error| error.message())
            }
            TokenKind::True => Ok(Literal::Bool(true)),
            TokenKind::False => Ok(Literal::Bool(false)),
            _ => Ok(Literal::Null),
        }
    }
}

fn magnitude(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn int(text: &str, negative: bool) -> Option<i64> {
    let magnitude = magnitude(text)?;
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

fn uint(text: &str) -> Option<u64> {
    magnitude(text.strip_suffix(['u', 'U'])?)
}

/// As Go's `strconv.ParseFloat`: too large is an error, too small is zero.
fn double(text: &str, negative: bool) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    value.is_finite().then_some(if negative { -value } else { value })
}
