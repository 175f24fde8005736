//! `kubernetes.net.ip`: IP addresses in CEL (`pkg/cel/library/ip.go`, `pkg/cel/ip.go`).

use celgate_cel::context::EvalContext;
use celgate_cel::decls::{FunctionDecl, OverloadDecl};
use celgate_cel::function::{Implementation, Library};
use celgate_cel::types::Type;
use celgate_cel::value::{GoKey, Native, Opaque, OpaqueType, Value};

use crate::args::{fields, mismatch, no_such_overload, opaque, string};
use crate::cost;
use crate::gotext::quote;
use crate::netip::{Addr, parse_addr};

/// The type's name; expressions can name it too (`type(x) == net.IP`).
pub const TYPE_NAME: &str = "net.IP";

/// State: `[octets]`, 4 or 16 of them.
static IP: OpaqueType = OpaqueType {
    name: TYPE_NAME,
    go_name: "cel.IP",
    go_key: GoKey::State,
    equal,
    size: Some(size),
    native: Native::Text("IP", text),
};

/// The library.
pub static LIBRARY: Library = Library {
    name: "kubernetes.net.ip",
    functions,
    implementations: &[
        Implementation { id: "string_to_ip", eval: string_to_ip, cost: Some(cost::first_argument) },
        Implementation { id: "ip_family", eval: family, cost: None },
        Implementation { id: "ip_is_canonical", eval: is_canonical, cost: Some(is_canonical_cost) },
        Implementation { id: "ip_is_unspecified", eval: is_unspecified, cost: None },
        Implementation { id: "ip_is_loopback", eval: is_loopback, cost: None },
        Implementation { id: "ip_is_link_local_multicast", eval: is_link_local_multicast, cost: None },
        Implementation { id: "ip_is_link_local_unicast", eval: is_link_local_unicast, cost: None },
        Implementation { id: "ip_is_global_unicast", eval: is_global_unicast, cost: None },
        Implementation { id: "is_ip", eval: is_ip, cost: Some(cost::first_argument) },
        Implementation { id: "ip_to_string", eval: to_string, cost: None },
    ],
};

fn functions() -> Vec<FunctionDecl> {
    let ip = || Type::opaque(TYPE_NAME);
    let one = |name, overload| FunctionDecl { name, overloads: vec![overload] };
    let test = |name, id| one(name, OverloadDecl::member(id, vec![ip()], Type::Bool));
    vec![
        one("ip", OverloadDecl::global("string_to_ip", vec![Type::String], ip())),
        one("family", OverloadDecl::member("ip_family", vec![ip()], Type::Int)),
        one("ip.isCanonical", OverloadDecl::global("ip_is_canonical", vec![Type::String], Type::Bool)),
        test("isUnspecified", "ip_is_unspecified"),
        test("isLoopback", "ip_is_loopback"),
        test("isLinkLocalMulticast", "ip_is_link_local_multicast"),
        test("isLinkLocalUnicast", "ip_is_link_local_unicast"),
        test("isGlobalUnicast", "ip_is_global_unicast"),
        one("isIP", OverloadDecl::global("is_ip", vec![Type::String], Type::Bool)),
        one("string", OverloadDecl::global("ip_to_string", vec![ip()], Type::String)),
    ]
}

/// Upstream's `parseIPAddr`: no zones, no IPv4 inside IPv6; the error is its text.
pub(crate) fn parse(text: &str) -> Result<Addr, String> {
    let parsed = parse_addr(text.as_bytes())
        .map_err(|e| format!("IP Address {} parse error during conversion from string: {e}", quote(text)))?;
    if parsed.zone {
        return Err(format!("IP address {} with zone value is not allowed", quote(text)));
    }
    if parsed.addr.is_4_in_6() {
        return Err(format!("IPv4-mapped IPv6 address {} is not allowed", quote(text)));
    }
    Ok(parsed.addr)
}

/// An IP value.
pub(crate) fn value<'a>(ctx: &EvalContext<'a>, addr: &Addr) -> Value<'a> {
    opaque(ctx, &IP, &[Value::Bytes(ctx.arena.alloc_slice_copy(addr.octets()))])
}

/// The address of an IP value.
pub(crate) fn addr(value: &Value<'_>) -> Option<Addr> {
    match fields(value, &IP)? {
        [Value::Bytes(octets)] => Addr::from_octets(octets),
        _ => None,
    }
}

fn equal<'a>(ctx: &EvalContext<'a>, this: &'a Opaque<'a>, other: Value<'a>) -> Value<'a> {
    match addr(&other) {
        Some(other) => Value::Bool(addr(&Value::Opaque(this)) == Some(other)),
        None => no_such_overload(ctx, other),
    }
}

/// The number of octets.
fn size(this: &Opaque<'_>) -> u64 {
    cost::size_at(this.fields, 0)
}

fn string_to_ip<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(text)] = args else { return mismatch(ctx, "ip", args) };
    match parse(text) {
        Ok(addr) => value(ctx, &addr),
        Err(message) => ctx.errorf(format_args!("{message}")),
    }
}

fn is_ip<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(text)] = args else { return mismatch(ctx, "isIP", args) };
    Value::Bool(parse(text).is_ok())
}

fn is_canonical<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(text)] = args else { return mismatch(ctx, "ip.isCanonical", args) };
    match parse(text) {
        Ok(addr) => Value::Bool(addr.to_string() == *text),
        Err(message) => ctx.errorf(format_args!("{message}")),
    }
}

fn is_canonical_cost<'a>(_: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    cost::double_traversal(cost::size_at(args, 0))
}

fn unary<'a>(
    ctx: &EvalContext<'a>,
    function: &str,
    args: &[Value<'a>],
    result: impl Fn(Addr) -> Value<'a>,
) -> Value<'a> {
    match args {
        [ip] => addr(ip).map(result),
        _ => None,
    }
    .unwrap_or_else(|| mismatch(ctx, function, args))
}

fn to_string<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "string", args, |addr| string(ctx, &addr.to_string()))
}

fn text<'a>(ctx: &EvalContext<'a>, this: &'a Opaque<'a>) -> Value<'a> {
    to_string(ctx, &[Value::Opaque(this)])
}

fn family<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "family", args, |addr| Value::Int(if matches!(addr, Addr::V4(_)) { 4 } else { 6 }))
}

fn is_unspecified<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "isUnspecified", args, |addr| Value::Bool(unspecified(addr)))
}

fn is_loopback<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "isLoopback", args, |addr| Value::Bool(loopback(addr)))
}

fn is_link_local_multicast<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "isLinkLocalMulticast", args, |addr| {
        Value::Bool(match addr {
            Addr::V4(octets) => matches!(octets, [224, 0, 0, _]),
            Addr::V6([first, second, ..]) => first == 0xff && second & 0x0f == 2,
        })
    })
}

fn is_link_local_unicast<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "isLinkLocalUnicast", args, |addr| Value::Bool(link_local_unicast(addr)))
}

fn is_global_unicast<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "isGlobalUnicast", args, |addr| {
        let multicast = match addr {
            Addr::V4([first, ..]) => first & 0xf0 == 0xe0,
            Addr::V6([first, ..]) => first == 0xff,
        };
        let broadcast = addr == Addr::V4([255; 4]);
        Value::Bool(!(unspecified(addr) || broadcast || loopback(addr) || multicast || link_local_unicast(addr)))
    })
}

fn unspecified(addr: Addr) -> bool {
    addr.octets().iter().all(|octet| *octet == 0)
}

fn loopback(addr: Addr) -> bool {
    match addr {
        Addr::V4([first, ..]) => first == 127,
        Addr::V6(octets) => u128::from_be_bytes(octets) == 1,
    }
}

fn link_local_unicast(addr: Addr) -> bool {
    match addr {
        Addr::V4([first, second, ..]) => first == 169 && second == 254,
        Addr::V6([first, second, ..]) => first == 0xfe && second & 0xc0 == 0x80,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{call, equal, show, text, with_context};

    fn on(id: &str, s: &str) -> String {
        let mut out = String::new();
        with_context(|ctx| {
            let address = call(ctx, &LIBRARY, "string_to_ip", &[text(ctx, s)]);
            out = if address.is_error() { show(address) } else { show(call(ctx, &LIBRARY, id, &[address])) };
        });
        out
    }

    #[test]
    fn printing_is_canonical() {
        let cases = [
            ("127.0.0.1", "127.0.0.1"),
            ("::", "::"),
            ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
            ("0:0:1:2:3:4:5:6", "::1:2:3:4:5:6"),
            ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
            ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
        ];
        for (written, canonical) in cases {
            assert_eq!(on("ip_to_string", written), format!("{canonical:?}"));
        }
        with_context(|ctx| {
            let canonical = |s| show(call(ctx, &LIBRARY, "ip_is_canonical", &[text(ctx, s)]));
            assert_eq!((canonical("2001:db8::abcd"), canonical("2001:DB8::ABCD")), ("true".into(), "false".into()));
        });
    }

    #[test]
    fn messages() {
        let cases = [
            (
                "1.2.3",
                r#"IP Address "1.2.3" parse error during conversion from string: ParseAddr("1.2.3"): IPv4 address too short"#,
            ),
            (
                "::g",
                r#"IP Address "::g" parse error during conversion from string: ParseAddr("::g"): each colon-separated field must have at least one digit (at "g")"#,
            ),
            ("fe80::1%a", r#"IP address "fe80::1%a" with zone value is not allowed"#),
            ("::ffff:1.2.3.4", r#"IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed"#),
        ];
        for (s, message) in cases {
            assert_eq!(on("ip_family", s), format!("error: {message}"));
        }
    }

    #[test]
    fn kinds_of_addresses() {
        let kinds = |s| {
            ["unspecified", "loopback", "link_local_multicast", "link_local_unicast", "global_unicast"]
                .map(|kind| on(&format!("ip_is_{kind}"), s) == "true")
        };
        assert_eq!(kinds("0.0.0.0"), [true, false, false, false, false]);
        assert_eq!(kinds("127.9.9.9"), [false, true, false, false, false]);
        assert_eq!(kinds("224.0.0.251"), [false, false, true, false, false]);
        assert_eq!(kinds("169.254.1.1"), [false, false, false, true, false]);
        assert_eq!(kinds("10.0.0.1"), [false, false, false, false, true]);
        assert_eq!(kinds("255.255.255.255"), [false; 5]);
        assert_eq!(kinds("::1"), [false, true, false, false, false]);
        assert_eq!(kinds("ff12::1"), [false, false, true, false, false]);
        assert_eq!(kinds("febf::1"), [false, false, false, true, false]);
        assert_eq!(kinds("fd00::1"), [false, false, false, false, true]);
    }

    #[test]
    fn equality_and_size() {
        with_context(|ctx| {
            let ip = |s| call(ctx, &LIBRARY, "string_to_ip", &[text(ctx, s)]);
            assert_eq!(equal(ctx, ip("::1"), ip("0::1")), "true");
            assert_eq!(equal(ctx, ip("1.1.1.1"), ip("::101:101")), "false");
            assert_eq!(equal(ctx, ip("::1"), Value::Int(1)), "error: no such overload");
            assert_eq!((cost::actual_size(&ip("1.1.1.1")), cost::actual_size(&ip("::1"))), (4, 16));
        });
    }
}
