//! A snapshot: policies with their bindings and params, or webhooks, in the order in which decisions are made.

use std::ops::Range;
use std::sync::Arc;

use crate::policy::{Binding, Policy};
use crate::webhook::Webhook;

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

/// An immutable snapshot of what one admission plugin decides by.
#[derive(Debug)]
pub struct Engine(pub(crate) Content);

/// What is in a snapshot.
#[derive(Debug)]
pub(crate) enum Content {
    /// Policies: static ones first, then by name; the bindings of each by name.
    Policies(Policies),
    /// Webhooks in the order in which upstream looks at them.
    Webhooks(Vec<Arc<Webhook>>),
}

/// Policies with their bindings.
#[derive(Debug)]
pub(crate) struct Policies {
    hooks: Vec<Hook>,
    bindings: Vec<Arc<Binding>>,
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Engine>();
};

impl Engine {
    /// Makes a snapshot of policies. Ranges beyond `bindings` are cut.
    pub fn new(hooks: Vec<Hook>, bindings: Vec<Arc<Binding>>) -> Engine {
        Engine(Content::Policies(Policies { hooks, bindings }))
    }

    /// Makes a snapshot of webhooks.
    pub fn of_webhooks(webhooks: Vec<Arc<Webhook>>) -> Engine {
        Engine(Content::Webhooks(webhooks))
    }
}

impl Policies {
    pub(crate) fn hooks(&self) -> &[Hook] {
        &self.hooks
    }

    /// A hook's bindings with their indices.
    pub(crate) fn bindings(&self, hook: &Hook) -> impl Iterator<Item = (u32, &Arc<Binding>)> {
        let Range { start, end } = hook.bindings;
        (start..end).filter_map(|index| Some((index, self.bindings.get(index as usize)?)))
    }
}
