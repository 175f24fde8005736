//! The error of a malformed call.

use std::fmt;

/// A request record or answers that are not what docs/abi.md and docs/record-format.md say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidRequest(String);

impl InvalidRequest {
    pub(crate) fn new(reason: impl Into<String>) -> InvalidRequest {
        InvalidRequest(reason.into())
    }
}

impl fmt::Display for InvalidRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidRequest {}
