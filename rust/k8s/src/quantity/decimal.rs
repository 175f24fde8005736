//! Decimals of any size and any distance between their digits (`gopkg.in/inf.v0` as far as quantities use it).
//!
//! `inf.Dec` aligns two numbers by multiplying with a power of ten, so that one exponent in a string decides how much
//! memory and time a comparison takes. Here a number is a sparse sum of limbs in base 10^18, each limb between
//! -5·10^17 (exclusive) and 5·10^17: a gap of a billion zeros costs nothing, no borrow runs through it, the sign is the
//! sign of the top limb, and every operation is linear in the digits that were written.

use std::cmp::Ordering;

use smallvec::SmallVec;

const BASE: i64 = 1_000_000_000_000_000_000;
const HALF: i64 = BASE / 2;
/// Decimal digits of one limb.
const DIGITS: i64 = 18;
/// Decimal places below the unit of limb 0: numbers count billionths, the smallest amount a quantity can have.
const PLACES: i64 = 9;
/// A number whose limbs span this many positions is beyond any `f64`.
const BEYOND_F64: i64 = 24;

/// `digits · 10^(18·at)`, with digits not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limb {
    pub(super) at: i64,
    pub(super) digits: i64,
}

/// Limbs; quantities that people write need no heap for theirs.
pub(super) type Limbs = SmallVec<[Limb; 4]>;

/// A decimal number, counted in billionths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Decimal {
    /// Ascending positions. Balanced limbs make the form unique.
    pub(super) limbs: Limbs,
    /// `inf.Dec`'s scale; it decides nothing but how [`Self::to_f64`] rounds.
    pub(super) scale: i32,
}

/// The balanced digit of a sum, and what is carried to the next position.
fn balance(sum: i128) -> (i64, i128) {
    let base = i128::from(BASE);
    let (mut digit, mut carry) = (sum % base, sum / base);
    if digit > i128::from(HALF) {
        (digit, carry) = (digit - base, carry + 1);
    } else if digit <= -i128::from(HALF) {
        (digit, carry) = (digit + base, carry - 1);
    }
    // The digit is within ±HALF, so it fits.
    (i64::try_from(digit).unwrap_or_default(), carry)
}

/// Adds up two ascending sequences of limbs, each multiplied by its factor.
fn combine(a: &[Limb], b: &[Limb], a_times: i128, b_times: i128) -> Limbs {
    let mut out = Limbs::with_capacity(a.len() + b.len() + 1);
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    let (mut carry, mut carry_at) = (0i128, i64::MAX);
    loop {
        let next = [a.peek().map(|l| l.at), b.peek().map(|l| l.at), (carry != 0).then_some(carry_at)];
        let Some(at) = next.into_iter().flatten().min() else { return out };
        let mut sum = 0i128;
        if let Some(limb) = a.next_if(|l| l.at == at) {
            sum += i128::from(limb.digits) * a_times;
        }
        if let Some(limb) = b.next_if(|l| l.at == at) {
            sum += i128::from(limb.digits) * b_times;
        }
        if carry != 0 && carry_at == at {
            sum += carry;
        }
        let (digits, rest) = balance(sum);
        (carry, carry_at) = (rest, at + 1);
        if digits != 0 {
            out.push(Limb { at, digits });
        }
    }
}

impl Decimal {
    /// `digits · 10^exponent`, where digits are ASCII digits (any number of them).
    pub(super) fn from_digits(digits: &[u8], exponent: i64, scale: i32) -> Self {
        let exponent = exponent + PLACES;
        let (mut at, zeros) = (exponent.div_euclid(DIGITS), exponent.rem_euclid(DIGITS));
        let mut limbs = Limbs::with_capacity(digits.len() / 18 + 2);
        let mut width = DIGITS - zeros;
        let mut rest = digits;
        let mut unit = 10i64.pow(u32::try_from(zeros).unwrap_or_default());
        while !rest.is_empty() {
            let (head, tail) = rest.split_at(rest.len().saturating_sub(usize::try_from(width).unwrap_or_default()));
            let value = tail.iter().fold(0i64, |n, d| n * 10 + i64::from(d.wrapping_sub(b'0')));
            if value != 0 {
                limbs.push(Limb { at, digits: value * unit });
            }
            (rest, at, width, unit) = (head, at + 1, DIGITS, 1);
        }
        Decimal { limbs: combine(&limbs, &[], 1, 0), scale }
    }

    /// `value · 10^exponent`.
    pub(super) fn from_int(value: i64, exponent: i64, scale: i32) -> Self {
        let exponent = exponent + PLACES;
        let (mut at, zeros) = (exponent.div_euclid(DIGITS), exponent.rem_euclid(DIGITS));
        // 63 bits times 10^17 fit.
        let mut rest = i128::from(value) * 10i128.pow(u32::try_from(zeros).unwrap_or_default());
        let mut limbs = Limbs::new();
        while rest != 0 {
            let (digits, carry) = balance(rest);
            if digits != 0 {
                limbs.push(Limb { at, digits });
            }
            (rest, at) = (carry, at + 1);
        }
        Decimal { limbs, scale }
    }

    /// -1, 0 or 1.
    pub(super) fn signum(&self) -> i64 {
        self.limbs.last().map_or(0, |top| top.digits.signum())
    }

    /// The number times `factor`, which is at most 2^62.
    pub(super) fn times(mut self, factor: i64) -> Self {
        self.limbs = combine(&self.limbs, &[], i128::from(factor), 0);
        self
    }

    /// The sum; its scale is the greater one.
    pub(super) fn add(&self, other: &Self) -> Self {
        Decimal { limbs: combine(&self.limbs, &other.limbs, 1, 1), scale: self.scale.max(other.scale) }
    }

    /// The difference; its scale is the greater one.
    pub(super) fn sub(&self, other: &Self) -> Self {
        Decimal { limbs: combine(&self.limbs, &other.limbs, 1, -1), scale: self.scale.max(other.scale) }
    }

    /// A number that is not negative, rounded up to a whole number of billionths, with the scale of billionths.
    pub(super) fn round_up_to_nano(mut self) -> Self {
        let whole = self.limbs.partition_point(|limb| limb.at < 0);
        let fraction: Limbs = self.limbs.drain(..whole).collect();
        self.scale = 9;
        if fraction.last().is_some_and(|top| top.digits > 0) {
            self.limbs = combine(&self.limbs, &[Limb { at: 0, digits: 1 }], 1, 1);
        }
        self
    }

    /// Order by value: balanced limbs are unique, so the first difference from the top decides.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let (mut a, mut b) = (self.limbs.iter().rev().peekable(), other.limbs.iter().rev().peekable());
        loop {
            let (x, y) = match (a.peek(), b.peek()) {
                (None, None) => return Ordering::Equal,
                (Some(x), Some(y)) if x.at == y.at => (x.digits, y.digits),
                (Some(x), Some(y)) if x.at > y.at => (x.digits, 0),
                (Some(_), Some(y)) | (None, Some(y)) => (0, y.digits),
                (Some(x), None) => (x.digits, 0),
            };
            if x != y {
                return x.cmp(&y);
            }
            a.next();
            b.next();
        }
    }

    /// `Quantity.AsApproximateFloat64` of a number in this form: the unscaled number as a double, times a power of ten.
    pub(super) fn to_f64(&self) -> f64 {
        let base = self.unscaled_f64();
        match self.scale {
            0 => base,
            scale => base * pow10(-i64::from(scale)),
        }
    }

    /// The nearest double to the number times 10^scale.
    fn unscaled_f64(&self) -> f64 {
        let (Some(low), Some(top)) = (self.limbs.first(), self.limbs.last()) else { return 0.0 };
        let sign = if top.digits < 0 { -1 } else { 1 };
        if top.at - low.at > BEYOND_F64 {
            // An integer with more than 24 limbs.
            return f64::INFINITY.copysign(top.digits as f64);
        }
        let mut text = String::new();
        let mut borrow = 0i64;
        let mut limbs = self.limbs.iter().peekable();
        let mut parts = Vec::new();
        for at in low.at..=top.at {
            let digits = limbs.next_if(|l| l.at == at).map_or(0, |l| l.digits * sign) - borrow;
            borrow = i64::from(digits < 0);
            parts.push(if digits < 0 { digits + BASE } else { digits });
        }
        for part in parts.iter().rev() {
            text.push_str(&format!("{part:018}"));
        }
        text.push_str(&format!("e{}", low.at * DIGITS - PLACES + i64::from(self.scale)));
        text.parse::<f64>().unwrap_or(f64::INFINITY).copysign(sign as f64)
    }
}

/// Go's `math.Pow10`: a product (or quotient) of two exact powers, so not always the nearest double.
pub(super) fn pow10(exponent: i64) -> f64 {
    const BY_ONE: [f64; 32] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31,
    ];
    const UP: [f64; 10] = [1e0, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288];
    const DOWN: [f64; 11] = [1e-0, 1e-32, 1e-64, 1e-96, 1e-128, 1e-160, 1e-192, 1e-224, 1e-256, 1e-288, 1e-320];
    let part = |table: &[f64], i: u64| usize::try_from(i).ok().and_then(|i| table.get(i).copied()).unwrap_or(1.0);
    let size = exponent.unsigned_abs();
    match exponent {
        0..=308 => part(&UP, size / 32) * part(&BY_ONE, size % 32),
        -323..0 => part(&DOWN, size / 32) / part(&BY_ONE, size % 32),
        309.. => f64::INFINITY,
        _ => 0.0,
    }
}
