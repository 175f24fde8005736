//! Named formats, and `format` with any format string.

use celgate_cel::library::strings;
use celgate_cel::value::Value;
use celgate_k8s::format;

use crate::environment::VALUES;
use crate::library::{call, call_all, text, with_context};
use crate::two_texts;

/// Every named format on two texts, all functions on strings, and the first text as a format string of all kinds of values.
pub fn run(data: &[u8]) {
    let (a, b) = two_texts(data);
    call_all(&format::LIBRARY, &[&a, &b], &[]);
    call_all(&strings::LIBRARY, &[&a, &b], &[0, 1, -1, i64::MAX, i64::MIN]);
    let record = VALUES.as_record();
    with_context(|ctx| {
        let record = &*ctx.arena.alloc(record);
        let mut values: Vec<Value<'_>> = (0..record.roots()).filter_map(|root| record.root(root)).collect();
        values.extend([Value::Int(-5), Value::Uint(7), Value::Double(1e-7), Value::Bool(true), Value::Bytes(b"\xff")]);
        values.push(text(ctx, &b));
        for turn in 0..values.len() {
            values.rotate_left(turn.min(1));
            let list = Value::List(ctx.arena.alloc_slice_copy(&values));
            call(ctx, &strings::LIBRARY, "string_format", &[text(ctx, &a), list]);
        }
    });
}
