//! The environment of stored expressions: what a policy's expressions may name (upstream's `plugin/cel/compile.go`).

use std::sync::{Arc, OnceLock};

use celgate_cel::decls::VariableDecl;
use celgate_cel::env::Env;
use celgate_cel::function::FunctionTable;
use celgate_k8s::environment::{Version, env_builder, function_table};
use celgate_k8s::types::{AdmissionTypes, OptionalVariables, variables, variables_variable};

/// The functions and types of the newest version, which stored expressions see.
fn base() -> &'static Env {
    static BASE: OnceLock<Env> = OnceLock::new();
    BASE.get_or_init(|| env_builder(Version::STORED).build().with_provider(Arc::new(AdmissionTypes)))
}

/// The environment with the variables of admission, and `variables` without any fields.
pub(crate) fn env(optional: OptionalVariables) -> Env {
    base().with_variables(variables(optional).into_iter().chain([variables_variable()]))
}

/// The environment with these variables alone.
pub(crate) fn bare(variables: impl IntoIterator<Item = VariableDecl>) -> Env {
    base().with_variables(variables)
}

/// The functions that programs call.
pub(crate) fn functions() -> &'static FunctionTable {
    static FUNCTIONS: OnceLock<FunctionTable> = OnceLock::new();
    FUNCTIONS.get_or_init(|| function_table(Version::STORED))
}
