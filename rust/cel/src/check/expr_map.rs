//! A map keyed by expression ids.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::ast::ExprId;

/// A hash map keyed by expression ids.
pub type ExprMap<T> = HashMap<ExprId, T, BuildHasherDefault<IdHasher>>;

/// Spreads the small consecutive numbers that expression ids are.
#[derive(Debug, Clone, Copy, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }
}
