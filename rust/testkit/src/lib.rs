//! Test helpers: records from JSON ([`record`]), requests ([`request`]), answers and batches ([`wire`]), readable reports ([`report`]), the
//! public policies ([`corpus`]).
//!
//! Dev-only: written for clarity, apart from the encoders and decoders that it checks.
#![forbid(unsafe_code)]
#![allow(clippy::panic, reason = "test code may panic on malformed input")]

pub mod corpus;
pub mod record;
pub mod report;
pub mod request;
pub mod wire;
