//! Answers and param batches (docs/abi.md).

use serde_json::Value;

use crate::record::{Root, encode};

fn text(out: &mut Vec<u8>, text: &[u8]) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text);
}

/// Answers: id, status, bytes each.
pub fn answers(answers: &[(u32, u32, Vec<u8>)]) -> Vec<u8> {
    let mut out = (answers.len() as u32).to_le_bytes().to_vec();
    for (id, status, bytes) in answers {
        out.extend(id.to_le_bytes());
        out.extend(status.to_le_bytes());
        text(&mut out, bytes);
    }
    out
}

/// A batch that puts these params, or deletes where there is no object: namespace, name, object each.
pub fn batch(changes: &[(&str, &str, Option<Value>)]) -> Vec<u8> {
    let mut out = (changes.len() as u32).to_le_bytes().to_vec();
    for (namespace, name, object) in changes {
        out.extend(u32::from(object.is_none()).to_le_bytes());
        text(&mut out, namespace.as_bytes());
        text(&mut out, name.as_bytes());
        if let Some(object) = object {
            text(&mut out, &param(object));
        }
    }
    out
}

/// A param record.
pub fn param(object: &Value) -> Vec<u8> {
    encode(&[Root::Plain(object.clone())])
}
