//! A snapshot: policies with their bindings and params, in the order in which decisions are made.

use std::ops::Range;
use std::sync::Arc;

use crate::policy::{Binding, Policy};

/// One policy of a snapshot.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The policy.
    pub policy: Arc<Policy>,
    /// Its bindings, a range of the engine's.
    pub bindings: Range<u32>,
    /// The number of its param set; `None` when it has no paramKind.
    pub params: Option<u32>,
    /// Its configuration error.
    pub error: Option<String>,
    /// Whether its params are namespaced.
    pub namespaced_params: bool,
}

/// An immutable snapshot of policies: static ones first, then by name; the bindings of each by name.
#[derive(Debug)]
pub struct Engine {
    hooks: Vec<Hook>,
    bindings: Vec<Arc<Binding>>,
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Engine>();
};

impl Engine {
    /// Makes a snapshot. Ranges beyond `bindings` are cut.
    pub fn new(hooks: Vec<Hook>, bindings: Vec<Arc<Binding>>) -> Engine {
        Engine { hooks, bindings }
    }

    pub(crate) fn hooks(&self) -> &[Hook] {
        &self.hooks
    }

    /// A hook's bindings with their indices.
    pub(crate) fn bindings(&self, hook: &Hook) -> impl Iterator<Item = (u32, &Arc<Binding>)> {
        let Range { start, end } = hook.bindings;
        (start..end).filter_map(|index| Some((index, self.bindings.get(index as usize)?)))
    }
}
