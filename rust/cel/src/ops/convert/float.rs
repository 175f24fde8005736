//! Doubles from text, as Go's `strconv.ParseFloat`: decimal and hexadecimal, with underscores, `Inf` and `NaN` in any case.

/// The nearest double, or `None` where Go gives an error (syntax, or out of range).
pub(super) fn parse(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let negative = text.starts_with('-');
    if unsigned.eq_ignore_ascii_case("inf") || unsigned.eq_ignore_ascii_case("infinity") {
        return Some(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    if text.eq_ignore_ascii_case("nan") {
        return Some(f64::NAN);
    }
    if text.contains('_') && !underscores_ok(unsigned) {
        return None;
    }
    let plain: String = unsigned.chars().filter(|&c| c != '_').collect();
    let magnitude = if plain.starts_with("0x") || plain.starts_with("0X") {
        hexadecimal(plain.get(2..)?)?
    } else {
        decimal(&plain)?
    };
    magnitude.is_finite().then_some(if negative { -magnitude } else { magnitude })
}

/// Underscores stand between digits, or between a base prefix and a digit.
fn underscores_ok(text: &str) -> bool {
    let prefixed = matches!(text.as_bytes(), [b'0', b'b' | b'B' | b'o' | b'O' | b'x' | b'X', ..]);
    let hex = matches!(text.as_bytes(), [b'0', b'x' | b'X', ..]);
    let (mut last, rest) = if prefixed { ('0', text.get(2..).unwrap_or_default()) } else { ('^', text) };
    for c in rest.chars() {
        let digit = c.is_ascii_digit() || (hex && c.is_ascii_hexdigit());
        last = match (c, last) {
            _ if digit => '0',
            ('_', '0') => '_',
            ('_', _) | (_, '_') => return false,
            _ => '!',
        };
    }
    last != '_'
}

fn decimal(text: &str) -> Option<f64> {
    // Rust reads the same decimal syntax, and its own words for infinity, which begin with no digit or point.
    text.starts_with(|c: char| c.is_ascii_digit() || c == '.').then(|| text.parse().ok())?
}

/// `mantissa p exponent` after `0x`; the exponent must be there.
fn hexadecimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.bytes().fold(0i64, |e, digit| if e < 10_000 { e * 10 + i64::from(digit - b'0') } else { e });
    let mut exponent = if exponent.starts_with('-') { -magnitude } else { magnitude };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (mut bits, mut sticky) = (0u64, false);
    for (i, c) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u64::from(c.to_digit(16)?);
        let after_point = i >= whole.len();
        if bits >> 60 == 0 {
            bits = bits << 4 | digit;
            exponent -= if after_point { 4 } else { 0 };
        } else {
            sticky |= digit != 0;
            exponent += if after_point { 0 } else { 4 };
        }
    }
    Some(round(bits, sticky, exponent))
}

/// `bits * 2^exponent`, and a little more if `sticky`, rounded half to even.
fn round(bits: u64, sticky: bool, exponent: i64) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let top = 63 - i64::from(bits.leading_zeros());
    // The lowest bit that a double keeps, given its exponent.
    let lowest = (exponent + top - 52).max(-1074);
    let drop = lowest - exponent;
    if drop <= 0 {
        return bits as f64 * power(exponent);
    }
    let kept = if drop > 63 { 0 } else { bits >> drop };
    let rest = if drop > 63 { bits } else { bits & ((1u64 << drop) - 1) };
    let half = match drop {
        1..=63 => 1u64 << (drop - 1),
        64 => 1u64 << 63,
        _ => u64::MAX,
    };
    let up = rest > half || (rest == half && (sticky || kept & 1 == 1));
    (kept + u64::from(up)) as f64 * power(lowest)
}

/// 2 to a power, in two steps so that subnormal results stay exact.
fn power(exponent: i64) -> f64 {
    let exponent = exponent.clamp(-2200, 2200) as i32;
    let half = exponent / 2;
    2f64.powi(half) * 2f64.powi(exponent - half)
}
