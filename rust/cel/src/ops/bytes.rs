//! Comparing short byte strings, for which a call of `memcmp` takes longer than the comparison.

/// Whether two byte strings are the same.
#[inline]
pub(crate) fn same_bytes(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    // Up to 16 bytes are two words, up to 8 two half-words, which may overlap.
    match (a.first_chunk::<8>(), b.first_chunk::<8>(), a.last_chunk::<8>(), b.last_chunk::<8>()) {
        (Some(a_first), Some(b_first), Some(a_last), Some(b_last)) if a.len() <= 16 => {
            a_first == b_first && a_last == b_last
        }
        (None, ..) => match (a.first_chunk::<4>(), b.first_chunk::<4>(), a.last_chunk::<4>(), b.last_chunk::<4>()) {
            (Some(a_first), Some(b_first), Some(a_last), Some(b_last)) => a_first == b_first && a_last == b_last,
            _ => a.iter().eq(b),
        },
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::same_bytes;

    #[test]
    fn every_length_and_every_difference() {
        let text: Vec<u8> = (0..40).collect();
        for len in 0..=text.len() {
            let a = &text[..len];
            assert!(same_bytes(a, &Vec::from(a)));
            assert!(!same_bytes(a, &text[..len.saturating_sub(1)]) || len == 0);
            for at in 0..len {
                let mut b = a.to_vec();
                b[at] ^= 0x80;
                assert!(!same_bytes(a, &b), "{len} bytes, different at {at}");
            }
        }
    }
}
