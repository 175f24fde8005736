//! Declared types from OpenAPI schemas: what `object.spec.replicas` is when the kind of `object` is known
//! (`pkg/cel/common/schemas.go`, `pkg/cel/types.go`).
//!
//! [`Schema`] is what matters of a schema, [`declare`] makes a [`DeclType`] of it, and [`DeclaredTypes`] names the types and
//! answers for their fields. Costs are not estimated from these types, so lengths and defaults are not read.

mod declare;
mod names;
mod schema;
#[cfg(test)]
mod tests;

pub use declare::{DeclType, declare};
pub use names::DeclaredTypes;
pub use schema::Schema;
