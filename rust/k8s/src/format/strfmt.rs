//! The OpenAPI formats of `k8s.io/kube-openapi/pkg/validation/strfmt` that have a name in CEL.

/// `uuid`: 32 hexadecimal digits, with or without a dash at each of the four places.
pub(super) fn is_uuid(text: &str) -> bool {
    let mut rest = text.as_bytes();
    for (i, length) in [8usize, 4, 4, 4, 12].into_iter().enumerate() {
        if i > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        match rest.split_at_checked(length) {
            Some((group, after)) if group.iter().all(u8::is_ascii_hexdigit) => rest = after,
            _ => return false,
        }
    }
    rest.is_empty()
}

/// `byte`: base64 with padding, not empty.
pub(super) fn is_base64(text: &str) -> bool {
    let bytes = text.as_bytes();
    let padding = bytes.iter().rev().take(2).take_while(|b| **b == b'=').count();
    let digits = bytes.get(..bytes.len() - padding).unwrap_or_default();
    !bytes.is_empty()
        && bytes.len().is_multiple_of(4)
        && digits.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

fn two_digits(text: &[u8]) -> Option<u32> {
    match text {
        [a @ b'0'..=b'9', b @ b'0'..=b'9'] => Some(u32::from(a - b'0') * 10 + u32::from(b - b'0')),
        _ => None,
    }
}

/// `date`: Go's `time.Parse("2006-01-02", text)` succeeds.
pub(super) fn is_date(text: &str) -> bool {
    let &[c1, c2, y1, y2, b'-', m1, m2, b'-', d1, d2] = text.as_bytes() else { return false };
    let (Some(century), Some(in_century)) = (two_digits(&[c1, c2]), two_digits(&[y1, y2])) else { return false };
    let (Some(month), Some(day)) = (two_digits(&[m1, m2]), two_digits(&[d1, d2])) else { return false };
    let year = century * 100 + in_century;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// `datetime`: a date, `t`, and a time with a zone. As upstream, a second `t` ends the text that is looked at.
pub(super) fn is_date_time(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date) && is_time(time)
}

/// `^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$`, and the numbers in range.
fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else { return false };
    let &[h1, h2, b':', m1, m2, b':', s1, s2] = clock.as_bytes() else { return false };
    let within = |digits: [u8; 2], max| two_digits(&digits).is_some_and(|n| n <= max);
    let fraction = match rest.strip_suffix('z') {
        Some(fraction) => fraction,
        None => match strip_offset(rest) {
            Some(fraction) => fraction,
            None => return false,
        },
    };
    let mut chars = fraction.chars();
    let fraction_ok = match chars.next() {
        None => true,
        Some('\n') => false,
        Some(_) => !chars.as_str().is_empty() && chars.as_str().bytes().all(|b| b.is_ascii_digit()),
    };
    fraction_ok && within([h1, h2], 23) && within([m1, m2], 59) && within([s1, s2], 59)
}

/// The text without `±hh:mm` at its end.
fn strip_offset(text: &str) -> Option<&str> {
    let (rest, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
    match offset.as_bytes() {
        [b'+' | b'-', hours @ .., b':', m1, m2] if two_digits(hours).is_some() => two_digits(&[*m1, *m2]).map(|_| rest),
        _ => None,
    }
}
