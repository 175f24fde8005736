//! Reading a record by hand, with what its reader offers to everybody.

use celgate_cel::value::{ListView, Value};

/// Why a check has no verdict: what CEL calls an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error;

/// What a check comes to.
pub(crate) type Check = Result<bool, Error>;

/// A value of a record, read.
pub(crate) trait Read<'a>: Copy {
    /// A field, `None` where there is none. Only lists and failed conversions cannot be asked.
    fn find(self, name: &str) -> Result<Option<Value<'a>>, Error>;

    /// A string.
    fn text(self) -> Result<&'a str, Error>;

    /// The elements of a list.
    fn elements(self) -> Result<impl Iterator<Item = Value<'a>> + use<'a, Self>, Error>;

    /// Keys and values of a map.
    fn entries(self) -> Result<impl Iterator<Item = (&'a str, Value<'a>)> + use<'a, Self>, Error>;

    /// A field that must be there.
    fn get(self, name: &str) -> Result<Value<'a>, Error> {
        self.find(name)?.ok_or(Error)
    }
}

impl<'a> Read<'a> for Value<'a> {
    fn find(self, name: &str) -> Result<Option<Value<'a>>, Error> {
        match self {
            Value::Record(record) if !record.is_list() => match record.field(name) {
                Some(Value::Error(_)) => Err(Error),
                found => Ok(found),
            },
            Value::Record(_) | Value::Error(_) => Err(Error),
            _ => Ok(None),
        }
    }

    fn text(self) -> Result<&'a str, Error> {
        match self {
            Value::String(text) => Ok(text),
            _ => Err(Error),
        }
    }

    fn elements(self) -> Result<impl Iterator<Item = Value<'a>> + use<'a>, Error> {
        ListView::of(self).map(|list| list.iter()).ok_or(Error)
    }

    fn entries(self) -> Result<impl Iterator<Item = (&'a str, Value<'a>)> + use<'a>, Error> {
        match self {
            Value::Record(map) if !map.is_list() => Ok((0..map.len()).filter_map(move |position| map.entry(position))),
            _ => Err(Error),
        }
    }
}

/// The field at the end of a path of which any part may be missing.
pub(crate) fn follow<'a, const N: usize>(value: Value<'a>, path: [&str; N]) -> Result<Option<Value<'a>>, Error> {
    let mut value = value;
    for name in path {
        match value.find(name)? {
            Some(field) => value = field,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

/// Whether a check holds for all: one that does not decides, also beside errors.
pub(crate) fn all<T>(items: impl Iterator<Item = T>, check: impl Fn(T) -> Check) -> Check {
    let mut verdict = Ok(true);
    for item in items {
        match check(item) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) => verdict = Err(error),
        }
    }
    verdict
}

/// Both, of which one that does not hold decides beside an error.
pub(crate) fn and(left: Check, right: impl FnOnce() -> Check) -> Check {
    match left {
        Ok(true) => right(),
        Ok(false) => left,
        Err(_) => {
            if right() == Ok(false) {
                Ok(false)
            } else {
                left
            }
        }
    }
}

/// One of both, of which one that holds decides beside an error.
pub(crate) fn or(left: Check, right: impl FnOnce() -> Check) -> Check {
    match left {
        Ok(false) => right(),
        Ok(true) => left,
        Err(_) => {
            if right() == Ok(true) {
                Ok(true)
            } else {
                left
            }
        }
    }
}
