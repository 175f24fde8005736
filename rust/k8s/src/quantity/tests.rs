use super::*;
use crate::testing::{call, equal, show, text, with_context};

fn parsed(text: &str) -> Amount {
    parse::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn order(a: &str, b: &str) -> i64 {
    parsed(a).compare(&parsed(b)) as i64
}

#[test]
fn texts_that_are_quantities_and_texts_that_are_not() {
    for text in [
        "0", "1", "1.5", ".5", "5.", "+1", "-1", "1k", "1Ki", "1e3", "1E3", "1e+3", "1E", "1n", "12.50Gi", "-", "+",
        ".",
    ] {
        assert!(parse::parse(text).is_ok(), "{text}");
    }
    let format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    for text in ["", "1.1.1", "a", "1 ", " 1", "1e3i", "1,3G", "1é"] {
        assert_eq!(parse::parse(text), Err(format), "{text}");
    }
    for text in ["1K", "1B", "1ki", "e", "--1", "Three", "1e", "1ee3", "1e99999999999999999999", "1Gi3", "1i"] {
        let error = parse::parse(text);
        assert!(error == Err("unable to parse quantity's suffix") || error == Err(format), "{text} {error:?}");
    }
    assert_eq!(parse::parse(".Pi"), Err("unable to parse numeric part of quantity"));
}

#[test]
fn compares_by_value_whatever_the_form() {
    assert_eq!(order("200M", "0.2G"), 0);
    assert_eq!(order("50M", "50Mi"), -1);
    assert_eq!(order("-1", "1n"), -1);
    assert_eq!(order("1Ei", "1152921504606846976"), 0);
    assert_eq!(order("8Ei", "9223372036854775807"), 0, "binary amounts are capped");
    assert_eq!(order("0.0000000000001", "1n"), 0, "tiny amounts are rounded up");
    assert_eq!(order("-0.0000000000001", "-1n"), 0);
    assert_eq!(order("1.0000000001", "1.000000001"), 0);
    assert_eq!(order("123456789012345678901234567890", "123456789012345678901234567889"), 1);
    assert_eq!(order("1e4294967296", "1"), 0, "an exponent is cut to 32 bits");
}

#[test]
fn hostile_exponents_are_answered_at_once() {
    assert_eq!(order("1e2147483647", "1n"), 1);
    assert_eq!(order("-1e2147483647", "1n"), -1);
    assert_eq!(order("3e300000000", "1n"), 1);
    assert_eq!(order("3e300000000", "30e299999999"), 0);
    assert_eq!(order("123456789012345678901e2147483647", "1e2147483647"), 1);
    assert_eq!(order("123456789012345678901e-2147483648", "1n"), 0);
    let huge = parsed("3e300000000");
    let sum = huge.add(&parsed("1n"));
    assert_eq!(sum.compare(&huge) as i64, 1);
    assert_eq!(sum.sub(&huge).compare(&parsed("1n")) as i64, 0);
    assert_eq!(huge.sub(&parsed("1n")).compare(&huge) as i64, -1);
    assert_eq!(huge.to_f64(), f64::INFINITY);
    assert_eq!(parsed("0e2147483647").as_int(), Some(0));
}

#[test]
fn many_digits_take_linear_time() {
    let digits = "9".repeat(3_000_000);
    let number = parsed(&digits);
    assert_eq!(number.compare(&number) as i64, 0);
    assert_eq!(number.add(&parsed("1")).sub(&number).compare(&parsed("1")) as i64, 0);
    assert_eq!(number.to_f64(), f64::INFINITY);
}

#[test]
fn a_sum_that_leaves_the_first_form_stays_in_the_second() {
    let max = parsed("9223372036854775807");
    let there_and_back = max.add(&Amount::from_int(1)).sub(&Amount::from_int(1));
    assert_eq!(there_and_back.compare(&max) as i64, 0);
    assert_eq!((max.as_int(), there_and_back.as_int()), (None, None), "19 digits do not fit the estimate");
    assert_eq!(parsed("922337203685477580").as_int(), Some(922_337_203_685_477_580));
    assert_eq!(parsed("1k").as_int(), Some(1000));
    assert_eq!(parsed("1000m").as_int(), None, "a negative scale is no integer");
}

#[test]
fn floats_round_as_upstream_multiplies() {
    assert_eq!(parsed("1.5").to_f64(), 15.0 * 0.1);
    assert_eq!(parsed("1n").to_f64(), 1e-9);
    assert_eq!(parsed("1e400").to_f64(), f64::INFINITY);
    assert!(parsed("0e400").to_f64().is_nan());
    assert_eq!(parsed("123456789012345678901234567890").to_f64(), 123456789012345678901234567890000000000f64 * 1e-9);
    assert_eq!(parsed("-1Ki").to_f64(), -1024.0);
}

#[test]
fn equality_depends_on_the_go_type_on_the_right() {
    with_context(|ctx| {
        let quantity = |s| call(ctx, &LIBRARY, "string_to_quantity", &[text(ctx, s)]);
        let two = quantity("2");
        let sum = call(ctx, &LIBRARY, "quantity_add_int", &[quantity("1"), Value::Int(1)]);
        assert_eq!(equal(ctx, two, sum), "error: no such overload");
        assert_eq!(equal(ctx, sum, two), "true");
        assert_eq!(equal(ctx, sum, sum), "error: no such overload");
        assert_eq!(equal(ctx, two, Value::Int(2)), "error: no such overload");
        assert_eq!(show(call(ctx, &LIBRARY, "quantity_sign", &[Value::Int(1)])), "error: no such overload: sign(int)");
    });
}

#[test]
fn a_decimal_from_an_integer_is_that_from_its_digits() {
    let edges = [1, 9, 499_999_999_999_999_999, 500_000_000_000_000_000, 500_000_000_000_000_001, i64::MAX];
    for value in edges.into_iter().chain((0..18).map(|places| 10i64.pow(places) + 7)) {
        for exponent in -40..40 {
            let from_digits = decimal::Decimal::from_digits(value.to_string().as_bytes(), exponent, 3);
            assert_eq!(decimal::Decimal::from_int(value, exponent, 3), from_digits, "{value}e{exponent}");
            let negative = decimal::Decimal::from_int(-value, exponent, 3);
            assert_eq!(negative, from_digits.times(-1), "-{value}e{exponent}");
        }
    }
    assert_eq!(decimal::Decimal::from_int(0, 5, 0), decimal::Decimal::default());
    let lowest = decimal::Decimal::from_int(i64::MIN, 0, 0);
    assert_eq!(lowest.add(&decimal::Decimal::from_int(i64::MAX, 0, 0)), decimal::Decimal::from_int(-1, 0, 0));
}
