//! Bugs that can be planted, one at a time, to show that the differential tests find them (feature `mutants`).
//!
//! Without the feature [`planted`] is a constant, and nothing of this is left in the library.

#[cfg(feature = "mutants")]
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(feature = "mutants")]
static PLANTED: AtomicU32 = AtomicU32::new(0);

/// A bug: where it is, and what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mutant {
    /// No bug.
    None = 0,
    /// The number of bugs, plus one.
    End,
}

/// Whether this bug is planted now.
#[inline(always)]
#[must_use]
pub fn planted(mutant: Mutant) -> bool {
    #[cfg(feature = "mutants")]
    return PLANTED.load(Ordering::Relaxed) == mutant as u32;
    #[cfg(not(feature = "mutants"))]
    {
        let _ = mutant;
        false
    }
}

/// Plants the bug of that number, 0 for none. Returns how many there are: 1 to that number.
#[cfg(feature = "mutants")]
pub fn plant(number: u32) -> u32 {
    PLANTED.store(number, Ordering::Relaxed);
    Mutant::End as u32 - 1
}
