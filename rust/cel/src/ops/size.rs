//! Sizes: what `size()` returns, and what cost counts by.

use crate::value::{ListView, MapView, Value};

/// cel-go's `traits.Sizer.Size`: code points of a string, bytes, elements, entries; `None` for what has no size.
pub fn size(value: Value<'_>) -> Option<u64> {
    match value {
        Value::String(text) => Some(code_points(text)),
        Value::Bytes(bytes) => Some(bytes.len() as u64),
        Value::List(elements) => Some(elements.len() as u64),
        Value::Opaque(opaque) => opaque.ty.size.map(|size| size(opaque)),
        _ => {
            let list = ListView::of(value).map(|list| list.len());
            list.or_else(|| MapView::of(value).map(|map| map.len())).map(|len| len as u64)
        }
    }
}

/// cel-go's `actualSize`: the size that cost counts by; 1 for what has none, an optional counts as what it holds.
pub fn cost_size(value: Value<'_>) -> u64 {
    let mut value = value;
    loop {
        match (size(value), value) {
            (Some(size), _) => return size,
            (None, Value::Optional(Some(inner))) => value = *inner,
            (None, _) => return 1,
        }
    }
}

/// Number of code points.
pub fn code_points(text: &str) -> u64 {
    if text.is_ascii() { text.len() as u64 } else { text.chars().count() as u64 }
}
