//! Numbers and texts in one piece of memory: for what every policy keeps, and what is looked at only when a plan is made.

/// Writes numbers, seven bits to a byte with the lowest first, and texts after their lengths.
#[derive(Debug, Default)]
pub(crate) struct Packer(Vec<u8>);

impl Packer {
    pub(crate) fn number(&mut self, mut number: usize) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    pub(crate) fn texts(&mut self, texts: &[String]) {
        self.number(texts.len());
        texts.iter().for_each(|text| self.text(text));
    }

    pub(crate) fn finish(self) -> Box<[u8]> {
        self.0.into()
    }
}

/// Reads what was written, in the same order.
#[derive(Debug, Clone)]
pub(crate) struct Unpacker<'a>(&'a [u8]);

impl<'a> Unpacker<'a> {
    pub(crate) fn new(packed: &'a [u8]) -> Unpacker<'a> {
        Unpacker(packed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn number(&mut self) -> usize {
        let mut number = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let Some((&byte, rest)) = self.0.split_first() else { break };
            self.0 = rest;
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    pub(crate) fn text(&mut self) -> &'a str {
        let len = self.number();
        let (text, rest) = self.0.split_at_checked(len).unwrap_or_default();
        self.0 = rest;
        std::str::from_utf8(text).unwrap_or_default()
    }

    pub(crate) fn texts(&mut self) -> Texts<'a> {
        let left = self.number();
        let texts = Texts { left, from: self.clone() };
        (0..left).for_each(|_| _ = self.text());
        texts
    }
}

/// A list of texts.
#[derive(Debug, Clone)]
pub(crate) struct Texts<'a> {
    left: usize,
    from: Unpacker<'a>,
}

impl<'a> Iterator for Texts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.left = self.left.checked_sub(1)?;
        Some(self.from.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let long = "é".repeat(100);
        let mut packer = Packer::default();
        [0, 127, 128, usize::MAX].into_iter().for_each(|number| packer.number(number));
        packer.texts(&["a".to_owned(), String::new(), long.clone()]);
        packer.text("z");
        let packed = packer.finish();
        let mut unpacker = Unpacker::new(&packed);
        for number in [0, 127, 128, usize::MAX] {
            assert_eq!(unpacker.number(), number);
        }
        assert_eq!(unpacker.texts().collect::<Vec<_>>(), ["a", "", &long]);
        assert!(!unpacker.is_empty());
        assert_eq!(unpacker.text(), "z");
        assert!(unpacker.is_empty());
        assert_eq!((unpacker.number(), unpacker.text()), (0, ""), "there is no more");
    }
}
