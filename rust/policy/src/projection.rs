//! Which parts of `object` and `oldObject` a policy's expressions can read, so that only these cross the border.
//!
//! The expressions are interpreted over abstract values: sets of places in the objects that a value can come from. Selecting a field leads
//! to another place; what is passed to a function, compared or returned is read as a whole. Evaluating over an object of which only these
//! parts are left gives the same value, error and cost.

mod analysis;

use serde::ser::{Serialize, SerializeMap, Serializer};

pub(crate) use analysis::Analysis;

/// The parts of a value that are read.
///
/// A scalar is always taken as it is. Of a map or struct, the entries of `fields` are taken; all of them if `elements` is set. A list keeps
/// its length, and its elements are taken by `elements`, or are null. May be too large, never too small.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    /// Takes what `other` takes, too.
    pub(crate) fn merge(&mut self, other: &Projection) {
        if self.whole {
            return;
        }
        if other.whole {
            *self = Projection { whole: true, ..Projection::default() };
            return;
        }
        self.nonempty |= other.nonempty;
        for (name, theirs) in &other.fields {
            match self.fields.binary_search_by(|(known, _)| known.cmp(name)) {
                Ok(at) => self.fields.get_mut(at).into_iter().for_each(|(_, ours)| ours.merge(theirs)),
                Err(at) => self.fields.insert(at, (name.clone(), theirs.clone())),
            }
        }
        if let Some(theirs) = &other.elements {
            self.elements.get_or_insert_default().merge(theirs);
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
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Projections {
    pub(crate) object: Projection,
    pub(crate) old_object: Projection,
}

impl Projections {
    pub(crate) fn merge(&mut self, other: &Projections) {
        self.object.merge(&other.object);
        self.old_object.merge(&other.old_object);
    }

    /// Both objects as they are.
    pub(crate) fn whole() -> Projections {
        let whole = Projection { whole: true, ..Projection::default() };
        Projections { object: whole.clone(), old_object: whole }
    }
}
