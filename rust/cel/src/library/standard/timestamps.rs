//! Parts of timestamps and durations (cel-go `common/stdlib/standard.go`, `common/types/duration.go`).

use crate::context::EvalContext;
use crate::function::{EvalFn, Implementation};
use crate::time::{Civil, duration, zone};
use crate::value::{Timestamp, Value};

macro_rules! parts {
    ($($id:literal, $zoned:literal, $part:expr;)*) => {
        [$(
            part($id, |ctx, args| utc(ctx, args, $part)),
            part($zoned, |ctx, args| in_zone(ctx, args, $part)),
        )*]
    };
}

/// Implementations by overload id.
pub(super) const TIMESTAMPS: [Implementation; 20] = parts! {
    "timestamp_to_year", "timestamp_to_year_with_tz", |_, civil| civil.year;
    "timestamp_to_month", "timestamp_to_month_with_tz", |_, civil| civil.month - 1;
    "timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz", |_, civil| civil.year_day - 1;
    "timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz", |_, civil| civil.day - 1;
    "timestamp_to_day_of_month_1_based", "timestamp_to_day_of_month_1_based_with_tz", |_, civil| civil.day;
    "timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz", |_, civil| civil.weekday;
    "timestamp_to_hours", "timestamp_to_hours_with_tz", |_, civil| civil.hour;
    "timestamp_to_minutes", "timestamp_to_minutes_with_tz", |_, civil| civil.minute;
    "timestamp_to_seconds", "timestamp_to_seconds_tz", |_, civil| civil.second;
    "timestamp_to_milliseconds", "timestamp_to_milliseconds_with_tz", |time, _| i64::from(time.nanos / 1_000_000);
};

/// Implementations by overload id.
pub(super) const DURATIONS: [Implementation; 4] = [
    part("duration_to_hours", |ctx, args| of_duration(ctx, args, |nanos| duration::in_unit(nanos, HOUR) as i64)),
    part("duration_to_minutes", |ctx, args| of_duration(ctx, args, |nanos| duration::in_unit(nanos, MINUTE) as i64)),
    part("duration_to_seconds", |ctx, args| of_duration(ctx, args, |nanos| duration::seconds(nanos) as i64)),
    part("duration_to_milliseconds", |ctx, args| of_duration(ctx, args, |nanos| nanos / 1_000_000)),
];

const MINUTE: i64 = 60_000_000_000;
const HOUR: i64 = 60 * MINUTE;

const fn part(id: &'static str, eval: EvalFn) -> Implementation {
    Implementation { id, eval, cost: None }
}

fn utc<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], part: fn(Timestamp, Civil) -> i64) -> Value<'a> {
    match args {
        [Value::Timestamp(time)] => Value::Int(part(*time, Civil::of(*time, 0))),
        _ => ctx.error("no such overload"),
    }
}

fn in_zone<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], part: fn(Timestamp, Civil) -> i64) -> Value<'a> {
    match args {
        [Value::Timestamp(time), Value::String(name)] => match zone::offset_at(ctx, name, *time) {
            Ok(offset) => Value::Int(part(*time, Civil::of(*time, offset))),
            Err(error) => error,
        },
        _ => ctx.error("no such overload"),
    }
}

fn of_duration<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], part: fn(i64) -> i64) -> Value<'a> {
    match args {
        [Value::Duration(duration)] => Value::Int(part(duration.nanos)),
        _ => ctx.error("no such overload"),
    }
}
