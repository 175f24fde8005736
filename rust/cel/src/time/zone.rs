//! Time zones by name or numeric offset, as cel-go's standard library takes them (`inTimeZone` in `common/stdlib/standard.go`).

use std::borrow::Cow;

use jiff::tz::TimeZone;

use crate::context::EvalContext;
use crate::gotext::quote;
use crate::value::{Timestamp, Value};

/// Seconds east of UTC that `zone` has at `time`, or the error value that cel-go gives.
pub fn offset_at<'a>(ctx: &EvalContext<'a>, zone: &str, time: Timestamp) -> Result<i64, Value<'a>> {
    match zone.split_once(':') {
        Some((hours, minutes)) => fixed(ctx, zone, hours, minutes),
        None => named(ctx, zone, time),
    }
}

fn fixed<'a>(ctx: &EvalContext<'a>, zone: &str, hours: &str, minutes: &str) -> Result<i64, Value<'a>> {
    let hours = atoi(ctx, hours)?;
    let minutes = atoi(ctx, minutes)?;
    let hours = hours.wrapping_mul(60);
    let offset = if zone.starts_with('-') { hours.wrapping_sub(minutes) } else { hours.wrapping_add(minutes) };
    // Go goes through a duration in nanoseconds, and back by a float.
    let nanos = offset.wrapping_mul(60_000_000_000);
    Ok(super::duration::seconds(nanos) as i64)
}

/// Go's `strconv.Atoi`.
fn atoi<'a>(ctx: &EvalContext<'a>, text: &str) -> Result<i64, Value<'a>> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let well_formed = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<i64>() {
        Ok(number) if well_formed => Ok(number),
        _ => {
            let reason = if well_formed { "value out of range" } else { "invalid syntax" };
            Err(ctx.errorf(format_args!("strconv.Atoi: parsing {}: {reason}", quote(text))))
        }
    }
}

/// 9999-01-01T00:00:00Z
const LAST_YEAR: i64 = 253_370_764_800;

/// Seconds in 400 years.
const CALENDAR_CYCLE: i64 = 146_097 * 86_400;

/// A time that the database has, at which every zone has the same offset. The last hours of the year 9999 and what follows are beyond
/// its range: rules repeat with the calendar, every 400 years. So is what comes before the year -9999, when zones had the offset that
/// they had first.
fn within_range(seconds: i64) -> i64 {
    match seconds.checked_sub(LAST_YEAR) {
        Some(beyond) if beyond >= 0 => LAST_YEAR - CALENDAR_CYCLE + beyond % CALENDAR_CYCLE,
        _ => seconds.max(jiff::Timestamp::MIN.as_second()),
    }
}

fn named<'a>(ctx: &EvalContext<'a>, name: &str, time: Timestamp) -> Result<i64, Value<'a>> {
    // "Local" is the zone of upstream's process; we read no environment and take UTC, which servers run in.
    if matches!(name, "" | "UTC" | "Local") {
        return Ok(0);
    }
    if name.contains("..") || name.starts_with(['/', '\\']) {
        return Err(ctx.error("time: invalid location name"));
    }
    // Go's database is files, whose names have case; ours ignores it.
    let file = file_of(name);
    let zone = TimeZone::get(&file).ok().filter(|zone| zone.iana_name() == Some(&file));
    let instant = jiff::Timestamp::new(within_range(time.seconds), time.nanos as i32).ok();
    match (zone, instant) {
        (Some(zone), Some(instant)) => Ok(i64::from(zone.to_offset(instant).seconds())),
        _ => Err(ctx.errorf(format_args!("unknown time zone {name}"))),
    }
}

/// The file that a path leads to, which may have more slashes and dots than it needs; empty for what can only be a directory.
fn file_of(path: &str) -> Cow<'_, str> {
    let superfluous = |part: &str| matches!(part, "" | ".");
    match path.rsplit('/').next() {
        Some(last) if superfluous(last) => Cow::Borrowed(""),
        _ if path.split('/').any(superfluous) => {
            Cow::Owned(path.split('/').filter(|part| !superfluous(part)).collect::<Vec<_>>().join("/"))
        }
        _ => Cow::Borrowed(path),
    }
}

#[cfg(test)]
mod tests {
    use super::file_of;

    #[test]
    fn paths_lead_to_files() {
        for (path, file) in [
            ("Europe/Berlin", "Europe/Berlin"),
            ("Australia//Lord_Howe", "Australia/Lord_Howe"),
            ("./Europe/./Berlin", "Europe/Berlin"),
            ("Europe/Berlin/", ""),
            ("Europe/Berlin/.", ""),
            (".", ""),
        ] {
            assert_eq!(file_of(path), file, "{path}");
        }
    }
}
