//! Type checking of policies: what is wrong with expressions once the types of object and params are known
//! (upstream's `TypeChecker`, apiserver `pkg/admission/plugin/policy/validating/typechecking.go`).
//!
//! Which types a policy is about, and their schemas, are the caller's to find. Expressions and messageExpressions of validations
//! are checked against each type; matchConditions and auditAnnotations are not, and a variable only gives its type.

mod input;

use std::fmt::Write as _;

use celgate_cel::check::check;
use celgate_cel::env::Env;
use celgate_cel::issues::Issues;
use celgate_cel::parser::parse;
use celgate_cel::types::Type;
use celgate_k8s::environment::{Version, keywords_as_fields, parse_options};
use celgate_k8s::openapi::{DeclaredTypes, Schema, declare};
use celgate_k8s::types::variable_type;
use serde::Serialize;

use crate::api::{NamedExpression, PolicySpec, read};
use crate::environment;
use input::{Input, Kind, Subject};

/// One expression that does not fit some type (`ExpressionWarning` of admissionregistration.k8s.io/v1).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExpressionWarning {
    /// Where the expression is, such as `spec.validations[0].expression`.
    field_ref: String,
    /// What is wrong with it, for each type.
    warning: String,
}

/// Checks a policy. `json` and the result are as docs/abi.md, "Type checking" has them; the error is about the JSON.
pub fn type_check(json: &[u8]) -> Result<Vec<u8>, String> {
    let failed = |error| format!("type checking: {error}");
    let input: Input = serde_json::from_slice(json).map_err(failed)?;
    let policy = read::policy(input.policy.get().as_bytes())?;
    serde_json::to_vec(&warnings(&input, &policy.spec)).map_err(failed)
}

fn warnings(input: &Input, spec: &PolicySpec) -> Vec<ExpressionWarning> {
    let subjects: Vec<Typed<'_>> = input.types.iter().filter_map(|subject| Typed::new(input, spec, subject)).collect();
    let mut warnings = Vec::new();
    for (index, validation) in spec.validations.iter().enumerate() {
        let mut warn = |field, text: &str| {
            if let Some(warning) = warning(&subjects, text) {
                warnings.push(ExpressionWarning { field_ref: format!("spec.validations[{index}].{field}"), warning });
            }
        };
        warn("expression", &validation.expression);
        if !validation.message_expression.is_empty() {
            warn("messageExpression", &validation.message_expression);
        }
    }
    warnings
}

/// A kind that the policy is about, and what its expressions see then.
struct Typed<'a> {
    kind: &'a Kind,
    env: Env,
}

/// What makes names of types unique. Upstream takes the time; the same policy has the same warnings here.
const OBJECT_NUMBER: u32 = 0;
const PARAMS_NUMBER: u32 = 1;

impl<'a> Typed<'a> {
    /// `None` if the kind's schema is none: such a kind is left out.
    fn new(input: &'a Input, spec: &PolicySpec, subject: &'a Subject) -> Option<Typed<'a>> {
        let mut types = DeclaredTypes::new(keywords_as_fields(Version::STORED));
        let object = declared(&mut types, subject, OBJECT_NUMBER).ok()?;
        let params =
            input.params.as_ref().map(|params| declared(&mut types, params, PARAMS_NUMBER).unwrap_or(Type::Dyn));
        let env = environment::for_type_checking(types, object, params);
        Some(Typed { kind: &subject.kind, env: with_variables(env, &spec.variables) })
    }
}

/// The type that a subject's schema declares, `dyn` if none is known; an error if it is no schema.
fn declared(types: &mut DeclaredTypes, subject: &Subject, number: u32) -> Result<Type, String> {
    let name = format!("{}{number}", subject.kind.kind);
    let schema = subject.schema.as_ref().map(|schema| Schema::from_json(schema.get().as_bytes())).transpose()?;
    Ok(schema.as_ref().and_then(declare).map_or(Type::Dyn, |declared| types.add(&name, &declared)))
}

/// Variables see those before them; one that does not compile is `dyn`, and no warning of its own.
fn with_variables(env: Env, variables: &[NamedExpression]) -> Env {
    variables.iter().fold(env, |env, variable| {
        let ty = compile(&env, &variable.expression).map_or(Type::Dyn, |output| variable_type(&output));
        environment::with_variable(&env, &variable.name, &ty)
    })
}

fn compile(env: &Env, text: &str) -> Result<Type, Issues> {
    let ast = parse(text, &parse_options(Version::STORED))?;
    Ok(check(ast, env)?.output)
}

/// What is wrong with an expression, a paragraph for each type; `None` if nothing is (`TypeCheckingResults.String`).
fn warning(subjects: &[Typed<'_>], text: &str) -> Option<String> {
    let mut out = None;
    for Typed { kind, env } in subjects {
        let Err(issues) = compile(env, text) else { continue };
        let out: &mut String = match &mut out {
            None => out.insert(String::new()),
            Some(out) => {
                out.push('\n');
                out
            }
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{kind}: {issues}");
    }
    out
}

#[cfg(test)]
mod tests;
