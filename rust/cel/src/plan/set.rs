//! Constant lists on the right of `in`, as sets (cel-go `maybeOptimizeSetMembership`).

use std::collections::HashSet;

use super::program::Constant;
use crate::context::EvalContext;
use crate::ops::{number, same_bytes};
use crate::value::Value;

/// Sets of more strings than this are hashed.
const LINEAR: usize = 8;

/// Numbers, strings and bools to look values up in. A number is also found as an equal number of another type.
#[derive(Debug, Default)]
pub(crate) struct Set {
    ints: Vec<i64>,
    uints: Vec<u64>,
    doubles: Vec<f64>,
    bools: [bool; 2],
    strings: Vec<Box<str>>,
    hashed: HashSet<Box<str>>,
}

impl Set {
    /// The set of these elements; `None` if one is of a type that cel-go does not put in a set.
    pub(crate) fn new(elements: &[Constant]) -> Option<Set> {
        let mut set = Set::default();
        for element in elements {
            match element {
                Constant::Bool(b) => set.bools[usize::from(*b)] = true,
                Constant::Int(i) => {
                    set.ints.push(*i);
                    set.doubles.push(*i as f64);
                    set.uints.extend(u64::try_from(*i));
                }
                Constant::Uint(u) => {
                    set.uints.push(*u);
                    set.doubles.push(*u as f64);
                    set.ints.extend(i64::try_from(*u));
                }
                Constant::Double(d) => {
                    set.doubles.push(*d);
                    set.ints.extend(number::double_to_int_lossless(*d));
                    set.uints.extend(number::double_to_uint_lossless(*d));
                }
                Constant::String(text) => set.strings.push(text.clone()),
                _ => return None,
            }
        }
        set.ints.sort_unstable();
        set.uints.sort_unstable();
        set.doubles.sort_unstable_by(f64::total_cmp);
        if set.strings.len() > LINEAR {
            set.hashed = std::mem::take(&mut set.strings).into_iter().collect();
        }
        Some(set)
    }

    /// Whether a value is in the set; Go panics on values that have no hash.
    pub(crate) fn contains<'a>(&self, ctx: &EvalContext<'a>, value: Value<'a>) -> Value<'a> {
        Value::Bool(match value {
            Value::String(text) if self.hashed.is_empty() => {
                self.strings.iter().any(|known| same_bytes(known.as_bytes(), text.as_bytes()))
            }
            Value::String(text) => self.hashed.contains(text),
            Value::Int(i) => self.ints.binary_search(&i).is_ok(),
            Value::Uint(u) => self.uints.binary_search(&u).is_ok(),
            // NaN is in no set, and -0.0 is 0.0.
            Value::Double(d) => self.doubles.contains(&d),
            Value::Bool(b) => self.bools[usize::from(b)],
            value if value.unhashable().is_some() => return ctx.unhashable(value),
            _ => false,
        })
    }
}
