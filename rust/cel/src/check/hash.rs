//! Hash maps for the compiler's own keys, which need no protection from chosen collisions.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::ast::ExprId;

/// A hash map keyed by expression ids.
pub type ExprMap<T> = HashMap<ExprId, T, BuildHasherDefault<KeyHasher>>;

/// A hash map keyed by names.
pub(crate) type NameMap<K, T> = HashMap<K, T, BuildHasherDefault<KeyHasher>>;

/// Multiplies and folds eight bytes at a time.
#[derive(Debug, Clone, Copy, Default)]
pub struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.write_u64(u64::from_le_bytes(last));
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number ^ 0x243f_6a88_85a3_08d3) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }
}
