//! `'...'.format([...])` with literal text and list: the clauses and the types of their arguments (cel-go
//! `stringFormatChecker`).

use crate::ast::{Expr, ExprId, ExprKind};
use crate::check::ExprMap;
use crate::types::{Kind, Type};

/// What is wrong, and with which argument if with one.
pub(super) struct FormatError {
    pub(super) argument: Option<ExprId>,
    pub(super) message: String,
}

const NUMBERS: &[Kind] = &[Kind::Int, Kind::Uint];
const FLOATS: &[Kind] = &[Kind::Double, Kind::String];
const BINARY: &[Kind] = &[Kind::Int, Kind::Uint, Kind::Bool];
const HEX: &[Kind] = &[Kind::Int, Kind::Uint, Kind::String, Kind::Bytes];
const PRINTABLE: &[Kind] = &[
    Kind::List,
    Kind::Map,
    Kind::Int,
    Kind::Uint,
    Kind::Double,
    Kind::Bool,
    Kind::String,
    Kind::Timestamp,
    Kind::Bytes,
    Kind::Duration,
    Kind::Type,
    Kind::Null,
];

/// Checks the arguments of a format text.
pub(super) fn check(text: &str, args: &[Expr], types: &ExprMap<Type>) -> Result<(), FormatError> {
    let mut rest = text.as_bytes();
    let mut used = 0;
    while let Some((byte, after)) = rest.split_first() {
        rest = match (byte, after.first()) {
            (b'%', Some(b'%')) => &after[1..],
            (b'%', None) => return Err(general("unexpected end of string")),
            (b'%', Some(_)) => {
                let argument = args.get(used).ok_or_else(|| general(format!("index {used} out of range")))?;
                used += 1;
                let (clause, after) = clause(after)
                    .map_err(|message| general(format!("could not parse formatting clause: {message}")))?;
                check_argument(clause, argument, types)?;
                after
            }
            _ => after,
        };
    }
    if args.len() > used {
        let given = args.len();
        let message = format!("too many arguments supplied to string.format (expected {used}, got {given})");
        return Err(general(message));
    }
    Ok(())
}

fn general(message: impl Into<String>) -> FormatError {
    FormatError { argument: None, message: message.into() }
}

/// The letter of the clause after a `%`, and what follows it.
fn clause(text: &[u8]) -> Result<(u8, &[u8]), String> {
    let text = match text.split_first() {
        Some((b'.', after)) => {
            precision(after).map_err(|message| format!("error while parsing precision: {message}"))?
        }
        _ => text,
    };
    match text.split_first() {
        Some((letter @ (b's' | b'd' | b'f' | b'e' | b'b' | b'x' | b'X' | b'o'), after)) => Ok((*letter, after)),
        Some((other, _)) => Err(format!("unrecognized formatting clause \"{}\"", char::from(*other))),
        None => Err("could not find end of precision specifier".to_owned()),
    }
}

/// Skips the digits after a `.`; they must be a number that fits Go's `int`.
fn precision(text: &[u8]) -> Result<&[u8], String> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, after) = text.split_at(count);
    if after.is_empty() {
        return Err("could not find end of precision specifier".to_owned());
    }
    let digits = String::from_utf8_lossy(digits);
    let problem = match digits.parse::<i64>() {
        Ok(_) => return Ok(after),
        Err(_) if digits.is_empty() => "invalid syntax",
        Err(_) => "value out of range",
    };
    Err(format!("error while converting precision to integer: strconv.Atoi: parsing \"{digits}\": {problem}"))
}

fn check_argument(clause: u8, argument: &Expr, types: &ExprMap<Type>) -> Result<(), FormatError> {
    let (accepted, complaint) = match clause {
        b's' => return check_printable(argument, types),
        b'd' => (NUMBERS, "decimal clause can only be used on integers"),
        b'f' => (FLOATS, "fixed-point clause can only be used on doubles"),
        b'e' => (FLOATS, "scientific clause can only be used on doubles"),
        b'b' => (BINARY, "only integers and bools can be formatted as binary"),
        b'o' => (NUMBERS, "octal clause can only be used on integers"),
        _ => (HEX, "only integers, byte buffers, and strings can be formatted as hex"),
    };
    check_kind(argument, types, accepted, complaint)
}

fn check_kind(argument: &Expr, types: &ExprMap<Type>, accepted: &[Kind], complaint: &str) -> Result<(), FormatError> {
    match types.get(&argument.id) {
        Some(ty) if *ty != Type::Dyn && !accepted.contains(&ty.kind()) => Err(FormatError {
            argument: Some(argument.id),
            message: format!("error during formatting: {complaint}, was given {}", ty.type_name()),
        }),
        _ => Ok(()),
    }
}

/// `%s` looks into list and map literals.
fn check_printable(argument: &Expr, types: &ExprMap<Type>) -> Result<(), FormatError> {
    const COMPLAINT: &str = "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, \
                             types, durations, and timestamps";
    check_kind(argument, types, PRINTABLE, COMPLAINT)?;
    match &argument.kind {
        ExprKind::List { elements, .. } => elements.iter().try_for_each(|element| check_printable(element, types)),
        ExprKind::Map { entries } => entries.iter().try_for_each(|entry| {
            check_printable(&entry.key, types)?;
            check_printable(&entry.value, types)
        }),
        _ => Ok(()),
    }
}
