//! The result of every fallible call.

/// What a call ended with. Values are fixed and never reused.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum celgate_status {
    /// Done.
    Ok = 0,
    /// Questions must be answered before the request can be decided.
    NeedsInput = 1,
    /// The step budget is used up; call again to go on.
    Yield = 2,
    /// The result is longer than the buffer; it is parked in the scratch.
    BufferTooSmall = 3,
    /// An argument is malformed; the text says how.
    Invalid = 4,
    /// A bug in the library. Handles stay usable.
    Panic = 5,
}
