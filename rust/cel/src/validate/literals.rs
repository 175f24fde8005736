//! Whether a literal argument is valid.

use crate::ast::Literal;
use crate::regex::Regex;
use crate::time;

/// Whether `duration(literal)` has a value.
pub(super) fn is_duration(literal: &Literal) -> bool {
    matches!(literal, Literal::String(text) if time::duration::parse(text).is_ok())
}

/// Whether `timestamp(literal)` has a value.
pub(super) fn is_timestamp(literal: &Literal) -> bool {
    let seconds = match literal {
        Literal::String(text) => match time::parse_rfc3339(text) {
            Ok(timestamp) => timestamp.seconds,
            Err(time::NotATime) => return false,
        },
        Literal::Int(seconds) => *seconds,
        _ => return false,
    };
    (time::MIN_SECONDS..=time::MAX_SECONDS).contains(&seconds)
}

/// Whether the literal is a pattern that Go's `regexp` compiles.
pub(super) fn is_pattern(literal: &Literal) -> bool {
    matches!(literal, Literal::String(pattern) if Regex::new(pattern).is_ok())
}
