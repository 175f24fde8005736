//! Type checking of one expression, for objects and params of one schema.
#![expect(unsafe_code, reason = "the C ABI is called as C calls it")]

use celgate::celgate_status::{BufferTooSmall, Invalid, Ok as Done, Panic};
use celgate::{celgate_status, celgate_type_check};
use serde_json::{Value, json};

use crate::two_texts;

/// An expression, then a schema: any schema that is JSON is checked, with the same warnings each time.
pub fn run(data: &[u8]) {
    let (expression, schema) = two_texts(data);
    let subject =
        |kind| format!(r#"{{"kind": {{"group": "", "version": "v1", "kind": "{kind}"}}, "schema": {schema}}}"#);
    let policy = json!({"spec": {"variables": [{"name": "v", "expression": "object.spec"}], "validations": [{"expression": expression}]}});
    let input = format!(r#"{{"policy": {policy}, "types": [{}], "params": {}}}"#, subject("K"), subject("P"));
    let (status, out) = check(&input);
    assert!(status == Done || status == Invalid, "{status:?}");
    assert_eq!((status, &out), (check(&input).0, &check(&input).1), "not the same again");
    if serde_json::from_str::<Value>(&schema).is_ok() {
        assert!(status == Done, "refused: {}", String::from_utf8_lossy(&out));
    }
    if status == Done {
        assert!(serde_json::from_slice::<Vec<Value>>(&out).is_ok_and(|warnings| warnings.len() < 2), "no warnings");
    }
}

fn check(input: &str) -> (celgate_status, Vec<u8>) {
    let mut out = vec![0; 1 << 10];
    loop {
        let mut len = 0;
        // SAFETY: each pointer comes from a live slice or buffer.
        let status =
            unsafe { celgate_type_check(input.as_ptr(), input.len(), out.as_mut_ptr(), out.len(), &raw mut len) };
        assert!(status != Panic, "panicked");
        if status != BufferTooSmall && len <= out.len() {
            out.truncate(len);
            return (status, out);
        }
        out = vec![0; len];
    }
}
