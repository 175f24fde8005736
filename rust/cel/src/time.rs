//! Time as Go has it: RFC 3339 texts, durations, time zones and calendar fields (Go's package `time`).

pub mod duration;
pub mod zone;

#[cfg(test)]
mod tests;

use std::fmt::{self, Write};

use crate::value::Timestamp;

/// Seconds from the epoch to 0001-01-01T00:00:00Z, the first instant that CEL allows.
pub const MIN_SECONDS: i64 = -62_135_596_800;
/// Seconds from the epoch to 9999-12-31T23:59:59Z, the last second that CEL allows.
pub const MAX_SECONDS: i64 = 253_402_300_799;

/// Seconds from the first day of Go's calendar, 1 March of the year -292,277,022,400, to the epoch (`unixToAbsolute` in its `time.go`).
const UNIX_TO_ABSOLUTE: i64 = 9_223_372_028_741_760_000;

/// The text is not an RFC 3339 time that Go's `time.Parse` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotATime;

/// Reads a time as Go's `time.Parse(time.RFC3339, text)` does. It may lie outside the range that CEL allows.
pub fn parse_rfc3339(text: &str) -> Result<Timestamp, NotATime> {
    let mut reader = Reader { rest: text.as_bytes() };
    let year = reader.digits(4)?;
    reader.literal(b'-')?;
    let month = reader.digits(2)?;
    reader.literal(b'-')?;
    let day = reader.digits(2)?;
    reader.literal(b'T')?;
    // Go reads the hour as "15", which takes one digit too.
    let hour = reader.one_or_two_digits()?;
    reader.literal(b':')?;
    let minute = reader.digits(2)?;
    reader.literal(b':')?;
    let second = reader.digits(2)?;
    let nanos = reader.fraction();
    let offset = reader.offset()?;
    let date_ok = (1..=12).contains(&month) && day >= 1 && day <= days_in(month, year);
    if !date_ok || hour > 23 || minute > 59 || second > 59 || !reader.rest.is_empty() {
        return Err(NotATime);
    }
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - i64::from(offset);
    Ok(Timestamp { seconds, nanos, offset })
}

struct Reader<'t> {
    rest: &'t [u8],
}

impl Reader<'_> {
    fn digits(&mut self, count: usize) -> Result<i64, NotATime> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or(NotATime)?;
        self.rest = rest;
        head.iter().try_fold(0, |number, byte| match byte {
            b'0'..=b'9' => Ok(number * 10 + i64::from(byte - b'0')),
            _ => Err(NotATime),
        })
    }

    fn one_or_two_digits(&mut self) -> Result<i64, NotATime> {
        let two = self.rest.get(1).is_some_and(u8::is_ascii_digit);
        self.digits(if two { 2 } else { 1 })
    }

    fn literal(&mut self, byte: u8) -> Result<(), NotATime> {
        self.rest = self.rest.strip_prefix(&[byte]).ok_or(NotATime)?;
        Ok(())
    }

    /// A fraction of a second after `.` or `,`; digits beyond nanoseconds are dropped.
    fn fraction(&mut self) -> u32 {
        let [b'.' | b',', rest @ ..] = self.rest else {
            return 0;
        };
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return 0;
        }
        let (digits, rest) = rest.split_at(count);
        self.rest = rest;
        (0..9).fold(0, |nanos, i| nanos * 10 + digits.get(i).map_or(0, |digit| u32::from(digit - b'0')))
    }

    fn offset(&mut self) -> Result<i32, NotATime> {
        if let Some(rest) = self.rest.strip_prefix(b"Z") {
            self.rest = rest;
            return Ok(0);
        }
        let sign = match self.rest.first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return Err(NotATime),
        };
        self.digits_after_sign(sign)
    }

    fn digits_after_sign(&mut self, sign: i32) -> Result<i32, NotATime> {
        self.rest = self.rest.get(1..).unwrap_or_default();
        let hours = self.digits(2)?;
        self.literal(b':')?;
        let minutes = self.digits(2)?;
        // Go lets 24 hours and 60 minutes pass.
        if hours > 24 || minutes > 60 {
            return Err(NotATime);
        }
        Ok(sign * (hours * 60 + minutes) as i32 * 60)
    }
}

/// Prints as Go's `time.RFC3339Nano`: at the time's own offset, with as many digits of fraction as are needed.
pub fn write_rfc3339(out: &mut dyn Write, time: Timestamp) -> fmt::Result {
    let local = Civil::of(time, i64::from(time.offset));
    write!(out, "{:04}-{:02}-{:02}T", local.year, local.month, local.day)?;
    write!(out, "{:02}:{:02}:{:02}", local.hour, local.minute, local.second)?;
    if time.nanos != 0 {
        let digits = format!("{:09}", time.nanos);
        write!(out, ".{}", digits.trim_end_matches('0'))?;
    }
    if time.offset == 0 {
        return out.write_char('Z');
    }
    let minutes = time.offset.unsigned_abs() / 60;
    let sign = if time.offset < 0 { '-' } else { '+' };
    write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// An instant's calendar fields at some offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    /// Year, may be 0 or negative.
    pub year: i64,
    /// Month, from 1.
    pub month: i64,
    /// Day of the month, from 1.
    pub day: i64,
    /// Day of the year, from 1.
    pub year_day: i64,
    /// Day of the week, Sunday is 0.
    pub weekday: i64,
    /// Hour, 0 to 23.
    pub hour: i64,
    /// Minute.
    pub minute: i64,
    /// Second.
    pub second: i64,
}

impl Civil {
    /// The fields of `time` at `offset` seconds east of UTC.
    pub fn of(time: Timestamp, offset: i64) -> Civil {
        // As in Go, what lies before its first year is beyond its last.
        let absolute = time.seconds.wrapping_add(offset).wrapping_add(UNIX_TO_ABSOLUTE) as u64;
        let days = (absolute / 86_400) as i64 - UNIX_TO_ABSOLUTE / 86_400;
        let in_day = (absolute % 86_400) as i64;
        let (year, month, day) = civil_from_days(days);
        Civil {
            year,
            month,
            day,
            year_day: days - days_from_civil(year, 1, 1) + 1,
            weekday: (days + 4).rem_euclid(7),
            hour: in_day / 3600,
            minute: in_day / 60 % 60,
            second: in_day % 60,
        }
    }
}

fn days_in(month: i64, year: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // Years begin in March, so that the leap day is the last of a year; eras have 400 years.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days.saturating_add(719_468);
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}
