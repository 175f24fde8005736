//! The standard functions of the language.

mod conversions;
pub mod decls;
pub(crate) mod operators;
mod timestamps;

use crate::function::{Implementation, Library};

/// The library; every environment has it.
pub static LIBRARY: Library =
    Library { name: "cel.lib.std", functions: decls::functions, implementations: &IMPLEMENTATIONS };

static IMPLEMENTATIONS: [Implementation; 77] = {
    let parts: [&[Implementation]; 4] =
        [&operators::IMPLEMENTATIONS, &conversions::IMPLEMENTATIONS, &timestamps::TIMESTAMPS, &timestamps::DURATIONS];
    let mut all = [operators::IMPLEMENTATIONS[0]; 77];
    let (mut part, mut next) = (0, 0);
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() {
            all[next] = parts[part][i];
            (next, i) = (next + 1, i + 1);
        }
        part += 1;
    }
    assert!(next == all.len(), "the length of the table");
    all
};
