//! The CEL libraries and declared types that Kubernetes adds to CEL, exact with `k8s.io/apiserver/pkg/cel/library` in
//! value, error text and cost.
//!
//! Each library is a file named as upstream's, with its declarations, implementations and costs. [`environment`] says
//! which of them an expression sees; [`types`] has the struct types of `request` and `namespaceObject`, [`openapi`] makes those of
//! objects and params from their schemas.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking"))]

mod args;
pub mod authz;
pub mod cidr;
mod cost;
pub mod environment;
pub mod escaping;
pub mod format;
pub mod ip;
pub mod lists;
mod net_url;
mod netip;
pub mod openapi;
pub mod quantity;
pub mod regex;
pub mod semver;
#[cfg(test)]
mod testing;
pub mod types;
pub mod urls;

pub use celgate_cel::gotext;
