//! Two texts as addresses and prefixes.

use celgate_cel::value::Value;
use celgate_k8s::{cidr, ip};

use crate::library::{call, call_all, text, with_context};
use crate::two_texts;

/// Everything that `ip()` and `cidr()` offer; an address's canonical text is canonical and the same address.
pub fn run(data: &[u8]) {
    let (a, b) = two_texts(data);
    call_all(&ip::LIBRARY, &[&a, &b], &[]);
    call_all(&cidr::LIBRARY, &[&a, &b], &[]);
    with_context(|ctx| {
        let address = call(ctx, &ip::LIBRARY, "string_to_ip", &[text(ctx, &a)]);
        if matches!(address, Value::Error(_)) {
            return;
        }
        let canonical = call(ctx, &ip::LIBRARY, "ip_to_string", &[address]);
        let again = call(ctx, &ip::LIBRARY, "string_to_ip", &[canonical]);
        let (Value::Opaque(opaque), true) = (address, !matches!(again, Value::Error(_))) else {
            panic!("the canonical text of {a:?} is no address");
        };
        assert!(matches!((opaque.ty.equal)(ctx, opaque, again), Value::Bool(true)), "{a:?} differs from its text");
        let canonical = call(ctx, &ip::LIBRARY, "ip_is_canonical", &[canonical]);
        assert!(matches!(canonical, Value::Bool(true)), "the canonical text of {a:?} is not canonical");
    });
}
