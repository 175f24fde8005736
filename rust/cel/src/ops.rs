//! Operations on values: what cel-go's `common/types` implement as methods. They charge no cost.

pub mod arithmetic;
mod bytes;
pub mod compare;
pub mod convert;
pub mod equality;
pub mod format;
pub mod number;
mod semantic;
pub mod size;

pub(crate) use bytes::same_bytes;
pub use equality::{contains, equal, equal_values};
pub use size::{cost_size, size};
