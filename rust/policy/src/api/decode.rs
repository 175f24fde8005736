//! Decodes JSON into values as Go's `encoding/json` does for Kubernetes: keys match exactly, a key that comes again is decoded over what
//! the first one left, `null` empties what can be empty and leaves the rest alone, and unknown fields are passed over.
//!
//! The oracle is `sigs.k8s.io/json`; its strict errors are collected as it words them.

use std::collections::BTreeMap;

use celgate_cel::time::parse_rfc3339;
use celgate_k8s::gotext::quote;

use super::json::{Cursor, Shape};

/// At most so many strict errors are told.
const MAX_STRICT: usize = 100;

/// What a value is decoded from.
pub(crate) struct Decoder<'a> {
    cursor: Cursor<'a>,
    /// Where the next value is, such as `spec.validations[0].message`.
    path: String,
    /// Unknown and duplicate fields.
    strict: Vec<String>,
    /// Where values are that [`choose`] could not choose, and what is to be said of them.
    unsupported: Vec<(String, Mismatch)>,
}

/// Something that does not fit its field.
pub(crate) type Mismatch = String;

/// A type that JSON can be decoded over.
pub(crate) trait Decode: Default {
    /// Decodes the next value over `self`.
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch>;
}

/// A struct: its fields by their JSON names, at most 64.
pub(super) trait Fields: Default {
    /// The names.
    const NAMES: &'static [&'static str];

    /// The index among [`Self::NAMES`] of the field that a key means.
    fn find(key: &str) -> Option<usize> {
        Self::NAMES.iter().position(|name| *name == key)
    }

    /// Decodes the next value over the field of this name.
    fn decode_field(&mut self, name: &str, decoder: &mut Decoder<'_>) -> Result<(), Mismatch>;
}

/// The fields of structs, `name => field` or, if only its type matters, `name: type`.
macro_rules! fields {
    ($($struct:ty { $($name:literal $(=> $field:ident)? $(: $checked:ty)?),* $(,)? })*) => {$(
        impl crate::api::decode::Fields for $struct {
            const NAMES: &'static [&'static str] = &[$($name),*];

            fn decode_field(&mut self, name: &str, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
                match name {
                    $($name => crate::api::decode::fields!(@one self, decoder $(, $field)? $(: $checked)?),)*
                    _ => Ok(()),
                }
            }
        }
    )*};
    (@one $self:ident, $decoder:ident, $field:ident) => { $self.$field.decode($decoder) };
    (@one $self:ident, $decoder:ident : $checked:ty) => { <$checked>::default().decode($decoder) };
}
pub(super) use fields;

/// [`Decode`] for structs that are values: `null` leaves them as they are.
macro_rules! values {
    ($($struct:ty),* $(,)?) => {$(
        impl crate::api::decode::Decode for $struct {
            fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
                decoder.fields(self).map(|_| ())
            }
        }
    )*};
}
pub(super) use values;

/// Decodes a whole text, and gives the strict errors with the value.
pub(super) fn decode<T: Decode>(cursor: Cursor<'_>) -> Result<(T, Vec<String>), Mismatch> {
    let mut decoder = Decoder { cursor, path: String::new(), strict: Vec::new(), unsupported: Vec::new() };
    let mut value = T::default();
    value.decode(&mut decoder)?;
    match decoder.unsupported.into_iter().next() {
        None => Ok((value, decoder.strict)),
        Some((_, mismatch)) => Err(mismatch),
    }
}

impl Decoder<'_> {
    /// The next value's shape if it is `wanted` or null, otherwise an error.
    fn expect(&mut self, wanted: Shape) -> Result<Shape, Mismatch> {
        match self.cursor.shape() {
            Shape::Null => {
                self.cursor.skip();
                Ok(Shape::Null)
            }
            found if found == wanted => Ok(found),
            found => Err(self.mismatch(&format!("expected {wanted}, got {found}"))),
        }
    }

    /// Passes the next value, which is of that shape or null and does not matter.
    fn pass(&mut self, wanted: Shape) -> Result<(), Mismatch> {
        if self.expect(wanted)? == wanted {
            self.cursor.skip();
        }
        Ok(())
    }

    /// An error about the next value.
    pub(super) fn mismatch(&self, reason: &str) -> Mismatch {
        if self.path.is_empty() { reason.to_owned() } else { format!("{}: {reason}", self.path) }
    }

    /// Decodes the next value over `value`, which is the field or entry `key`.
    fn enter<T: ?Sized>(
        &mut self,
        key: &str,
        value: &mut T,
        decode: impl FnOnce(&mut T, &mut Self) -> Result<(), Mismatch>,
    ) -> Result<(), Mismatch> {
        let outside = self.push(key);
        decode(value, self)?;
        self.path.truncate(outside);
        Ok(())
    }

    /// Lengthens the path by a key, and gives its length without it.
    fn push(&mut self, key: &str) -> usize {
        let outside = self.path.len();
        if outside > 0 {
            self.path.push('.');
        }
        self.path.push_str(key);
        outside
    }

    /// Notes a strict error about a field of the next value.
    fn note(&mut self, what: &str, key: &str) {
        let outside = self.push(key);
        let error = format!("{what} field {}", quote(&self.path));
        self.path.truncate(outside);
        if self.strict.len() < MAX_STRICT && !self.strict.contains(&error) {
            self.strict.push(error);
        }
    }

    /// Takes back what was said of values at a path or below it, which are gone or decoded anew.
    fn forget(&mut self, path: &str) {
        let below =
            |at: &str| at.strip_prefix(path).is_some_and(|rest| matches!(rest.as_bytes(), [] | [b'.' | b'[', ..]));
        self.unsupported.retain(|(at, _)| !below(at));
    }

    /// Passes the next value, null, which takes away what is here.
    fn take_away(&mut self) {
        self.cursor.skip();
        if !self.unsupported.is_empty() {
            self.forget(&self.path.clone());
        }
    }

    /// Decodes the next value over a struct; gives whether it is not null.
    pub(super) fn fields<T: Fields>(&mut self, value: &mut T) -> Result<bool, Mismatch> {
        if self.expect(Shape::Object)? == Shape::Null {
            return Ok(false);
        }
        let mut seen = 0_u64;
        self.cursor.enter();
        while self.cursor.more() {
            let key = self.cursor.key();
            let found = T::find(&key).and_then(|number| Some((number, *T::NAMES.get(number)?)));
            let Some((number, name)) = found else {
                self.note("unknown", &key);
                self.cursor.skip();
                continue;
            };
            let bit = 1_u64.checked_shl(number as u32).unwrap_or(0);
            if seen & bit != 0 {
                self.note("duplicate", name);
            }
            seen |= bit;
            self.enter(name, value, |value, decoder| value.decode_field(name, decoder))?;
        }
        Ok(true)
    }
}

impl Decode for String {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        if decoder.expect(Shape::String)? == Shape::String {
            *self = decoder.cursor.string().into_owned();
        }
        Ok(())
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        if decoder.cursor.shape() == Shape::Null {
            decoder.take_away();
            *self = None;
            return Ok(());
        }
        self.get_or_insert_default().decode(decoder)
    }
}

/// An array that comes again is decoded over the elements of the first one.
impl<T: Decode> Decode for Vec<T> {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        let mut length = 0;
        if decoder.expect(Shape::Array)? == Shape::Array {
            decoder.cursor.enter();
            while decoder.cursor.more() {
                if length == self.len() {
                    self.push(T::default());
                }
                let Some(element) = self.get_mut(length) else { break };
                let outside = decoder.path.len();
                decoder.path.push_str(&format!("[{length}]"));
                element.decode(decoder)?;
                decoder.path.truncate(outside);
                length += 1;
            }
        }
        if !decoder.unsupported.is_empty() {
            (length..self.len()).for_each(|index| decoder.forget(&format!("{}[{index}]", decoder.path)));
        }
        self.truncate(length);
        Ok(())
    }
}

/// Entries of a map that comes again are added.
impl<T: Decode> Decode for BTreeMap<String, T> {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        if decoder.expect(Shape::Object)? == Shape::Null {
            self.clear();
            return Ok(());
        }
        let mut seen = std::collections::BTreeSet::new();
        decoder.cursor.enter();
        while decoder.cursor.more() {
            let key = decoder.cursor.key().into_owned();
            if !seen.insert(key.clone()) {
                decoder.note("duplicate", &key);
            }
            let mut value = T::default();
            decoder.enter(&key, &mut value, T::decode)?;
            self.insert(key, value);
        }
        Ok(())
    }
}

/// A string whose text does not matter.
#[derive(Default)]
pub(super) struct Text;

impl Decode for Text {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        decoder.pass(Shape::String)
    }
}

/// A bool that does not matter.
#[derive(Default)]
pub(super) struct Bool;

impl Decode for Bool {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        decoder.pass(Shape::Bool)
    }
}

/// An int64 that does not matter.
#[derive(Default)]
pub(super) struct Int64;

impl Decode for Int64 {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        if decoder.expect(Shape::Number)? == Shape::Null {
            return Ok(());
        }
        let number = String::from_utf8_lossy(decoder.cursor.skip()).into_owned();
        match number.parse::<i64>() {
            Ok(_) => Ok(()),
            Err(_) => Err(decoder.mismatch(&format!("expected int64, got number {number}"))),
        }
    }
}

/// A `metav1.Time` that does not matter.
#[derive(Default)]
pub(super) struct Time;

impl Decode for Time {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        if decoder.expect(Shape::String)? == Shape::Null {
            return Ok(());
        }
        let text = decoder.cursor.string();
        match parse_rfc3339(&text) {
            Ok(_) => Ok(()),
            Err(_) => Err(decoder.mismatch(&format!("{} is no RFC 3339 time", quote(&text)))),
        }
    }
}

/// A value that is kept as its text, such as `metav1.FieldsV1`, and does not matter.
#[derive(Default)]
pub(super) struct Raw;

impl Decode for Raw {
    fn decode(&mut self, decoder: &mut Decoder<'_>) -> Result<(), Mismatch> {
        decoder.cursor.skip();
        Ok(())
    }
}

/// A string that must be one of few. Decoders take any; it is the API's validation that refuses others, so no object has them.
/// Null is the default.
pub(super) fn choose<T: Copy + Default>(
    decoder: &mut Decoder<'_>,
    value: &mut T,
    choices: &[(&str, T)],
) -> Result<(), Mismatch> {
    let path = decoder.path.clone();
    decoder.forget(&path);
    *value = T::default();
    if decoder.expect(Shape::String)? == Shape::Null {
        return Ok(());
    }
    let text = decoder.cursor.string();
    if let Some((_, chosen)) = choices.iter().find(|(name, _)| *name == text) {
        *value = *chosen;
    } else {
        let names: Vec<String> = choices.iter().map(|(name, _)| quote(name)).collect();
        let names = names.join(", ");
        let mismatch = decoder.mismatch(&format!("Unsupported value: {}: supported values: {names}", quote(&text)));
        decoder.unsupported.push((path, mismatch));
    }
    Ok(())
}
