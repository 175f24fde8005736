//! Values as text, to compare them.

use std::fmt::Write as _;

use celgate_cel::context::EvalContext;
use celgate_cel::value::{ListView, MapView, Value};

/// Values that share their parts can stand for more than memory holds; the rest is left out of the text.
const MAX_BYTES: usize = 1 << 16;
const MAX_DEPTH: usize = 64;

/// The value as text.
pub(crate) fn show<'a>(ctx: &EvalContext<'a>, value: Value<'a>) -> String {
    let mut out = String::new();
    write(ctx, &mut out, value, 0);
    out
}

fn write<'a>(ctx: &EvalContext<'a>, out: &mut String, value: Value<'a>, depth: usize) {
    if out.len() > MAX_BYTES || depth > MAX_DEPTH {
        return;
    }
    // Writing to a String cannot fail.
    let _ = match value {
        Value::Null => write!(out, "null"),
        Value::Bool(b) => write!(out, "{b}"),
        Value::Int(i) => write!(out, "{i}"),
        Value::Uint(u) => write!(out, "{u}u"),
        Value::Double(d) => write!(out, "double {:x}", d.to_bits()),
        Value::String(text) => write!(out, "{text:?}"),
        Value::Bytes(bytes) => write!(out, "b{bytes:?}"),
        Value::Duration(duration) => write!(out, "duration {}", duration.nanos),
        Value::Timestamp(time) => write!(out, "timestamp {}.{:09}{:+}", time.seconds, time.nanos, time.offset),
        Value::Type(name) => write!(out, "type {name}"),
        Value::Optional(None) => write!(out, "none"),
        Value::Error(error) => write!(out, "error {:?}", error.message),
        Value::Halt => write!(out, "halt"),
        Value::Optional(Some(inner)) => return wrapped(ctx, out, "some", &[*inner], depth),
        Value::Opaque(opaque) => return wrapped(ctx, out, opaque.ty.name, opaque.fields, depth),
        value => return container(ctx, out, value, depth),
    };
}

fn wrapped<'a>(ctx: &EvalContext<'a>, out: &mut String, name: &str, parts: &[Value<'a>], depth: usize) {
    out.push_str(name);
    for part in parts {
        out.push(' ');
        write(ctx, out, *part, depth + 1);
    }
}

fn container<'a>(ctx: &EvalContext<'a>, out: &mut String, value: Value<'a>, depth: usize) {
    if let Some(list) = ListView::of(value) {
        let _ = write!(out, "[{}:", list.len());
        for item in list.iter().take(MAX_BYTES) {
            out.push(' ');
            write(ctx, out, item, depth + 1);
        }
        out.push(']');
    } else if let Some(map) = MapView::of(value) {
        let order = map.order(ctx);
        let _ = write!(out, "{{{}:", order.len());
        for (key, value) in (0..order.len().min(MAX_BYTES)).filter_map(|i| order.entry(ctx, i)) {
            out.push(' ');
            write(ctx, out, key, depth + 1);
            out.push('=');
            write(ctx, out, value, depth + 1);
        }
        out.push('}');
    } else {
        out.push_str(value.type_name());
    }
}
