//! `kubernetes.Semver`, version 1: semantic versions in CEL (`pkg/cel/library/semverlib.go`, `pkg/cel/semver.go`).

mod version;

use std::borrow::Cow;

use celgate_cel::context::EvalContext;
use celgate_cel::decls::{FunctionDecl, OverloadDecl};
use celgate_cel::function::{Implementation, Library};
use celgate_cel::mutants::{Mutant, planted};
use celgate_cel::types::Type;
use celgate_cel::value::{GoKey, Native, Opaque, OpaqueType, Value};

use crate::args::{fields, mismatch, no_such_overload, opaque, string};
use crate::cost;
use version::{Version, normalize, parse};

/// The type's name.
pub const TYPE_NAME: &str = "kubernetes.Semver";

/// The type is a Go struct with a slice or function.
const UNHASHABLE: &str = "internal error: runtime error: hash of unhashable type cel.Semver";

/// State: `[major, minor, patch, pre-release]`.
static SEMVER: OpaqueType = OpaqueType {
    name: TYPE_NAME,
    go_name: "cel.Semver",
    go_key: GoKey::Unhashable(UNHASHABLE),
    equal,
    size: None,
    native: Native::Named("Semver"),
};

/// The library.
pub static LIBRARY: Library = Library {
    name: "kubernetes.Semver",
    functions,
    implementations: &[
        Implementation { id: "string_to_semver", eval: string_to_semver, cost: Some(cost::first_argument) },
        Implementation { id: "string_bool_to_semver", eval: string_to_semver, cost: Some(cost::first_argument) },
        Implementation { id: "is_semver_string", eval: is_semver, cost: Some(cost::first_argument) },
        Implementation { id: "is_semver_string_bool", eval: is_semver, cost: Some(cost::first_argument) },
        Implementation { id: "semver_is_greater_than", eval: is_greater_than, cost: None },
        Implementation { id: "semver_is_less_than", eval: is_less_than, cost: None },
        Implementation { id: "semver_compare_to", eval: compare_to, cost: None },
        Implementation { id: "semver_major", eval: major, cost: None },
        Implementation { id: "semver_minor", eval: minor, cost: None },
        Implementation { id: "semver_patch", eval: patch, cost: None },
    ],
};

fn functions() -> Vec<FunctionDecl> {
    let semver = || Type::object(TYPE_NAME);
    let from_string = |name, id, bool_id, result: Type| FunctionDecl {
        name,
        overloads: vec![
            OverloadDecl::global(id, vec![Type::String], result.clone()),
            OverloadDecl::global(bool_id, vec![Type::String, Type::Bool], result),
        ],
    };
    let one = |name, overload| FunctionDecl { name, overloads: vec![overload] };
    let binary = |name, id, result| one(name, OverloadDecl::member(id, vec![semver(), semver()], result));
    let unary = |name, id| one(name, OverloadDecl::member(id, vec![semver()], Type::Int));
    vec![
        from_string("semver", "string_to_semver", "string_bool_to_semver", semver()),
        from_string("isSemver", "is_semver_string", "is_semver_string_bool", Type::Bool),
        binary("isGreaterThan", "semver_is_greater_than", Type::Bool),
        binary("isLessThan", "semver_is_less_than", Type::Bool),
        binary("compareTo", "semver_compare_to", Type::Int),
        unary("major", "semver_major"),
        unary("minor", "semver_minor"),
        unary("patch", "semver_patch"),
    ]
}

fn version<'a>(value: &Value<'a>) -> Option<Version<'a>> {
    match *fields(value, &SEMVER)? {
        [Value::Uint(major), Value::Uint(minor), Value::Uint(patch), Value::String(pre)] => {
            Some(Version { major, minor, patch, pre })
        }
        _ => None,
    }
}

fn equal<'a>(ctx: &EvalContext<'a>, this: &'a Opaque<'a>, other: Value<'a>) -> Value<'a> {
    match (version(&Value::Opaque(this)), version(&other)) {
        (Some(a), Some(b)) => Value::Bool(a.compare(&b).is_eq()),
        _ => no_such_overload(ctx, other),
    }
}

/// The text to parse: as it is, or normalized when the second argument says so. `None` when the arguments are of wrong types.
fn text_of<'v>(args: &[Value<'v>]) -> Option<Result<Cow<'v, str>, String>> {
    match *args {
        [Value::String(text), ..] if planted(Mutant::SemverNormalizesAlways) => Some(normalize(text).map(Cow::Owned)),
        [Value::String(text)] | [Value::String(text), Value::Bool(false)] => Some(Ok(Cow::Borrowed(text))),
        [Value::String(text), Value::Bool(true)] => Some(normalize(text).map(Cow::Owned)),
        _ => None,
    }
}

fn string_to_semver<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let Some(text) = text_of(args) else { return mismatch(ctx, "semver", args) };
    let value = |version: Version<'_>| {
        let numbers = [version.major, version.minor, version.patch].map(Value::Uint);
        let [major, minor, patch] = numbers;
        opaque(ctx, &SEMVER, &[major, minor, patch, string(ctx, version.pre)])
    };
    match text.and_then(|text| parse(&text).map(value)) {
        Ok(value) => value,
        Err(message) => ctx.errorf(format_args!("{message}")),
    }
}

fn is_semver<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match text_of(args) {
        Some(text) => Value::Bool(text.is_ok_and(|text| parse(&text).is_ok())),
        None => mismatch(ctx, "isSemver", args),
    }
}

fn binary<'a>(
    ctx: &EvalContext<'a>,
    function: &str,
    args: &[Value<'a>],
    result: impl Fn(std::cmp::Ordering) -> Value<'a>,
) -> Value<'a> {
    match args {
        [a, b] => version(a).zip(version(b)).map(|(a, b)| result(a.compare(&b))),
        _ => None,
    }
    .unwrap_or_else(|| mismatch(ctx, function, args))
}

fn is_greater_than<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    binary(ctx, "isGreaterThan", args, |order| Value::Bool(order.is_gt()))
}

fn is_less_than<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    binary(ctx, "isLessThan", args, |order| Value::Bool(order.is_lt()))
}

fn compare_to<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    binary(ctx, "compareTo", args, |order| Value::Int(order as i64))
}

/// A number of the version; upstream's conversion to a signed integer wraps.
fn part<'a>(ctx: &EvalContext<'a>, function: &str, args: &[Value<'a>], get: fn(&Version<'a>) -> u64) -> Value<'a> {
    match args {
        [v] => version(v).map(|v| Value::Int(get(&v).cast_signed())),
        _ => None,
    }
    .unwrap_or_else(|| mismatch(ctx, function, args))
}

fn major<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    part(ctx, "major", args, |v| v.major)
}

fn minor<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    part(ctx, "minor", args, |v| v.minor)
}

fn patch<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    part(ctx, "patch", args, |v| v.patch)
}
