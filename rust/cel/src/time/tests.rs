use super::duration;
use super::*;

fn show(text: &str) -> Option<String> {
    let time = parse_rfc3339(text).ok()?;
    let mut out = String::new();
    write_rfc3339(&mut out, time).ok()?;
    Some(out)
}

#[test]
fn reads_and_prints_as_go() {
    for (text, printed) in [
        ("2023-01-02T03:04:05Z", Some("2023-01-02T03:04:05Z")),
        ("2023-01-02T03:04:05.120Z", Some("2023-01-02T03:04:05.12Z")),
        ("2023-01-02T03:04:05,5+02:00", Some("2023-01-02T03:04:05.5+02:00")),
        ("2023-01-02T3:04:05+00:00", Some("2023-01-02T03:04:05Z")),
        ("2023-01-02T03:04:05.1234567891234Z", Some("2023-01-02T03:04:05.123456789Z")),
        ("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00Z")),
        ("9999-12-31T23:59:59.999999999Z", Some("9999-12-31T23:59:59.999999999Z")),
        ("2024-02-29T00:00:00-24:60", Some("2024-02-29T00:00:00-25:00")),
        ("2023-02-29T00:00:00Z", None),
        ("2023-01-02t03:04:05Z", None),
        ("2023-01-02T03:04:60Z", None),
        ("2023-01-02T03:04:05", None),
        ("2023-01-02T03:04:05z", None),
        ("2023-01-02T03:04:05Z ", None),
        ("2023-1-02T03:04:05Z", None),
        ("2023-01-02T03:04:05.Z", None),
    ] {
        assert_eq!(show(text).as_deref(), printed, "{text}");
    }
}

#[test]
fn calendar_round_trips() {
    for days in (-1_000_000..3_000_000).step_by(97) {
        let (year, month, day) = civil_from_days(days);
        assert_eq!(days_from_civil(year, month, day), days);
    }
    let civil = Civil::of(Timestamp::utc(0, 0), 0);
    assert_eq!((civil.year, civil.month, civil.day, civil.year_day, civil.weekday), (1970, 1, 1, 1, 4));
}

#[test]
fn durations() {
    for (text, nanos) in [
        ("1h2m3s", Some(3_723_000_000_000)),
        ("0", Some(0)),
        ("-1.5h", Some(-5_400_000_000_000)),
        (".5s", Some(500_000_000)),
        ("1.s", Some(1_000_000_000)),
        ("100us", Some(100_000)),
        ("1µs", Some(1000)),
        ("-9223372036854775808ns", Some(i64::MIN)),
        ("9223372036854775808ns", None),
        ("1", None),
        ("", None),
        ("-", None),
        (".s", None),
        ("1d", None),
        ("3000000h", None),
    ] {
        assert_eq!(duration::parse(text).ok(), nanos, "{text}");
    }
    let mut out = String::new();
    duration::write_go(&mut out, 3_723_500_000_000).unwrap();
    assert_eq!(out, "1h2m3.5s");
}
