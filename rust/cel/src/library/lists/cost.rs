//! What calls cost (the trackers of cel-go `ext/lists.go`), where Go's code would panic included.

use crate::context::{EvalContext, Halt};
use crate::ops::size;
use crate::value::{ListView, Value};

/// A call that makes a list.
const BASE: u64 = 11;

/// The base, and `factor` for each of `size` elements.
pub(super) fn allocating(factor: f64, size: u64) -> u64 {
    let factor = if factor < 0.0 { 1.0 } else { factor };
    ((size as f64 * factor) as u64).saturating_add(BASE)
}

fn size_of(value: &Value<'_>) -> u64 {
    size(*value).unwrap_or(1)
}

/// By the size of the result.
pub(super) fn of_result<'a>(_: &EvalContext<'a>, _: &[Value<'a>], result: Value<'a>) -> u64 {
    allocating(1.0, size_of(&result))
}

/// By the size of the list times the depth.
pub(super) fn of_flatten<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    let depth = match args.get(1) {
        None => 1.0,
        Some(Value::Int(depth)) => *depth as f64,
        Some(other) => return panic(ctx, not_an_int(other)),
    };
    allocating(depth, args.first().map_or(1, size_of))
}

/// What flattening a list costs.
pub(super) fn flatten(list: ListView<'_>, depth: i64) -> u64 {
    allocating(depth as f64, list.len() as u64)
}

/// By the square of the size of the first argument.
pub(super) fn of_sort<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    of_argument(ctx, args.first())
}

/// By the square of the size of the second argument.
pub(super) fn of_sort_by_keys<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    of_argument(ctx, args.get(1))
}

fn of_argument<'a>(ctx: &EvalContext<'a>, arg: Option<&Value<'a>>) -> u64 {
    let arg = arg.copied().unwrap_or(Value::Null);
    match ListView::of(arg) {
        Some(list) => self_compare(list),
        None => panic(ctx, not_a_list(&arg)),
    }
}

/// Each element compared with each, twice, and a tenth more for strings.
pub(super) fn self_compare(list: ListView<'_>) -> u64 {
    let size = list.len() as u64;
    let factor = match list.get(0) {
        Some(Value::String(_) | Value::Bytes(_)) => 2.1,
        _ => 2.0,
    };
    allocating(factor, size.saturating_mul(size))
}

/// Go's panic ends the evaluation before the call is charged.
fn panic(ctx: &EvalContext<'_>, text: &'static str) -> u64 {
    ctx.set_halt(Halt::Panic(text));
    0
}

fn not_a_list(value: &Value<'_>) -> &'static str {
    macro_rules! no_list {
        ($type:literal, $missing:literal) => {
            concat!("internal error: interface conversion: ", $type, " is not traits.Lister: missing method ", $missing)
        };
    }
    match value {
        Value::Null => no_list!("types.Null", "Add"),
        Value::Bool(_) => no_list!("types.Bool", "Add"),
        Value::Int(_) => no_list!("types.Int", "Contains"),
        Value::Uint(_) => no_list!("types.Uint", "Contains"),
        Value::Double(_) => no_list!("types.Double", "Contains"),
        Value::String(_) => no_list!("types.String", "Contains"),
        Value::Bytes(_) => no_list!("types.Bytes", "Contains"),
        Value::Duration(_) => no_list!("types.Duration", "Contains"),
        Value::Timestamp(_) => no_list!("types.Timestamp", "Contains"),
        Value::Optional(_) => no_list!("*types.Optional", "Add"),
        Value::Type(_) => no_list!("*types.Type", "Add"),
        Value::Map(_) => no_list!("*types.baseMap", "Add"),
        Value::Record(record) if record.is_typed() && record.is_struct() => {
            no_list!("*common.reflectSchemalessTypedStruct", "Add")
        }
        Value::Record(record) if record.is_typed() => {
            no_list!("*common.reflectSchemalessTypedMap", "Add")
        }
        Value::Record(_) => no_list!("*types.baseMap", "Add"),
        Value::Lazy(_) => no_list!("*lazy.MapValue", "Add"),
        Value::Opaque(_) => no_list!("a library's value", "Add"),
        _ => no_list!("*types.Err", "Add"),
    }
}

fn not_an_int(value: &Value<'_>) -> &'static str {
    macro_rules! no_int {
        ($type:literal) => {
            concat!("internal error: interface conversion: ref.Val is ", $type, ", not types.Int")
        };
    }
    match value {
        Value::Null => no_int!("types.Null"),
        Value::Bool(_) => no_int!("types.Bool"),
        Value::Uint(_) => no_int!("types.Uint"),
        Value::Double(_) => no_int!("types.Double"),
        Value::String(_) => no_int!("types.String"),
        Value::Bytes(_) => no_int!("types.Bytes"),
        Value::Duration(_) => no_int!("types.Duration"),
        Value::Timestamp(_) => no_int!("types.Timestamp"),
        Value::Optional(_) => no_int!("*types.Optional"),
        Value::Type(_) => no_int!("*types.Type"),
        Value::List(_) | Value::Constants(_) => no_int!("*types.baseList"),
        Value::Concat(_) => no_int!("*types.concatList"),
        Value::Map(_) => no_int!("*types.baseMap"),
        Value::Record(record) => match (record.is_typed(), record.is_list(), record.is_struct()) {
            (true, true, _) => no_int!("*common.reflectSchemalessTypedList"),
            (true, _, true) => no_int!("*common.reflectSchemalessTypedStruct"),
            (true, _, _) => no_int!("*common.reflectSchemalessTypedMap"),
            (false, true, _) => no_int!("*types.baseList"),
            _ => no_int!("*types.baseMap"),
        },
        Value::Lazy(_) => no_int!("*lazy.MapValue"),
        Value::Opaque(_) => no_int!("a library's value"),
        _ => no_int!("*types.Err"),
    }
}
