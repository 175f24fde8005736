//! `format` (cel-go `ext/formatting.go`, as before version 4 of the library).

use std::fmt::Write as _;

use bumpalo::collections::String as ArenaString;

use super::number::{fixed, plain, scientific};
use super::{MAX_RESULT_BYTES, no_such_overload, too_long};
use crate::context::EvalContext;
use crate::gotext::quote as quoted;
use crate::ops::convert::to_string;
use crate::value::{ListView, MapView, Value};

pub(super) fn format<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(text), list] = args else {
        return no_such_overload(ctx);
    };
    let Some(list) = ListView::of(*list) else {
        return no_such_overload(ctx);
    };
    let mut out = ArenaString::with_capacity_in(text.len(), ctx.arena);
    let mut rest = *text;
    let mut used = 0;
    while let Some((before, clause)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = clause.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let Some(arg) = list.get(used) else {
            return ctx.errorf(format_args!("index {used} out of range"));
        };
        if clause.is_empty() {
            return ctx.error("unexpected end of string");
        }
        used += 1;
        let (clause, after) = match Clause::parse(clause) {
            Ok(parsed) => parsed,
            Err(message) => {
                return ctx.errorf(format_args!("could not parse formatting clause: {message}"));
            }
        };
        match clause.write(ctx, &mut out, arg) {
            Err(Failure::Because(message)) => {
                return ctx.errorf(format_args!("error during formatting: {message}"));
            }
            Ok(()) if out.len() <= MAX_RESULT_BYTES => {}
            _ if ctx.halt().is_some() => return Value::Halt,
            _ => return too_long(ctx, "format"),
        }
        if let Some(halt) = ctx.no_room(0) {
            return halt;
        }
        rest = after;
    }
    out.push_str(rest);
    Value::String(out.into_bump_str())
}

/// Why an argument cannot be written.
enum Failure {
    Because(String),
    TooLong,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Because(message)
    }
}

/// What stands after a `%`.
struct Clause {
    precision: Option<u64>,
    letter: u8,
}

impl Clause {
    /// Parses a clause, and returns what follows it.
    fn parse(text: &str) -> Result<(Clause, &str), String> {
        let (precision, rest) = match text.strip_prefix('.') {
            Some(digits) => {
                let (precision, rest) =
                    precision(digits).map_err(|message| format!("error while parsing precision: {message}"))?;
                (Some(precision), rest)
            }
            None => (None, text),
        };
        let letter = rest.bytes().next().unwrap_or_default();
        match rest.get(1..) {
            Some(after) if b"sdfebxXo".contains(&letter) => Ok((Clause { precision, letter }, after)),
            // Of a longer character Go shows the first byte, as if that were a code point.
            _ => Err(format!("unrecognized formatting clause \"{}\"", char::from(letter))),
        }
    }

    fn write<'a>(&self, ctx: &EvalContext<'a>, out: &mut ArenaString<'a>, arg: Value<'a>) -> Result<(), Failure> {
        let written = match (self.letter, arg) {
            (b's', _) => return write_any(ctx, out, arg),
            (b'd', Value::Int(i)) => write!(out, "{i}"),
            (b'd', Value::Uint(u)) => write!(out, "{u}"),
            (b'f', _) => match double(arg) {
                Some(value) => out.write_str(&fixed(value, self.precision)),
                None => return self.complain(arg),
            },
            (b'e', _) => match double(arg) {
                Some(value) => out.write_str(&scientific(value, self.precision)),
                None => return self.complain(arg),
            },
            (b'b', Value::Int(i)) => write!(out, "{}{:b}", minus(i), i.unsigned_abs()),
            (b'b', Value::Uint(u)) => write!(out, "{u:b}"),
            (b'b', Value::Bool(b)) => out.write_str(if b { "1" } else { "0" }),
            (b'x', Value::Int(i)) => write!(out, "{}{:x}", minus(i), i.unsigned_abs()),
            (b'X', Value::Int(i)) => write!(out, "{}{:X}", minus(i), i.unsigned_abs()),
            (b'x', Value::Uint(u)) => write!(out, "{u:x}"),
            (b'X', Value::Uint(u)) => write!(out, "{u:X}"),
            (b'x', Value::String(text)) => text.bytes().try_for_each(|byte| write!(out, "{byte:02x}")),
            (b'X', Value::String(text)) => text.bytes().try_for_each(|byte| write!(out, "{byte:02X}")),
            (b'x', Value::Bytes(bytes)) => bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}")),
            (b'X', Value::Bytes(bytes)) => bytes.iter().try_for_each(|byte| write!(out, "{byte:02X}")),
            (b'o', Value::Int(i)) => write!(out, "{}{:o}", minus(i), i.unsigned_abs()),
            (b'o', Value::Uint(u)) => write!(out, "{u:o}"),
            _ => return self.complain(arg),
        };
        // Writing to a string of the arena cannot fail.
        debug_assert!(written.is_ok());
        Ok(())
    }

    fn complain(&self, arg: Value<'_>) -> Result<(), Failure> {
        let complaint = match self.letter {
            b'd' => "decimal clause can only be used on integers",
            b'f' => "fixed-point clause can only be used on doubles",
            b'e' => "scientific clause can only be used on doubles",
            b'b' => "only integers and bools can be formatted as binary",
            b'o' => "octal clause can only be used on integers",
            _ => "only integers, byte buffers, and strings can be formatted as hex",
        };
        Err(format!("{complaint}, was given {}", arg.type_name()).into())
    }
}

fn minus(value: i64) -> &'static str {
    if value < 0 { "-" } else { "" }
}

/// The digits after a `.`, and what follows them.
fn precision(text: &str) -> Result<(u64, &str), String> {
    let end = text.find(|char: char| !char.is_ascii_digit());
    let Some((digits, rest)) = end.map(|end| text.split_at(end)) else {
        return Err("could not find end of precision specifier".to_owned());
    };
    let problem = match digits.parse::<i64>() {
        Ok(precision) => return Ok((precision.unsigned_abs(), rest)),
        Err(_) if digits.is_empty() => "invalid syntax",
        Err(_) => "value out of range",
    };
    Err(format!("error while converting precision to integer: strconv.Atoi: parsing \"{digits}\": {problem}"))
}

/// The double that `%f` and `%e` take.
fn double(value: Value<'_>) -> Option<f64> {
    match value {
        Value::Double(d) => Some(d),
        Value::String("NaN") => Some(f64::NAN),
        Value::String("Infinity") => Some(f64::INFINITY),
        Value::String("-Infinity") => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

/// `%s`
fn write_any<'a>(ctx: &EvalContext<'a>, out: &mut ArenaString<'a>, value: Value<'a>) -> Result<(), Failure> {
    match value {
        Value::List(_) | Value::Constants(_) | Value::Concat(_) | Value::Map(_) | Value::Record(_) => {
            return write_container(ctx, out, value);
        }
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Double(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::Duration(_)
        | Value::Timestamp(_)
        | Value::Type(_) => out.push_str(text_of(ctx, value)?),
        _ => {
            return Err(format!(
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, \
                 and timestamps, was given {}",
                value.type_name()
            )
            .into());
        }
    }
    Ok(())
}

/// A scalar's conversion to string.
fn text_of<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Result<&'a str, String> {
    match to_string(ctx, value) {
        Value::String(text) => Ok(text),
        Value::Error(error) => Err(format!("could not convert argument {} to string", quoted(error.message))),
        _ => Err(format!("could not convert argument of type {} to string", value.type_name())),
    }
}

/// A list or map that is being written.
enum Open<'a> {
    List {
        list: ListView<'a>,
        next: usize,
    },
    /// Keys as they are written, in that order, with their values.
    Map {
        entries: std::vec::IntoIter<(String, Value<'a>)>,
        first: bool,
    },
}

/// Writes a list or map. Nested ones are kept on a stack of their own, since their depth is the request's.
fn write_container<'a>(ctx: &EvalContext<'a>, out: &mut ArenaString<'a>, value: Value<'a>) -> Result<(), Failure> {
    let mut open = vec![open_container(ctx, out, value)?];
    while let Some(top) = open.last_mut() {
        // Where parts are shared, a small list has an endless text.
        if out.len() > MAX_RESULT_BYTES || !ctx.step(1) || ctx.no_room(0).is_some() {
            return Err(Failure::TooLong);
        }
        match top.next_part(out) {
            Some(
                part @ (Value::List(_) | Value::Constants(_) | Value::Concat(_) | Value::Map(_) | Value::Record(_)),
            ) => {
                open.push(open_container(ctx, out, part)?);
            }
            Some(part) => out.push_str(&literal(ctx, part)?),
            None => {
                out.push(if matches!(top, Open::List { .. }) { ']' } else { '}' });
                open.pop();
            }
        }
    }
    Ok(())
}

fn open_container<'a>(ctx: &EvalContext<'a>, out: &mut ArenaString<'a>, value: Value<'a>) -> Result<Open<'a>, String> {
    if let Some(list) = ListView::of(value) {
        out.push('[');
        return Ok(Open::List { list, next: 0 });
    }
    let Some(map) = MapView::of(value) else {
        return Err(format!("no formatting function for {}", value.type_name()));
    };
    let order = map.order(ctx);
    let mut entries = Vec::with_capacity(order.len());
    for (key, value) in (0..order.len()).filter_map(|i| order.entry(ctx, i)) {
        let key = match key {
            Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_) => literal(ctx, key)?,
            _ => return Err(format!("no formatting function for map key of type {}", key.type_name())),
        };
        entries.push((key, value));
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    out.push('{');
    Ok(Open::Map { entries: entries.into_iter(), first: true })
}

impl<'a> Open<'a> {
    /// The next element or value, after what comes before it has been written.
    fn next_part(&mut self, out: &mut ArenaString<'a>) -> Option<Value<'a>> {
        match self {
            Open::List { list, next } => {
                let part = list.get(*next)?;
                out.push_str(if *next > 0 { ", " } else { "" });
                *next += 1;
                Some(part)
            }
            Open::Map { entries, first } => {
                let (key, value) = entries.next()?;
                out.push_str(if std::mem::take(first) { "" } else { ", " });
                out.push_str(&key);
                out.push(':');
                Some(value)
            }
        }
    }
}

/// A scalar inside a list or map, as a CEL literal.
fn literal<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> Result<String, String> {
    Ok(match value {
        Value::String(text) => quoted(text),
        Value::Bytes(_) => format!("b{}", quoted(text_of(ctx, value)?)),
        Value::Double(d) if d.is_finite() => plain(d),
        Value::Double(d) => quoted(&plain(d)),
        Value::Timestamp(_) => format!("timestamp({})", quoted(text_of(ctx, value)?)),
        Value::Duration(_) => format!("duration({})", quoted(text_of(ctx, value)?)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Type(_) => {
            text_of(ctx, value)?.to_owned()
        }
        _ => return Err(format!("no formatting function for {}", value.type_name())),
    })
}
