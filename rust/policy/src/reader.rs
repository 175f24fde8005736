//! Reads the flat buffers that cross the boundary (docs/abi.md): little-endian numbers and length-prefixed bytes.

/// A cursor over bytes; every read fails rather than passing the end.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn number(&mut self) -> Option<u32> {
        let (head, tail) = self.rest.split_first_chunk::<4>()?;
        self.rest = tail;
        Some(u32::from_le_bytes(*head))
    }

    /// `u32 length` and that many bytes.
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.number()? as usize;
        let (head, tail) = self.rest.split_at_checked(len)?;
        self.rest = tail;
        Some(head)
    }

    /// As [`Self::bytes`], of UTF-8.
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}
