//! Conversions between number types without loss, and their comparison (cel-go `common/types/{overflow,compare}.go`).

use crate::mutants::{Mutant, planted};
use std::cmp::Ordering;

/// 2^63 as a double.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;
/// 2^64 as a double.
const TWO_64: f64 = 18_446_744_073_709_551_616.0;

/// Truncates to an int; `None` when it does not fit (both ends excluded, as cel-go has it) or is not finite.
pub fn double_to_int(d: f64) -> Option<i64> {
    ((d > -TWO_63 || planted(Mutant::DoubleToIntIncludesEnd) && d == -TWO_63) && d < TWO_63).then_some(d as i64)
}

/// Truncates to a uint; `None` when it does not fit or is not finite.
pub fn double_to_uint(d: f64) -> Option<u64> {
    (0.0..TWO_64).contains(&d).then_some(d as u64)
}

/// The int that equals `d`.
pub fn double_to_int_lossless(d: f64) -> Option<i64> {
    double_to_int(d).filter(|&i| i as f64 == d)
}

/// The uint that equals `d`.
pub fn double_to_uint_lossless(d: f64) -> Option<u64> {
    double_to_uint(d).filter(|&u| u as f64 == d)
}

/// Compares as cel-go does: neither smaller nor greater is equal, so NaN must be excluded before.
pub fn compare_doubles(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

/// Compares a double with an int; the int is rounded to a double within its range.
pub fn compare_double_int(d: f64, i: i64) -> Ordering {
    if d < -TWO_63 {
        Ordering::Less
    } else if d > TWO_63 {
        Ordering::Greater
    } else {
        compare_doubles(d, i as f64)
    }
}

/// Compares a double with a uint.
pub fn compare_double_uint(d: f64, u: u64) -> Ordering {
    if d < 0.0 {
        Ordering::Less
    } else if d > TWO_64 {
        Ordering::Greater
    } else {
        compare_doubles(d, u as f64)
    }
}

/// Compares an int with a uint.
pub fn compare_int_uint(i: i64, u: u64) -> Ordering {
    match u64::try_from(i) {
        Ok(i) => i.cmp(&u),
        Err(_) => Ordering::Less,
    }
}
