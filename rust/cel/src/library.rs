//! Function libraries.

pub mod comprehensions;
pub mod optional;
pub mod standard;
