//! ValidatingAdmissionPolicy: what the policies of a snapshot decide about a request, exactly as the apiserver would.
#![forbid(unsafe_code)]

pub mod api;
pub mod rules;
pub mod selector;
