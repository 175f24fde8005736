//! Which parts of `object` and `oldObject` a policy's expressions can read, so that only these cross the border.
//!
//! The expressions are interpreted over abstract values: sets of places in the objects that a value can come from. Selecting a field leads
//! to another place; what is passed to a function, compared or returned is read as a whole. Evaluating over an object of which only these
//! parts are left gives the same value, error and cost.

mod analysis;

use serde::ser::{Serialize, SerializeMap, Serializer};

pub(crate) use analysis::Analysis;

use crate::packed::{Packer, Unpacker};

const WHOLE: usize = 1;
const NONEMPTY: usize = 2;
const ELEMENTS: usize = 4;
/// What a number of fields is multiplied by, to be added to these.
const FIELDS: usize = 8;

/// The parts of a value that are read.
///
/// A scalar is always taken as it is. Of a map or struct, the entries of `fields` are taken; all of them if `elements` is set. A list keeps
/// its length, and its elements are taken by `elements`, or are null. May be too large, never too small.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Projection {
    /// Everything below is taken.
    whole: bool,
    /// A map or struct that is not empty must not look empty: comparing with null is charged by its size.
    nonempty: bool,
    /// By name.
    fields: Vec<(Box<str>, Projection)>,
    elements: Option<Box<Projection>>,
}

impl Projection {
    /// Takes what the next packed one takes, too.
    fn merge(&mut self, other: &mut Unpacker<'_>) {
        let head = other.number();
        self.whole |= head & WHOLE != 0;
        self.nonempty |= head & NONEMPTY != 0;
        for _ in 0..head / FIELDS {
            let name = other.text();
            let at = self.fields.binary_search_by(|(known, _)| (**known).cmp(name)).unwrap_or_else(|at| {
                self.fields.insert(at, (name.into(), Projection::default()));
                at
            });
            self.fields.get_mut(at).into_iter().for_each(|(_, ours)| ours.merge(other));
        }
        if head & ELEMENTS != 0 {
            self.elements.get_or_insert_default().merge(other);
        }
        if self.whole {
            *self = Projection { whole: true, ..Projection::default() };
        }
    }
}

/// `true` for the whole, otherwise what there is of `{"nonempty": true, "fields": {...}, "elements": ...}`.
impl Serialize for Projection {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Fields<'a>(&'a [(Box<str>, Projection)]);
        impl Serialize for Fields<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|(name, projection)| (name, projection)))
            }
        }
        if self.whole {
            return serializer.serialize_bool(true);
        }
        let mut map = serializer.serialize_map(None)?;
        if self.nonempty {
            map.serialize_entry("nonempty", &true)?;
        }
        if !self.fields.is_empty() {
            map.serialize_entry("fields", &Fields(&self.fields))?;
        }
        if let Some(elements) = &self.elements {
            map.serialize_entry("elements", elements)?;
        }
        map.end()
    }
}

/// What is read of both objects.
#[derive(Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Projections {
    pub(crate) object: Projection,
    pub(crate) old_object: Projection,
}

impl Projections {
    pub(crate) fn merge(&mut self, other: &Packed) {
        let mut other = Unpacker::new(&other.0);
        self.object.merge(&mut other);
        self.old_object.merge(&mut other);
    }
}

/// Projections in one piece, as policies keep them: of object, then of oldObject.
#[derive(Debug)]
pub(crate) struct Packed(Box<[u8]>);

impl Packed {
    /// Both objects as they are.
    fn whole() -> Packed {
        let mut packer = Packer::default();
        packer.number(WHOLE);
        packer.number(WHOLE);
        Packed(packer.finish())
    }

    pub(crate) fn unpack(&self) -> Projections {
        let mut projections = Projections::default();
        projections.merge(self);
        projections
    }
}
