//! Names of variables, fields and functions. A program keeps all of them in one text: that is smaller, and nearer, than a text for each.

use std::collections::HashMap;

use super::Span;

/// A name: a range of its program's texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name(Span);

impl Name {
    #[inline]
    pub(super) fn of(self, texts: &str) -> &str {
        let Span { first, len } = self.0;
        texts.get(first as usize..first as usize + len as usize).unwrap_or_default()
    }
}

/// Collects names, each of them once.
#[derive(Default)]
pub(super) struct Names {
    texts: String,
    known: HashMap<Box<str>, Name>,
}

impl Names {
    pub(super) fn add(&mut self, text: &str) -> Name {
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let name = Name(Span { first: self.texts.len() as u32, len: text.len() as u32 });
        self.texts.push_str(text);
        self.known.insert(text.into(), name);
        name
    }

    pub(super) fn text(&self, name: Name) -> &str {
        name.of(&self.texts)
    }

    pub(super) fn finish(self) -> Box<str> {
        self.texts.into()
    }
}
