//! Any text as a URL.

use celgate_k8s::urls::LIBRARY;

use crate::library::call_all;
use crate::two_texts;

/// Everything that `url()` offers, twice with the same results.
pub fn run(data: &[u8]) {
    let (a, b) = two_texts(data);
    call_all(&LIBRARY, &[&a, &b], &[]);
}
