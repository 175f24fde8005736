//! The C ABI of celgate: handles, one guard around every body, caller's buffers (docs/abi.md).
//!
//! The only crate with `unsafe`. C memory becomes a Rust reference only in [`raw`]; every exported body is one [`guard::guard`] expression.
//! Handles but the scratch are immutable and may be used from any thread; nothing here keeps a pointer that C gave it.
#![deny(unsafe_op_in_unsafe_fn)]
#![expect(unsafe_code, reason = "this crate is the boundary to C")]
#![expect(non_camel_case_types, reason = "C's naming of types")]
#![warn(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]

mod engine;
#[cfg(feature = "expressions")]
mod expression;
mod guard;
#[cfg(feature = "expressions")]
mod object;
mod params;
mod plan;
mod policy;
mod raw;
mod scratch;
mod status;
mod typecheck;
mod webhook;

pub use engine::{celgate_engine, celgate_engine_free, celgate_engine_new, celgate_engine_of_webhooks, celgate_hook};
#[cfg(feature = "expressions")]
pub use expression::{
    celgate_environment, celgate_environment_free, celgate_environment_new, celgate_expression,
    celgate_expression_evaluate, celgate_expression_free, celgate_expression_new, celgate_expression_projections,
};
#[cfg(feature = "mutants")]
pub use expression::{celgate_mutant, celgate_policy_mutant, celgate_policy_mutant_shows};
#[cfg(feature = "expressions")]
pub use object::celgate_object_read;
pub use params::{celgate_params, celgate_params_free, celgate_params_new};
pub use plan::{celgate_plan, celgate_plan_evaluate, celgate_plan_free, celgate_plan_new, celgate_result};
pub use policy::{
    celgate_binding, celgate_binding_free, celgate_binding_new, celgate_policy, celgate_policy_evaluations,
    celgate_policy_free, celgate_policy_new,
};
pub use scratch::{
    celgate_scratch, celgate_scratch_free, celgate_scratch_new, celgate_scratch_reset, celgate_scratch_result,
};
pub use status::celgate_status;
pub use typecheck::celgate_type_check;
pub use webhook::{celgate_webhook, celgate_webhook_free, celgate_webhook_new};

/// Version of this ABI. Any change to the header changes it; callers refuse to run with another.
pub const CELGATE_ABI_VERSION: u32 = 4;

/// No index: a hook without params, a report entry without a binding.
pub const CELGATE_NONE: u32 = u32::MAX;

/// A hook's params are namespaced (`celgate_hook.flags`).
pub const CELGATE_HOOK_NAMESPACED_PARAMS: u32 = 1;

/// The version of the ABI that the library implements; compare with `CELGATE_ABI_VERSION` before any other call.
#[unsafe(no_mangle)]
pub extern "C" fn celgate_abi_version() -> u32 {
    CELGATE_ABI_VERSION
}

#[cfg(not(panic = "unwind"))]
compile_error!("CELGATE_STATUS_PANIC is meaningless with panic=abort");
