//! Two texts as semantic versions.

use celgate_cel::value::Value;
use celgate_k8s::semver::LIBRARY;

use crate::library::{call, call_all, text, with_context};
use crate::two_texts;

/// Everything that `semver()` offers; comparison is an order.
pub fn run(data: &[u8]) {
    let (a, b) = two_texts(data);
    call_all(&LIBRARY, &[&a, &b], &[]);
    with_context(|ctx| {
        let parse = |input: &str| call(ctx, &LIBRARY, "string_bool_to_semver", &[text(ctx, input), Value::Bool(true)]);
        let (a, b) = (parse(&a), parse(&b));
        if matches!(a, Value::Error(_)) || matches!(b, Value::Error(_)) {
            return;
        }
        let compare = |a, b| match call(ctx, &LIBRARY, "semver_compare_to", &[a, b]) {
            Value::Int(order) => order,
            _ => panic!("not comparable"),
        };
        assert_eq!(compare(a, b), -compare(b, a), "not antisymmetric");
        assert_eq!(compare(a, a), 0, "not equal to itself");
    });
}
