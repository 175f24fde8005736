//! The environment of stored expressions: what a policy's expressions may name (upstream's `plugin/cel/compile.go`).

use std::sync::{Arc, OnceLock};

use celgate_cel::decls::VariableDecl;
use celgate_cel::env::Env;
use celgate_cel::function::FunctionTable;
use celgate_cel::types::Type;
use celgate_k8s::authz::AUTHORIZER;
use celgate_k8s::environment::{Version, env_builder, function_table};
use celgate_k8s::escaping::escaped_keyword;
use celgate_k8s::openapi::DeclaredTypes;
use celgate_k8s::types::{AdmissionTypes, OptionalVariables, VARIABLES, variables, variables_variable};

/// The functions and types of the newest version, which stored expressions see.
fn base() -> &'static Env {
    static BASE: OnceLock<Env> = OnceLock::new();
    BASE.get_or_init(|| of_version(Version::STORED))
}

/// The functions and types of a version.
fn of_version(version: Version) -> Env {
    env_builder(version).build().with_provider(Arc::new(AdmissionTypes))
}

/// The environment with the variables of admission, and `variables` without any fields.
pub(crate) fn env(optional: OptionalVariables) -> Env {
    made_once(optional, true)
}

/// The environment of expressions that belong to no policy: without `variables`.
pub(crate) fn without_variables(optional: OptionalVariables) -> Env {
    made_once(optional, false)
}

fn made_once(optional: OptionalVariables, with_variables: bool) -> Env {
    static ENVS: [[[OnceLock<Env>; 2]; 2]; 2] = [const { [const { [const { OnceLock::new() }; 2] }; 2] }; 2];
    let OptionalVariables { params, authorizer } = optional;
    let make = || {
        let own = with_variables.then(variables_variable);
        base().with_variables(variables(optional).into_iter().chain(own))
    };
    ENVS[usize::from(with_variables)][usize::from(params)][usize::from(authorizer)].get_or_init(make).clone()
}

/// The environment with the variables of admission, of the types that they have in some policy; without an authorizer for the
/// request's resource, which upstream's type checker does not declare.
pub(crate) fn for_type_checking(types: DeclaredTypes, object: Type, params: Option<Type>) -> Env {
    let typed = [("object", Some(object.clone())), ("oldObject", Some(object)), ("params", params)];
    let typed = typed.into_iter().filter_map(|(name, ty)| Some(VariableDecl::new(name, ty?)));
    let authorizer = VariableDecl::new("authorizer", Type::object(AUTHORIZER));
    let env = env(OptionalVariables::default()).with_provider(Arc::new(types));
    env.with_variables(typed.chain([authorizer]))
}

/// The environment with one more of a policy's variables, as a field of `variables`. A name that looks like an escaped keyword
/// is found by the keyword, too.
pub(crate) fn with_variable(env: &Env, name: &str, ty: &Type) -> Env {
    let env = match escaped_keyword(name) {
        Some(keyword) => env.with_struct_field(VARIABLES, keyword, ty.clone()),
        None => env.clone(),
    };
    env.with_struct_field(VARIABLES, name, ty.clone())
}

/// A version's environment with these types and variables alone.
pub(crate) fn bare(version: Version, types: DeclaredTypes, variables: impl IntoIterator<Item = VariableDecl>) -> Env {
    let base = if version == Version::STORED { base().clone() } else { of_version(version) };
    base.with_provider(Arc::new(types)).with_variables(variables)
}

/// The functions that programs call.
pub(crate) fn functions() -> &'static FunctionTable {
    static FUNCTIONS: OnceLock<FunctionTable> = OnceLock::new();
    FUNCTIONS.get_or_init(|| function_table(Version::STORED))
}
