//! `kubernetes.net.cidr`: networks in CEL (`pkg/cel/library/cidr.go`, `pkg/cel/cidr.go`).

use celgate_cel::context::EvalContext;
use celgate_cel::decls::{FunctionDecl, OverloadDecl};
use celgate_cel::function::{Implementation, Library};
use celgate_cel::mutants::{Mutant, planted};
use celgate_cel::types::Type;
use celgate_cel::value::{GoKey, Native, Opaque, OpaqueType, Value};

use crate::args::{fields, mismatch, no_such_overload, opaque, string};
use crate::gotext::quote;
use crate::netip::{Addr, parse_prefix};
use crate::{cost, ip};

/// The type's name; expressions can name it too (`type(x) == net.CIDR`).
pub const TYPE_NAME: &str = "net.CIDR";

/// State: `[octets, bits]`; the octets are as they were written, not masked.
static CIDR: OpaqueType = OpaqueType {
    name: TYPE_NAME,
    go_name: "cel.CIDR",
    go_key: GoKey::State,
    equal,
    size: Some(size),
    native: Native::Text("CIDR", text),
};

/// The library.
pub static LIBRARY: Library = Library {
    name: "kubernetes.net.cidr",
    functions,
    implementations: &[
        Implementation { id: "string_to_cidr", eval: string_to_cidr, cost: Some(cost::first_argument) },
        Implementation { id: "cidr_contains_ip_string", eval: contains_ip_string, cost: Some(contains_ip_string_cost) },
        Implementation { id: "cidr_contains_ip_ip", eval: contains_ip, cost: Some(contains_ip_cost) },
        Implementation {
            id: "cidr_contains_cidr_string",
            eval: contains_cidr_string,
            cost: Some(contains_cidr_string_cost),
        },
        Implementation { id: "cidr_contains_cidr", eval: contains_cidr, cost: Some(contains_cidr_cost) },
        Implementation { id: "cidr_ip", eval: to_ip, cost: None },
        Implementation { id: "cidr_prefix_length", eval: prefix_length, cost: None },
        Implementation { id: "cidr_masked", eval: masked, cost: None },
        Implementation { id: "is_cidr", eval: is_cidr, cost: Some(cost::first_argument) },
        Implementation { id: "cidr_to_string", eval: to_string, cost: None },
    ],
};

fn functions() -> Vec<FunctionDecl> {
    let cidr = || Type::opaque(TYPE_NAME);
    let ip = || Type::opaque(ip::TYPE_NAME);
    let one = |name, overload| FunctionDecl { name, overloads: vec![overload] };
    let unary = |name, id, result| one(name, OverloadDecl::member(id, vec![cidr()], result));
    vec![
        one("cidr", OverloadDecl::global("string_to_cidr", vec![Type::String], cidr())),
        // The overload for a parsed value comes first: a call whose overload is known only at run time costs what the
        // first one costs, and upstream charges the parsing only where it knows that there is some.
        FunctionDecl {
            name: "containsIP",
            overloads: vec![
                OverloadDecl::member("cidr_contains_ip_string", vec![cidr(), Type::String], Type::Bool),
                OverloadDecl::member("cidr_contains_ip_ip", vec![cidr(), ip()], Type::Bool),
            ],
        },
        FunctionDecl {
            name: "containsCIDR",
            overloads: vec![
                OverloadDecl::member("cidr_contains_cidr_string", vec![cidr(), Type::String], Type::Bool),
                OverloadDecl::member("cidr_contains_cidr", vec![cidr(), cidr()], Type::Bool),
            ],
        },
        unary("ip", "cidr_ip", ip()),
        unary("prefixLength", "cidr_prefix_length", Type::Int),
        unary("masked", "cidr_masked", cidr()),
        one("isCIDR", OverloadDecl::global("is_cidr", vec![Type::String], Type::Bool)),
        one("string", OverloadDecl::global("cidr_to_string", vec![cidr()], Type::String)),
    ]
}

/// An address and the number of bits that are the network's.
#[derive(Clone, Copy, PartialEq)]
struct Prefix {
    addr: Addr,
    bits: u8,
}

impl Prefix {
    fn contains(&self, other: &Prefix) -> bool {
        (self.bits <= other.bits || planted(Mutant::CidrContainsWider))
            && self.addr.same_network(&other.addr, self.bits)
    }
}

/// Upstream's `parseCIDR`; the error is its text.
fn parse(text: &str) -> Result<Prefix, String> {
    let (addr, bits) =
        parse_prefix(text).map_err(|e| format!("network address parse error during conversion from string: {e}"))?;
    if addr.is_4_in_6() {
        return Err(format!("IPv4-mapped IPv6 address {} is not allowed", quote(text)));
    }
    Ok(Prefix { addr, bits })
}

fn value<'a>(ctx: &EvalContext<'a>, prefix: &Prefix) -> Value<'a> {
    let octets = ctx.arena.alloc_slice_copy(prefix.addr.octets());
    opaque(ctx, &CIDR, &[Value::Bytes(octets), Value::Int(i64::from(prefix.bits))])
}

fn prefix(value: &Value<'_>) -> Option<Prefix> {
    match fields(value, &CIDR)? {
        [Value::Bytes(octets), Value::Int(bits)] => {
            Some(Prefix { addr: Addr::from_octets(octets)?, bits: u8::try_from(*bits).ok()? })
        }
        _ => None,
    }
}

fn equal<'a>(ctx: &EvalContext<'a>, this: &'a Opaque<'a>, other: Value<'a>) -> Value<'a> {
    match prefix(&other) {
        Some(other) => Value::Bool(prefix(&Value::Opaque(this)) == Some(other)),
        None => no_such_overload(ctx, other),
    }
}

/// The number of octets that the prefix touches.
fn size(this: &Opaque<'_>) -> u64 {
    match this.fields {
        [_, Value::Int(bits)] => bits.unsigned_abs().div_ceil(8),
        _ => 0,
    }
}

/// `cidr(text)`, whose message upstream prefixes twice.
fn from_string<'a>(ctx: &EvalContext<'a>, text: &str) -> Value<'a> {
    match parse(text) {
        Ok(prefix) => value(ctx, &prefix),
        Err(message) => {
            ctx.errorf(format_args!("network address parse error during conversion from string: {message}"))
        }
    }
}

fn string_to_cidr<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(text)] = args else { return mismatch(ctx, "cidr", args) };
    from_string(ctx, text)
}

fn is_cidr<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(text)] = args else { return mismatch(ctx, "isCIDR", args) };
    Value::Bool(parse(text).is_ok())
}

fn contains_ip<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        [cidr, address] => prefix(cidr).zip(ip::addr(address)),
        _ => None,
    }
    .map_or_else(
        || mismatch(ctx, "containsIP", args),
        |(cidr, addr)| Value::Bool(cidr.addr.same_network(&addr, cidr.bits)),
    )
}

fn contains_ip_string<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let (Some(cidr), [_, Value::String(text)]) = (args.first().and_then(prefix), args) else {
        return mismatch(ctx, "containsIP", args);
    };
    match ip::parse(text) {
        Ok(addr) => Value::Bool(cidr.addr.same_network(&addr, cidr.bits)),
        // Upstream loses the parser's message here.
        Err(_) => ctx.error("no such overload"),
    }
}

fn contains_cidr<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        [a, b] => prefix(a).zip(prefix(b)),
        _ => None,
    }
    .map_or_else(|| mismatch(ctx, "containsCIDR", args), |(a, b)| Value::Bool(a.contains(&b)))
}

fn contains_cidr_string<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let (Some(cidr), [_, Value::String(text)]) = (args.first().and_then(prefix), args) else {
        return mismatch(ctx, "containsCIDR", args);
    };
    match parse(text) {
        Ok(other) => Value::Bool(cidr.contains(&other)),
        Err(_) => from_string(ctx, text),
    }
}

fn unary<'a>(
    ctx: &EvalContext<'a>,
    function: &str,
    args: &[Value<'a>],
    result: impl Fn(Prefix) -> Value<'a>,
) -> Value<'a> {
    match args {
        [cidr] => prefix(cidr).map(result),
        _ => None,
    }
    .unwrap_or_else(|| mismatch(ctx, function, args))
}

fn to_ip<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "ip", args, |cidr| ip::value(ctx, &cidr.addr))
}

fn prefix_length<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "prefixLength", args, |cidr| Value::Int(i64::from(cidr.bits)))
}

fn masked<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "masked", args, |cidr| value(ctx, &Prefix { addr: cidr.addr.masked(cidr.bits), bits: cidr.bits }))
}

fn to_string<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "string", args, |cidr| string(ctx, &format!("{}/{}", cidr.addr, cidr.bits)))
}

fn text<'a>(ctx: &EvalContext<'a>, this: &'a Opaque<'a>) -> Value<'a> {
    to_string(ctx, &[Value::Opaque(this)])
}

fn contains_ip_cost<'a>(_: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    cost::traversal(cost::size_at(args, 0).saturating_mul(2))
}

fn contains_ip_string_cost<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], result: Value<'a>) -> u64 {
    let text = if planted(Mutant::CidrTextIsFree) { 0 } else { cost::traversal(cost::size_at(args, 1)) };
    contains_ip_cost(ctx, args, result) + text
}

fn contains_cidr_cost<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], result: Value<'a>) -> u64 {
    contains_ip_cost(ctx, args, result) + cost::traversal(cost::size_at(args, 0)) + 1
}

fn contains_cidr_string_cost<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], result: Value<'a>) -> u64 {
    contains_cidr_cost(ctx, args, result) + cost::traversal(cost::size_at(args, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{call, equal, show, text, with_context};

    fn on(cidr: &str, id: &str, argument: Option<&str>) -> String {
        let mut out = String::new();
        with_context(|ctx| {
            let mut args = vec![call(ctx, &LIBRARY, "string_to_cidr", &[text(ctx, cidr)])];
            args.extend(argument.map(|s| text(ctx, s)));
            out = if args.iter().any(Value::is_error) { show(args[0]) } else { show(call(ctx, &LIBRARY, id, &args)) };
        });
        out
    }

    #[test]
    fn containment() {
        assert_eq!(on("192.168.0.0/24", "cidr_contains_ip_string", Some("192.168.0.1")), "true");
        assert_eq!(on("192.168.0.0/24", "cidr_contains_ip_string", Some("192.168.1.1")), "false");
        assert_eq!(on("192.168.0.0/24", "cidr_contains_ip_string", Some("::1")), "false");
        assert_eq!(on("0.0.0.0/0", "cidr_contains_ip_string", Some("9.9.9.9")), "true");
        assert_eq!(on("192.168.0.0/16", "cidr_contains_cidr_string", Some("192.168.10.0/24")), "true");
        assert_eq!(on("192.168.0.0/16", "cidr_contains_cidr_string", Some("192.0.0.0/8")), "false");
        assert_eq!(on("::/0", "cidr_contains_cidr_string", Some("0.0.0.0/0")), "false");
    }

    #[test]
    fn parts() {
        assert_eq!(on("192.168.3.7/17", "cidr_masked", None), TYPE_NAME);
        assert_eq!(on("192.168.3.7/17", "cidr_to_string", None), "\"192.168.3.7/17\"");
        assert_eq!(on("::1/128", "cidr_prefix_length", None), "128");
        with_context(|ctx| {
            let cidr = |s: &str| call(ctx, &LIBRARY, "string_to_cidr", &[text(ctx, s)]);
            let masked = call(ctx, &LIBRARY, "cidr_masked", &[cidr("192.168.3.7/17")]);
            assert_eq!(equal(ctx, masked, cidr("192.168.0.0/17")), "true");
            assert_eq!(equal(ctx, masked, cidr("192.168.0.0/18")), "false");
            assert_eq!([0, 1, 8, 9].map(|bits| cost::actual_size(&cidr(&format!("10.0.0.0/{bits}")))), [0, 1, 1, 2]);
        });
    }

    #[test]
    fn messages() {
        let twice = "error: network address parse error during conversion from string: network address parse error during conversion from string: ";
        let bad = |s, message: &str| {
            assert_eq!(on(s, "cidr_ip", None), format!("{twice}netip.ParsePrefix({s:?}): {message}"))
        };
        bad("1.2.3.4", "no '/'");
        bad("1.2.3.4/33", "prefix length out of range");
        bad("1.2.3.4/01", "bad bits after slash: \"01\"");
        bad("1.2.3/8", "ParseAddr(\"1.2.3\"): IPv4 address too short");
        bad("fe80::1%a/64", "IPv6 zones cannot be present in a prefix");
        // Upstream loses one message and keeps the other.
        assert_eq!(on("10.0.0.0/8", "cidr_contains_ip_string", Some("x")), "error: no such overload");
        assert!(on("10.0.0.0/8", "cidr_contains_cidr_string", Some("x")).starts_with(twice));
    }
}
