//! Function libraries.

pub mod comprehensions;
pub mod lists;
pub mod optional;
pub mod sets;
pub mod standard;
pub mod strings;
#[cfg(test)]
mod testing;
