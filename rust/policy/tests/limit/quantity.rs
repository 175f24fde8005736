//! Quantities as far as resources of containers have them: 128 bits, in units of 10^-9.

use celgate_cel::value::Value;

use super::read::Error;

/// The number that a quantity stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quantity(i128);

const NANO: u32 = 9;

impl Quantity {
    /// Reads a string, or a number as a custom resource may have it.
    pub(crate) fn of(value: Value<'_>) -> Result<Quantity, Error> {
        match value {
            Value::String(text) => Quantity::parse(text),
            Value::Int(number) => Some(Quantity(i128::from(number) * 10i128.pow(NANO))),
            Value::Double(number) => Quantity::parse(&number.to_string()),
            _ => None,
        }
        .ok_or(Error)
    }

    fn parse(text: &str) -> Option<Quantity> {
        let (negative, text) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        let mut digits: i128 = 0;
        let (mut any, mut point, mut decimals, mut end) = (false, false, 0u32, text.len());
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    digits = digits.checked_mul(10)?.checked_add(i128::from(byte - b'0'))?;
                    any = true;
                    decimals += u32::from(point);
                }
                b'.' if !point => point = true,
                _ => {
                    end = at;
                    break;
                }
            }
        }
        if !any {
            return None;
        }
        let (binary, decimal) = suffix(text.get(end..)?)?;
        let scaled = digits.checked_mul(1i128.checked_shl(binary)?)?;
        // What is smaller than a unit counts as one, as it does in Kubernetes.
        let shift = i64::from(decimal) + i64::from(NANO) - i64::from(decimals);
        let power = 10i128.checked_pow(u32::try_from(shift.unsigned_abs()).ok()?)?;
        let units = if shift >= 0 { scaled.checked_mul(power)? } else { (scaled + power - 1) / power };
        Some(Quantity(if negative { -units } else { units }))
    }
}

/// The powers of 2 and of 10 that a suffix stands for.
fn suffix(text: &str) -> Option<(u32, i32)> {
    Some(match text {
        "" => (0, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        _ => (0, text.strip_prefix(['e', 'E'])?.parse().ok()?),
    })
}
