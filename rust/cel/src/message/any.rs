//! `google.protobuf.Any`: a message packed as bytes, with the name of its type. To CEL it is what is packed.

use std::fmt::Write;

use super::{FIELDS_ENTRY, Fields, Form, Message, find, wire};
use crate::context::EvalContext;
use crate::value::Value;

/// An `Any`'s fields.
pub(super) struct Packed<'a> {
    url: &'a str,
    bytes: &'a [u8],
}

/// An `Any` in an `Any` is unpacked this often.
const MAX_DEPTH: u32 = 100;

impl<'a> Packed<'a> {
    pub(super) fn of(fields: &Fields<'a>) -> Self {
        Packed {
            url: if let Some(Value::String(url)) = fields.get(0) { url } else { "" },
            bytes: if let Some(Value::Bytes(bytes)) = fields.get(1) { bytes } else { &[] },
        }
    }

    fn message(&self) -> Option<&'static Message> {
        // Entries of maps have no name that a URL could give.
        let found = find(self.url.rsplit('/').next().unwrap_or_default());
        found.filter(|message| message.name != FIELDS_ENTRY.name)
    }

    /// The `Any` in this one.
    fn inner(&self, ctx: &EvalContext<'a>) -> Option<Packed<'a>> {
        let message = self.message().filter(|message| matches!(message.form, Form::Any))?;
        wire::decode(ctx, message, self.bytes, 0).map(|fields| Packed::of(&fields))
    }
}

/// The value that is packed; the `Any` itself if its type is not known or its bytes are not of that type.
pub(super) fn unpack<'a>(ctx: &EvalContext<'a>, packed: Packed<'a>) -> Result<Value<'a>, Packed<'a>> {
    let mut innermost = Packed { ..packed };
    for _ in 0..MAX_DEPTH {
        match innermost.inner(ctx) {
            Some(inner) => innermost = inner,
            None => break,
        }
    }
    let Some(message) = innermost.message().filter(|message| !matches!(message.form, Form::Any)) else {
        return Err(packed);
    };
    match wire::decode(ctx, message, innermost.bytes, 0) {
        Some(fields) => fields.value(ctx, message).map_err(|_| packed),
        None => Err(packed),
    }
}

/// The error of an `Any` that cannot be unpacked.
pub(super) fn refuse<'a>(ctx: &EvalContext<'a>, packed: &Packed<'a>) -> Value<'a> {
    let mut text = String::from("unsupported conversion to ref.Val: (*dynamicpb.Message)");
    let mut closing = 0;
    let mut at = Packed { ..*packed };
    while let Some(inner) = at.inner(ctx).filter(|_| closing < MAX_DEPTH) {
        let _ = write!(text, "[{}]:{{", at.url);
        closing += 1;
        at = inner;
    }
    if !at.url.is_empty() {
        text.push_str("type_url:");
        quote(&mut text, at.url.as_bytes());
    }
    if !at.bytes.is_empty() {
        text.push_str(if at.url.is_empty() { "value:" } else { " value:" });
        quote(&mut text, at.bytes);
    }
    text.extend((0..closing).map(|_| '}'));
    ctx.errorf(format_args!("{text}"))
}

/// A string as protobuf's text format has it.
fn quote(out: &mut String, bytes: &[u8]) {
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let _ = match c {
                '"' | '\\' => write!(out, "\\{c}"),
                '\n' => write!(out, "\\n"),
                '\r' => write!(out, "\\r"),
                '\t' => write!(out, "\\t"),
                '\0'..' ' | '\u{7f}' => write!(out, "\\x{:02x}", u32::from(c)),
                '\u{80}'..='\u{9f}' => write!(out, "\\u{:04x}", u32::from(c)),
                _ => write!(out, "{c}"),
            };
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out.push('"');
}
