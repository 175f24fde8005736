//! Ordering, as the `Compare` methods of cel-go's value types.

use std::cmp::Ordering;

use crate::context::EvalContext;
use crate::mutants::{Mutant, planted};
use crate::ops::number::{compare_double_int, compare_double_uint, compare_doubles, compare_int_uint};
use crate::value::Value;

/// Orders two values; the error is what the operator returns. The left value must have the comparer trait.
pub fn compare<'a>(ctx: &EvalContext<'a>, left: Value<'a>, right: Value<'a>) -> Result<Ordering, Value<'a>> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => Ok(a.cmp(&b)),
        (Value::String(a), Value::String(b)) => Ok(a.cmp(b)),
        (Value::Double(d), _) if d.is_nan() && !planted(Mutant::NanIsOrdered) => {
            Err(ctx.error("NaN values cannot be ordered"))
        }
        (Value::Int(_) | Value::Uint(_) | Value::Double(_), Value::Double(d)) if d.is_nan() => {
            Err(ctx.error("NaN values cannot be ordered"))
        }
        (Value::Uint(a), Value::Uint(b)) => Ok(a.cmp(&b)),
        (Value::Double(a), Value::Double(b)) => Ok(compare_doubles(a, b)),
        (Value::Int(i), Value::Uint(u)) if planted(Mutant::UintComparesAsInt) => Ok(i.cmp(&(u as i64))),
        (Value::Int(i), Value::Uint(u)) => Ok(compare_int_uint(i, u)),
        (Value::Uint(u), Value::Int(i)) => Ok(compare_int_uint(i, u).reverse()),
        (Value::Double(d), Value::Int(i)) => Ok(compare_double_int(d, i)),
        (Value::Int(i), Value::Double(d)) => Ok(compare_double_int(d, i).reverse()),
        (Value::Double(d), Value::Uint(u)) => Ok(compare_double_uint(d, u)),
        (Value::Uint(u), Value::Double(d)) => Ok(compare_double_uint(d, u).reverse()),
        (Value::Bool(a), Value::Bool(b)) if planted(Mutant::FalseIsGreater) => Ok(b.cmp(&a)),
        (Value::Bool(a), Value::Bool(b)) => Ok(a.cmp(&b)),
        (Value::Bytes(a), Value::Bytes(b)) => Ok(a.cmp(b)),
        (Value::Duration(a), Value::Duration(b)) => Ok(a.cmp(&b)),
        (Value::Timestamp(a), Value::Timestamp(b)) => Ok(a.cmp(&b)),
        (_, Value::Error(_) | Value::Halt) => Err(right),
        _ => Err(ctx.error("no such overload")),
    }
}
