//! A result as a line of text: without loss, and in one way only, so that two implementations can be compared.

use std::io::Write as _;

use celgate_cel::context::EvalContext;
use celgate_cel::value::{ListView, MapView, Value};

/// `error`, the cost and the error's text, separated by tabs.
pub(super) fn error(out: &mut Vec<u8>, cost: u64, message: &str) {
    // Writing to a vector cannot fail; here and below.
    let _ = write!(out, "error\t{cost}\t{message}");
}

/// `value`, the cost and the value, separated by tabs.
pub(super) fn value<'a>(out: &mut Vec<u8>, ctx: &EvalContext<'a>, cost: u64, value: Value<'a>) {
    let _ = write!(out, "value\t{cost}\t");
    show(out, ctx, value);
}

fn show<'a>(out: &mut Vec<u8>, ctx: &EvalContext<'a>, value: Value<'a>) {
    let _ = match value {
        Value::Null => write!(out, "null"),
        Value::Bool(b) => write!(out, "{b}"),
        Value::Int(i) => write!(out, "{i}"),
        Value::Uint(u) => write!(out, "{u}u"),
        Value::Double(d) if d.is_nan() => write!(out, "double:NaN"),
        Value::Double(d) => write!(out, "double:{:016x}", d.to_bits()),
        Value::String(text) => quoted(out, 's', text.as_bytes()),
        Value::Bytes(bytes) => quoted(out, 'b', bytes),
        Value::Duration(duration) => write!(out, "duration:{}", duration.nanos),
        Value::Timestamp(time) => write!(out, "timestamp:{}.{:09}{:+}", time.seconds, time.nanos, time.offset),
        Value::Optional(None) => write!(out, "none"),
        Value::Optional(Some(inner)) => {
            out.extend_from_slice(b"some(");
            show(out, ctx, *inner);
            write!(out, ")")
        }
        Value::Type(name) => write!(out, "type:{name}"),
        Value::Error(error) => {
            out.extend_from_slice(b"error:");
            quoted(out, 's', error.message.as_bytes())
        }
        value => {
            container(out, ctx, value);
            Ok(())
        }
    };
}

fn container<'a>(out: &mut Vec<u8>, ctx: &EvalContext<'a>, value: Value<'a>) {
    if let Some(list) = ListView::of(value) {
        for (i, part) in list.iter().enumerate() {
            out.extend_from_slice(if i == 0 { b"[" } else { b", " });
            show(out, ctx, part);
        }
        out.extend_from_slice(if list.iter().next().is_none() { b"[]" } else { b"]" });
        return;
    }
    let Some(map) = MapView::of(value) else {
        let _ = write!(out, "opaque:{}", value.type_name());
        return;
    };
    let order = map.order(ctx);
    let mut entries: Vec<Vec<u8>> = (0..order.len())
        .filter_map(|i| order.key(i))
        .map(|key| {
            let mut entry = Vec::new();
            show(&mut entry, ctx, key);
            entry.extend_from_slice(b": ");
            match map.find(ctx, key) {
                Some(value) => show(&mut entry, ctx, value),
                // No look-up finds NaN.
                None => entry.extend_from_slice(b"none of its own"),
            }
            entry
        })
        .collect();
    entries.sort_unstable();
    out.push(b'{');
    out.extend_from_slice(&entries.join(&b", "[..]));
    out.push(b'}');
}

/// Printable ASCII as it is, every other byte in hexadecimal.
fn quoted(out: &mut Vec<u8>, kind: char, bytes: &[u8]) -> std::io::Result<()> {
    write!(out, "{kind}\"")?;
    for byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            b' '..=b'~' => out.push(*byte),
            _ => write!(out, "\\x{byte:02x}")?,
        }
    }
    out.push(b'"');
    Ok(())
}
