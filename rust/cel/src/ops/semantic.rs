//! Equality of two Go structs: upstream compares them with `apiequality.Semantic.DeepEqual` on the Go values, not as CEL values.

use crate::context::EvalContext;
use crate::record::{RecordRef, Tag, flags};
use crate::time;
use crate::value::Value;

/// Whether the two structs are equal by value (of no meaning once the context has halted): quantities by amount, times by instant, nil slices and maps as empty ones.
pub(crate) fn deep_equal<'a>(ctx: &EvalContext<'a>, left: RecordRef<'a>, right: RecordRef<'a>) -> bool {
    let (left_type, right_type) = (left.go_type(), right.go_type());
    if left_type != right_type && left_type != 0 && right_type != 0 {
        return false;
    }
    let mut pending = bumpalo::collections::Vec::new_in(ctx.arena);
    pending.push((left, right));
    while let Some((a, b)) = pending.pop() {
        if !ctx.step(a.stored_len() as u64 + 1) {
            return false;
        }
        if a.same(&b) {
            continue;
        }
        let matched = if a.is_list() {
            b.is_list() && lists(&mut pending, a, b)
        } else {
            !b.is_list() && maps(&mut pending, a, b)
        };
        if !matched {
            return false;
        }
    }
    true
}

type Pending<'a> = bumpalo::collections::Vec<'a, (RecordRef<'a>, RecordRef<'a>)>;

fn lists<'a>(pending: &mut Pending<'a>, a: RecordRef<'a>, b: RecordRef<'a>) -> bool {
    let len = a.len();
    len == b.len() && (0..len).all(|i| part(pending, a.element(i), b.element(i), a.child_flags(i)))
}

fn maps<'a>(pending: &mut Pending<'a>, a: RecordRef<'a>, b: RecordRef<'a>) -> bool {
    let stored = a.stored_len();
    let mut present = 0;
    for i in 0..stored {
        let Some((key, value)) = a.entry(i) else {
            continue;
        };
        present += 1;
        if !part(pending, Some(value), b.field(key), a.child_flags(i)) {
            return false;
        }
    }
    present == b.len()
}

/// Compares one part; containers are put off.
fn part<'a>(pending: &mut Pending<'a>, a: Option<Value<'a>>, b: Option<Value<'a>>, mark: u8) -> bool {
    let (Some(a), Some(b)) = (a, b) else {
        return false;
    };
    match (a, b) {
        (Value::Record(a), Value::Record(b)) => {
            pending.push((a, b));
            true
        }
        // A nil slice or map (null) equals an empty one; a nil pointer to a struct equals nothing but nil.
        (Value::Null, Value::Record(other)) | (Value::Record(other), Value::Null) => {
            other.tag() != Tag::Struct && other.is_empty()
        }
        (Value::Null, Value::String("")) | (Value::String(""), Value::Null) => mark & flags::BYTES != 0,
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Uint(a), Value::Uint(b)) => a == b,
        (Value::Double(a), Value::Double(b)) => a == b,
        (Value::String(a), Value::String(b)) => a == b || strings(a, b, mark),
        _ => false,
    }
}

fn strings(a: &str, b: &str, mark: u8) -> bool {
    if mark & flags::QUANTITY != 0 {
        return matches!((Amount::parse(a), Amount::parse(b)), (Some(a), Some(b)) if a == b);
    }
    if mark & flags::TIME != 0 {
        return matches!((time::parse_rfc3339(a), time::parse_rfc3339(b)), (Ok(a), Ok(b)) if a == b);
    }
    false
}

/// A quantity as `sign * odd * 2^twos * 5^fives`, with a factor that neither 2 nor 5 divides, so that equal amounts are equal values.
#[derive(PartialEq)]
struct Amount {
    negative: bool,
    odd: u128,
    twos: i64,
    fives: i64,
}

impl Amount {
    /// Reads the text of a `resource.Quantity`; `None` if it has more digits than fit.
    fn parse(text: &str) -> Option<Amount> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (digits, suffix) = text.split_at_checked(end)?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mut number: u128 = 0;
        for digit in whole.bytes().chain(fraction.bytes()) {
            number = number.checked_mul(10)?.checked_add(u128::from(digit.wrapping_sub(b'0')))?;
        }
        let (twos, tens) = suffix_exponents(suffix)?;
        let tens = tens - fraction.len() as i64;
        Some(Amount::normal(negative, number, twos + tens, tens))
    }

    fn normal(negative: bool, number: u128, twos: i64, fives: i64) -> Amount {
        if number == 0 {
            return Amount { negative: false, odd: 0, twos: 0, fives: 0 };
        }
        let mut amount = Amount { negative, odd: number, twos, fives };
        while amount.odd.is_multiple_of(2) {
            amount.odd /= 2;
            amount.twos += 1;
        }
        while amount.odd.is_multiple_of(5) {
            amount.odd /= 5;
            amount.fives += 1;
        }
        amount
    }
}

/// Powers of 2 and of 10 that a quantity's suffix stands for (apimachinery `resource/suffix.go`).
fn suffix_exponents(suffix: &str) -> Option<(i64, i64)> {
    Some(match suffix {
        "" => (0, 0),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        _ => (0, i64::from(suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?)),
    })
}
