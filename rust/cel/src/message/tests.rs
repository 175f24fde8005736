use bumpalo::Bump;

use super::*;
use crate::context::NoHost;
use crate::ops::format::GoValue;

/// What Go would print for the literal's value.
fn of(name: &str, fields: &[(&str, Value<'static>)]) -> String {
    // Values have one lifetime, and those of the tests are static.
    let arena: &'static Bump = Box::leak(Box::new(Bump::new()));
    let ctx = EvalContext::new(arena, &NoHost, u64::MAX);
    let message = find(name).expect("a message");
    let given = fields.iter().map(|(field, value)| (message.position(field).expect("a field"), Some(*value)));
    GoValue(literal(&ctx, message, given)).to_string()
}

#[test]
fn wrappers_are_what_they_wrap() {
    assert_eq!(of("google.protobuf.Int32Value", &[]), "0");
    assert_eq!(of("google.protobuf.Int32Value", &[("value", Value::Int(7))]), "7");
    assert_eq!(of("google.protobuf.FloatValue", &[("value", Value::Double(0.1))]), "0.10000000149011612");
    let texts = [
        (Value::Int(1 << 31), "integer overflow"),
        (Value::Null, "type conversion error from 'null_type' to 'int32'"),
        (Value::String("a"), "unsupported native conversion from string to 'int32'"),
    ];
    for (value, text) in texts {
        let error = format!("field type conversion error for google.protobuf.Int32Value.value value type: {text}");
        assert_eq!(of("google.protobuf.Int32Value", &[("value", value)]), error);
    }
}

#[test]
fn values_become_json() {
    let elements =
        [Value::Int(1), Value::Int(1 << 53), Value::Bytes(b"ab"), Value::Duration(Duration { nanos: 1_500_000_000 })];
    let list = Value::List(Vec::leak(elements.to_vec()));
    assert_eq!(of("google.protobuf.ListValue", &[("values", list)]), "[1, 9007199254740992, YWI=, 1.5s]");
}

#[test]
fn durations_saturate_and_timestamps_carry() {
    assert_eq!(nanoseconds(1, 5), 1_000_000_005);
    assert_eq!(nanoseconds(9_223_372_036, 854_775_808), i64::MAX);
    assert_eq!(nanoseconds(-9_223_372_036, -854_775_809), i64::MIN);
    assert_eq!((instant(1, -5).seconds, instant(1, -5).nanos), (0, 999_999_995));
}

#[test]
fn any_is_what_it_packs() {
    let any = |url: &'static str, bytes: &'static [u8]| {
        of("google.protobuf.Any", &[("type_url", Value::String(url)), ("value", Value::Bytes(bytes))])
    };
    assert_eq!(any("a/google.protobuf.Int32Value", b"\x08\x05"), "5");
    assert_eq!(any("google.protobuf.Int32Value", b"\x13\x14"), "0");
    assert_eq!(any("google.protobuf.Struct", b"\x0a\x07\x0a\x01k\x12\x02 \x01"), "{k: true}");
    for end in 1..7 {
        let refused = any("google.protobuf.Struct", b"\x0a\x07\x0a\x01k\x12\x02".get(..end).expect("a prefix"));
        assert!(refused.starts_with("unsupported conversion to ref.Val: (*dynamicpb.Message)type_url:"), "{refused}");
    }
}
