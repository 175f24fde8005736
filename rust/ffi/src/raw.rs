//! Conversions from C memory. The contract of each function is what its C caller promises in the header.

use crate::status::celgate_status;

/// The caller's bytes, or `None` when the pointer is NULL with a length, or the length is impossible.
///
/// # Safety
/// If `len` is not 0, `ptr` is NULL or points to `len` initialised bytes that nobody writes for `'a`.
pub(crate) unsafe fn bytes<'a>(ptr: *const u8, len: usize) -> Option<&'a [u8]> {
    // SAFETY: the same contract, and u8 has no alignment.
    unsafe { slice(ptr, len) }
}

/// The caller's array.
///
/// # Safety
/// If `len` is not 0, `ptr` is NULL or points to `len` aligned, initialised items that nobody writes for `'a`.
pub(crate) unsafe fn slice<'a, T>(ptr: *const T, len: usize) -> Option<&'a [T]> {
    if len == 0 {
        return Some(&[]);
    }
    if ptr.is_null() || len > isize::MAX as usize / size_of::<T>().max(1) || !ptr.is_aligned() {
        return None;
    }
    // SAFETY: non-null, aligned, in range, and valid by this function's contract.
    Some(unsafe { std::slice::from_raw_parts(ptr, len) })
}

/// A handle behind a pointer; `None` for NULL.
///
/// # Safety
/// `ptr` is NULL or a live handle of this type, not freed for `'a`.
pub(crate) unsafe fn handle<'a, T>(ptr: *const T) -> Option<&'a T> {
    // SAFETY: by this function's contract.
    unsafe { ptr.as_ref() }
}

/// An exclusive handle behind a pointer; `None` for NULL.
///
/// # Safety
/// `ptr` is NULL or a live handle of this type that no other call uses for `'a`.
pub(crate) unsafe fn exclusive<'a, T>(ptr: *mut T) -> Option<&'a mut T> {
    // SAFETY: by this function's contract.
    unsafe { ptr.as_mut() }
}

/// Gives a new handle to the caller.
///
/// # Safety
/// `out` is NULL or points to writable memory for one pointer.
pub(crate) unsafe fn give<T>(out: *mut *mut T, value: Option<T>) {
    if !out.is_null() {
        let ptr = value.map_or(std::ptr::null_mut(), |value| Box::into_raw(Box::new(value)));
        // SAFETY: non-null, and writable by this function's contract.
        unsafe { out.write(ptr) };
    }
}

/// Ends a call that makes a handle: gives it to the caller, or writes why there is none.
///
/// # Safety
/// As [`give`].
pub(crate) unsafe fn finish<T>(out: *mut *mut T, text: &mut Buffer, made: Result<T, String>) -> celgate_status {
    match made {
        Ok(handle) => {
            // SAFETY: by this function's contract.
            unsafe { give(out, Some(handle)) };
            celgate_status::Ok
        }
        Err(reason) => {
            text.write(reason.as_bytes());
            celgate_status::Invalid
        }
    }
}

/// Takes a handle back and drops it; NULL is a no-op.
///
/// # Safety
/// `ptr` is NULL or came from [`give`], is not used by any other call, and is not used again.
pub(crate) unsafe fn take<T>(ptr: *mut T) {
    if !ptr.is_null() {
        // SAFETY: made by `Box::into_raw` in `give`, and given back once.
        drop(unsafe { Box::from_raw(ptr) });
    }
}

/// Writes one value where the caller wants it; NULL is a no-op.
///
/// # Safety
/// `out` is NULL or points to writable memory for a `T`.
pub(crate) unsafe fn put<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: non-null, and writable by this function's contract.
        unsafe { out.write(value) };
    }
}

/// Where a call writes bytes for its caller.
pub(crate) struct Buffer {
    ptr: *mut u8,
    cap: usize,
    len_out: *mut usize,
}

impl Buffer {
    /// The caller's buffer; its length is 0 until something is written.
    ///
    /// # Safety
    /// `ptr` is NULL or points to `cap` writable bytes, `len_out` is NULL or writable, both until the buffer is dropped.
    pub(crate) unsafe fn new(ptr: *mut u8, cap: usize, len_out: *mut usize) -> Buffer {
        // SAFETY: by this function's contract.
        unsafe { put(len_out, 0) };
        Buffer { ptr, cap: if ptr.is_null() { 0 } else { cap }, len_out }
    }

    /// Writes as much of `bytes` as fits and tells the caller their whole length. True when all fitted.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        let fits = bytes.len().min(self.cap);
        if fits > 0 {
            // SAFETY: `ptr` has `cap` writable bytes by the contract of `new`, and a caller's buffer does not overlap our memory.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.ptr, fits) };
        }
        // SAFETY: by the contract of `new`.
        unsafe { put(self.len_out, bytes.len()) };
        bytes.len() <= self.cap
    }

    /// Ends a call that makes bytes: writes them, or why there are none.
    pub(crate) fn answer(&mut self, made: Result<Vec<u8>, String>) -> celgate_status {
        match made {
            Ok(bytes) if self.write(&bytes) => celgate_status::Ok,
            Ok(_) => celgate_status::BufferTooSmall,
            Err(reason) => {
                self.write(reason.as_bytes());
                celgate_status::Invalid
            }
        }
    }
}

/// Makes a handle of what is read from JSON.
///
/// # Safety
/// `json` points to `json_len` readable bytes; `out` to one writable pointer; `text` to `text_cap` writable bytes or is NULL.
pub(crate) unsafe fn from_json<T>(
    json: *const u8,
    json_len: usize,
    out: *mut *mut T,
    text: *mut u8,
    text_cap: usize,
    text_len_out: *mut usize,
    read: impl FnOnce(&[u8]) -> Result<T, String>,
) -> celgate_status {
    // SAFETY: by this function's contract.
    let (json, mut text) = unsafe {
        give::<T>(out, None);
        (bytes(json, json_len), Buffer::new(text, text_cap, text_len_out))
    };
    let made = json.ok_or_else(|| "json is NULL".to_owned()).and_then(read);
    // SAFETY: by this function's contract.
    unsafe { finish(out, &mut text, made) }
}
