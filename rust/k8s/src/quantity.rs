//! `kubernetes.quantity`: `resource.Quantity` in CEL (`pkg/cel/library/quantity.go`, `pkg/cel/quantity.go`).
//!
//! Upstream has two Go types of one CEL type: `quantity()` gives `Quantity`, `add` and `sub` give `*Quantity`. Equality
//! accepts only the former on its right, so `quantity('2') == quantity('1').add(1)` is "no such overload" while the same
//! swapped is true. Two [`OpaqueType`]s of one name keep that.

mod amount;
mod decimal;
mod parse;
#[cfg(test)]
mod tests;

use celgate_cel::context::EvalContext;
use celgate_cel::decls::{FunctionDecl, OverloadDecl};
use celgate_cel::function::{Implementation, Library};
use celgate_cel::mutants::{Mutant, planted};
use celgate_cel::types::Type;
use celgate_cel::value::{GoKey, Native, Opaque, OpaqueType, Value};

use crate::args::{fields, mismatch, no_such_overload, opaque};
use crate::cost;
use amount::Amount;
use decimal::{Decimal, Limb, Limbs};

/// The type's name.
pub const TYPE_NAME: &str = "kubernetes.Quantity";

/// What `quantity()` returns. State: `[value, scale]`, or `[limbs, scale]` with limbs a flat list of positions and digits.
static QUANTITY: OpaqueType = OpaqueType {
    name: TYPE_NAME,
    go_name: "cel.Quantity",
    go_key: GoKey::Identity,
    equal,
    size: None,
    native: Native::Named("Quantity"),
};
/// What `add` and `sub` return; state as [`QUANTITY`]'s.
static QUANTITY_POINTER: OpaqueType = OpaqueType {
    name: TYPE_NAME,
    go_name: "*cel.Quantity",
    go_key: GoKey::Identity,
    equal,
    size: None,
    native: Native::Named("Quantity"),
};

/// The library.
pub static LIBRARY: Library = Library {
    name: "kubernetes.quantity",
    functions,
    implementations: &[
        Implementation { id: "string_to_quantity", eval: string_to_quantity, cost: Some(cost::first_argument) },
        Implementation { id: "is_quantity_string", eval: is_quantity, cost: Some(cost::first_argument) },
        Implementation { id: "quantity_sign", eval: sign, cost: None },
        Implementation { id: "quantity_is_greater_than", eval: is_greater_than, cost: None },
        Implementation { id: "quantity_is_less_than", eval: is_less_than, cost: None },
        Implementation { id: "quantity_compare_to", eval: compare_to, cost: None },
        Implementation { id: "quantity_get_float", eval: as_approximate_float, cost: None },
        Implementation { id: "quantity_get_int", eval: as_integer, cost: None },
        Implementation { id: "quantity_is_integer", eval: is_integer, cost: None },
        Implementation { id: "quantity_add", eval: add, cost: None },
        Implementation { id: "quantity_add_int", eval: add_int, cost: None },
        Implementation { id: "quantity_sub", eval: sub, cost: None },
        Implementation { id: "quantity_sub_int", eval: sub_int, cost: None },
    ],
};

fn functions() -> Vec<FunctionDecl> {
    let quantity = || Type::object(TYPE_NAME);
    let one = |name, overload| FunctionDecl { name, overloads: vec![overload] };
    let unary = |name, id, result| one(name, OverloadDecl::member(id, vec![quantity()], result));
    let binary = |name, id, result| one(name, OverloadDecl::member(id, vec![quantity(), quantity()], result));
    let arithmetic = |name, id, int_id| FunctionDecl {
        name,
        overloads: vec![
            OverloadDecl::member(id, vec![quantity(), quantity()], quantity()),
            OverloadDecl::member(int_id, vec![quantity(), Type::Int], quantity()),
        ],
    };
    vec![
        one("quantity", OverloadDecl::global("string_to_quantity", vec![Type::String], quantity())),
        one("isQuantity", OverloadDecl::global("is_quantity_string", vec![Type::String], Type::Bool)),
        // Not a member: upstream declares `sign(q)`, although its documentation shows `q.sign()`.
        one("sign", OverloadDecl::global("quantity_sign", vec![quantity()], Type::Int)),
        binary("isGreaterThan", "quantity_is_greater_than", Type::Bool),
        binary("isLessThan", "quantity_is_less_than", Type::Bool),
        binary("compareTo", "quantity_compare_to", Type::Int),
        unary("asApproximateFloat", "quantity_get_float", Type::Double),
        unary("asInteger", "quantity_get_int", Type::Int),
        unary("isInteger", "quantity_is_integer", Type::Bool),
        arithmetic("add", "quantity_add", "quantity_add_int"),
        arithmetic("sub", "quantity_sub", "quantity_sub_int"),
    ]
}

/// Reads the state of either Go type.
fn amount(value: &Value<'_>) -> Option<Amount> {
    let state = fields(value, &QUANTITY).or_else(|| fields(value, &QUANTITY_POINTER))?;
    from_state(state)
}

fn from_state(state: &[Value<'_>]) -> Option<Amount> {
    match state {
        [Value::Int(value), Value::Int(scale)] => {
            Some(Amount::Scaled { value: *value, scale: i32::try_from(*scale).ok()? })
        }
        [Value::List(limbs), Value::Int(scale)] => {
            let limb = |pair: &[Value<'_>]| match pair {
                [Value::Int(at), Value::Int(digits)] => Some(Limb { at: *at, digits: *digits }),
                _ => None,
            };
            let limbs = limbs.chunks(2).map(limb).collect::<Option<Limbs>>()?;
            Some(Amount::Big(Decimal { limbs, scale: i32::try_from(*scale).ok()? }))
        }
        _ => None,
    }
}

fn value<'a>(ctx: &EvalContext<'a>, ty: &'static OpaqueType, amount: &Amount) -> Value<'a> {
    let state = match amount {
        Amount::Scaled { value, scale } => [Value::Int(*value), Value::Int(i64::from(*scale))],
        Amount::Big(number) => {
            let limbs = number.limbs.iter().flat_map(|l| [Value::Int(l.at), Value::Int(l.digits)]);
            let limbs = bumpalo::collections::Vec::from_iter_in(limbs, ctx.arena);
            [Value::List(limbs.into_bump_slice()), Value::Int(i64::from(number.scale))]
        }
    };
    opaque(ctx, ty, &state)
}

fn equal<'a>(ctx: &EvalContext<'a>, this: &'a Opaque<'a>, other: Value<'a>) -> Value<'a> {
    match (from_state(this.fields), fields(&other, &QUANTITY).and_then(from_state)) {
        (Some(a), Some(b)) => Value::Bool(a.compare(&b).is_eq()),
        _ => no_such_overload(ctx, other),
    }
}

fn string_to_quantity<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(text)] = args else { return mismatch(ctx, "quantity", args) };
    match parse::parse(text) {
        Ok(amount) => value(ctx, &QUANTITY, &amount),
        Err(message) => ctx.error(message),
    }
}

fn is_quantity<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(text)] = args else { return mismatch(ctx, "isQuantity", args) };
    Value::Bool(parse::parse(text).is_ok())
}

fn unary<'a>(
    ctx: &EvalContext<'a>,
    function: &str,
    args: &[Value<'a>],
    result: impl Fn(&Amount) -> Value<'a>,
) -> Value<'a> {
    match args {
        [q] => amount(q).map(|q| result(&q)),
        _ => None,
    }
    .unwrap_or_else(|| mismatch(ctx, function, args))
}

fn binary<'a>(
    ctx: &EvalContext<'a>,
    function: &str,
    args: &[Value<'a>],
    result: impl Fn(&Amount, &Amount) -> Value<'a>,
) -> Value<'a> {
    match args {
        [a, b] => amount(a).zip(amount(b)).map(|(a, b)| result(&a, &b)),
        _ => None,
    }
    .unwrap_or_else(|| mismatch(ctx, function, args))
}

fn with_int<'a>(
    ctx: &EvalContext<'a>,
    function: &str,
    args: &[Value<'a>],
    result: impl Fn(&Amount, &Amount) -> Amount,
) -> Value<'a> {
    match args {
        [a, Value::Int(b)] => amount(a).map(|a| value(ctx, &QUANTITY_POINTER, &result(&a, &Amount::from_int(*b)))),
        _ => None,
    }
    .unwrap_or_else(|| mismatch(ctx, function, args))
}

fn sign<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "sign", args, |q| Value::Int(q.signum()))
}

fn as_approximate_float<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "asApproximateFloat", args, |q| Value::Double(q.to_f64()))
}

fn as_integer<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "asInteger", args, |q| {
        q.as_int().map_or_else(|| ctx.error("cannot convert value to integer"), Value::Int)
    })
}

fn is_integer<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    unary(ctx, "isInteger", args, |q| Value::Bool(q.as_int().is_some()))
}

fn is_greater_than<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    binary(ctx, "isGreaterThan", args, |a, b| Value::Bool(a.compare(b).is_gt()))
}

fn is_less_than<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    binary(ctx, "isLessThan", args, |a, b| Value::Bool(a.compare(b).is_lt()))
}

fn compare_to<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let sign = if planted(Mutant::QuantityCompareReversed) { -1 } else { 1 };
    binary(ctx, "compareTo", args, |a, b| Value::Int(a.compare(b) as i64 * sign))
}

fn add<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let ty = if planted(Mutant::QuantityAddKeepsType) { &QUANTITY } else { &QUANTITY_POINTER };
    binary(ctx, "add", args, |a, b| value(ctx, ty, &a.add(b)))
}

fn add_int<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    with_int(ctx, "add", args, Amount::add)
}

fn sub<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    binary(ctx, "sub", args, |a, b| value(ctx, &QUANTITY_POINTER, &a.sub(b)))
}

fn sub_int<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    with_int(ctx, "sub", args, Amount::sub)
}
