//! ValidatingAdmissionPolicy: what the policies of a snapshot decide about a request, exactly as the apiserver would; and
//! ValidatingWebhookConfiguration: which webhooks it would call.
//!
//! [`Policy`], [`Binding`] and [`Webhook`] are compiled once; an [`Engine`] is an immutable snapshot of them, a [`Plan`] the part of it that
//! can match one kind of request. [`Plan::evaluate`] decides a request; what it cannot know, it asks for (docs/abi.md).
//! The oracle is `k8s.io/apiserver/pkg/admission/plugin/{policy,webhook}`.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed"))]

mod answers;
pub mod api;
mod audit;
mod authorize;
mod collect;
mod compile;
mod compiled;
mod constraints;
mod counts;
mod engine;
mod environment;
mod evaluate;
pub mod expression;
mod inputs;
mod invalid;
mod matchconditions;
pub mod mutants;
mod packed;
mod params;
mod plan;
mod policy;
mod projection;
mod reader;
mod reads;
mod report;
mod request;
mod results;
pub mod rules;
mod scratch;
mod section;
pub mod selector;
mod settled;
pub mod typecheck;
mod validate;
mod variables;
mod webhook;

pub use engine::{Engine, Hook};
pub use evaluate::Outcome;
pub use invalid::InvalidRequest;
pub use params::{Param, ParamSet};
pub use plan::Plan;
pub use policy::{Binding, Policy};
pub use scratch::Scratch;
pub use webhook::Webhook;
