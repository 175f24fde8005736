//! The one place that stops an unwinding panic before it reaches C.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::celgate_status;

/// Runs a body; a panic becomes [`celgate_status::Panic`].
///
/// Unwind safety: shared handles are immutable, and what a call mutates (a scratch) is reset before its next request.
pub(crate) fn guard(body: impl FnOnce() -> celgate_status) -> celgate_status {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(status) => status,
        Err(payload) => {
            // The payload's own `Drop` may panic; that second payload is leaked, not dropped again.
            if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                std::mem::forget(second);
            }
            celgate_status::Panic
        }
    }
}
