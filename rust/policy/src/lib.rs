//! ValidatingAdmissionPolicy: what the policies of a snapshot decide about a request, exactly as the apiserver would.
#![forbid(unsafe_code)]

pub mod api;
mod answers;
mod invalid;
mod params;
mod reader;
mod reads;
mod report;
mod results;
pub mod rules;
pub mod selector;

pub use invalid::InvalidRequest;
