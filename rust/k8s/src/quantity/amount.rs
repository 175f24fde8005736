//! A quantity's number: an `i64` with a decimal scale while that is enough, a [`Decimal`] from then on
//! (`int64Amount` and `infDecAmount` of `k8s.io/apimachinery/pkg/api/resource`).
//!
//! Which of the two it is can be seen (`isInteger` is false for the second, whatever its value), so every operation
//! changes form exactly where upstream's does. Upstream also changes the receiver of a comparison to the second form;
//! here comparing changes nothing. Where upstream's scale arithmetic leaves 32 bits in a comparison (a division by zero
//! there) or multiplies by 10^n for huge n, the result here is the mathematical one.

use std::cmp::Ordering;

use super::decimal::{Decimal, pow10};

/// A quantity's value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Amount {
    /// `value · 10^scale`
    Scaled {
        /// The digits.
        value: i64,
        /// The decimal exponent.
        scale: i32,
    },
    /// Anything else.
    Big(Decimal),
}

impl Amount {
    /// A whole number.
    pub(super) fn from_int(value: i64) -> Self {
        Amount::Scaled { value, scale: 0 }
    }

    fn to_decimal(&self) -> Decimal {
        match self {
            Amount::Scaled { value, scale } => Decimal::from_int(*value, i64::from(*scale), scale.wrapping_neg()),
            Amount::Big(number) => number.clone(),
        }
    }

    /// -1, 0 or 1.
    pub(super) fn signum(&self) -> i64 {
        match self {
            Amount::Scaled { value, .. } => value.signum(),
            Amount::Big(number) => number.signum(),
        }
    }

    /// `Quantity.AsInt64`: a whole number in the first form whose value fits.
    pub(super) fn as_int(&self) -> Option<i64> {
        match self {
            Amount::Scaled { value, scale } => {
                if *scale < 0 {
                    return None;
                }
                scale_up(*value, *scale)
            }
            Amount::Big(_) => None,
        }
    }

    /// `Quantity.AsApproximateFloat64`.
    pub(super) fn to_f64(&self) -> f64 {
        match self {
            Amount::Scaled { value, scale: 0 } => *value as f64,
            Amount::Scaled { value, scale } => *value as f64 * pow10(i64::from(*scale)),
            Amount::Big(number) => number.to_f64(),
        }
    }

    /// `Quantity.Cmp`.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        if let (Amount::Scaled { value: a, scale: s }, Amount::Scaled { value: b, scale: t }) = (self, other) {
            if s == t {
                return a.cmp(b);
            }
            if a.signum() != b.signum() {
                return a.signum().cmp(&b.signum());
            }
            // 63 bits times 10^19 fit.
            let times = |difference: i64| (0..=19).contains(&difference).then(|| 10i128.pow(difference as u32));
            let difference = i64::from(*s) - i64::from(*t);
            match (times(difference), times(-difference)) {
                (Some(factor), _) => return (i128::from(*a) * factor).cmp(&i128::from(*b)),
                (_, Some(factor)) => return i128::from(*a).cmp(&(i128::from(*b) * factor)),
                _ => {}
            }
        }
        self.to_decimal().compare(&other.to_decimal())
    }

    /// `Quantity.Add`.
    pub(super) fn add(&self, other: &Self) -> Self {
        if let (Amount::Scaled { value: a, scale: s }, Amount::Scaled { value: b, scale: t }) = (self, other)
            && let Some((value, scale)) = add_scaled(*a, *s, *b, *t)
        {
            return Amount::Scaled { value, scale };
        }
        Amount::Big(self.to_decimal().add(&other.to_decimal()))
    }

    /// `Quantity.Sub`.
    pub(super) fn sub(&self, other: &Self) -> Self {
        if let (Amount::Scaled { value: a, scale: s }, Amount::Scaled { value: b, scale: t }) = (self, other)
            // As upstream: the negation wraps.
            && let Some((value, scale)) = add_scaled(*a, *s, b.wrapping_neg(), *t)
        {
            return Amount::Scaled { value, scale };
        }
        Amount::Big(self.to_decimal().sub(&other.to_decimal()))
    }
}

/// `value · 10^scale`, or `None` if that does not fit. A negative scale is 0, as in upstream's loop.
fn scale_up(value: i64, scale: i32) -> Option<i64> {
    match u32::try_from(scale) {
        Err(_) => Some(value),
        Ok(_) if value == 0 => Some(0),
        Ok(scale) => value.checked_mul(10i64.checked_pow(scale)?),
    }
}

/// `int64Amount.Add`. The difference of the scales wraps at 32 bits, as there.
fn add_scaled(a: i64, s: i32, b: i64, t: i32) -> Option<(i64, i32)> {
    if b == 0 {
        return Some((a, s));
    }
    if a == 0 {
        return Some((b, t));
    }
    match s.cmp(&t) {
        Ordering::Equal => Some((a.checked_add(b)?, s)),
        Ordering::Greater => Some((scale_up(a, s.wrapping_sub(t))?.checked_add(b)?, t)),
        Ordering::Less => Some((scale_up(b, t.wrapping_sub(s))?.checked_add(a)?, s)),
    }
}
