//! The type checker (cel-go `checker/checker.go`): the same types, references and messages, in the same order.

mod aggregates;
mod calls;
mod comprehensions;
mod hash;
mod names;
mod unify;

pub use hash::ExprMap;
pub(crate) use hash::NameMap;

use std::hash::BuildHasherDefault;

use crate::ast::{Ast, Expr, ExprId, ExprKind, Literal, SourceInfo};
use crate::env::Env;
use crate::issues::{Issues, Location};
use crate::types::Type;
use crate::validate;
use unify::Unifier;

/// The most parts that a type may have. cel-go has no limit: a type can double with each comprehension of a nest, and
/// its checker then runs for ever.
const MAX_TYPE_SIZE: usize = 4096;
const TOO_LARGE: &str = "type is too large";

/// An expression that passed the checker.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The expression with names qualified: `a.b` that names a variable is one identifier, `ns.f(x)` that names a
    /// function has no receiver, message names are complete.
    pub ast: Ast,
    /// The type of each expression.
    pub types: ExprMap<Type>,
    /// What each identifier, call and message literal refers to.
    pub references: ExprMap<Reference>,
    /// The type of the whole.
    pub output: Type,
}

/// What an identifier or call refers to (cel-go `ast.ReferenceInfo`).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reference {
    /// The qualified name of a variable or type; empty for a call.
    pub name: String,
    /// The overloads that a call may use, in the order of their declaration; empty for an identifier.
    pub overloads: Vec<&'static str>,
    /// The value of an enum constant.
    pub value: Option<Literal>,
}

/// Checks a parsed expression and runs the environment's validators (cel-go `Env.Check`).
///
/// # Errors
///
/// Everything that the checker found wrong; only if that is nothing, everything that the validators found wrong.
pub fn check(ast: Ast, env: &Env) -> Result<Checked, Issues> {
    let Ast { mut expr, source } = ast;
    let mut checker = Checker::new(env, &source);
    checker.check(&mut expr);
    let Checker { unifier, mut types, references, mut issues, .. } = checker;
    if unifier.gave_up() {
        issues.report(expr.id, Location::of_expr(&source, expr.id), TOO_LARGE.to_owned());
    }
    if !issues.is_empty() {
        return Err(issues);
    }
    for ty in types.values_mut() {
        *ty = unifier.substitute(ty, true);
    }
    let output = types.get(&expr.id).cloned().unwrap_or(Type::Error);
    let checked = Checked { ast: Ast { expr, source }, types, references, output };
    validate::run(env.validators(), &checked, &mut issues);
    if issues.is_empty() { Ok(checked) } else { Err(issues) }
}

/// A check in progress.
struct Checker<'e> {
    env: &'e Env,
    source: &'e SourceInfo,
    types: ExprMap<Type>,
    references: ExprMap<Reference>,
    unifier: Unifier,
    /// Variables of the enclosing comprehensions, innermost last.
    scopes: Vec<(String, Type)>,
    /// cel-go forgets which overloads are disabled once it has entered a comprehension.
    all_overloads: bool,
    /// Room for a qualified name.
    name: String,
    issues: Issues,
}

impl<'e> Checker<'e> {
    fn new(env: &'e Env, source: &'e SourceInfo) -> Self {
        let expressions = source.offsets.len();
        Checker {
            env,
            source,
            types: ExprMap::with_capacity_and_hasher(expressions, BuildHasherDefault::default()),
            references: ExprMap::with_capacity_and_hasher(expressions, BuildHasherDefault::default()),
            unifier: Unifier::default(),
            scopes: Vec::new(),
            all_overloads: !env.filters_cross_type_comparisons(),
            name: String::new(),
            issues: Issues::new(&source.text),
        }
    }

    /// Recursion is bounded by the parser, which limits the depth of an expression.
    fn check(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Literal(literal) => {
                let ty = literal_type(literal);
                self.set_type(expr.id, ty);
            }
            ExprKind::Ident(name) => self.ident(expr.id, name),
            ExprKind::Select { .. } => self.select(expr),
            ExprKind::Call { target, function, args } => self.call(expr.id, target, function, args),
            ExprKind::List { elements, optional_indices } => self.list(expr.id, elements, optional_indices),
            ExprKind::Map { entries } => self.map(expr.id, entries),
            ExprKind::Struct { type_name, fields } => self.message(expr.id, type_name, fields),
            ExprKind::Comprehension(comprehension) => self.comprehension(expr.id, comprehension),
            ExprKind::Unspecified => self.report(expr.id, "unexpected unspecified type: exprKind".to_owned()),
        }
    }

    fn report(&mut self, id: ExprId, message: String) {
        self.issues.report(id, Location::of_expr(self.source, id), message);
    }

    fn type_mismatch(&mut self, id: ExprId, expected: &Type, actual: &Type) {
        self.report(id, format!("expected type '{expected}' but found '{actual}'"));
    }

    fn undeclared(&mut self, id: ExprId, name: &str) {
        let container = self.env.container();
        self.report(id, format!("undeclared reference to '{name}' (in container '{container}')"));
    }

    /// Notes an expression's type. An expression that is checked twice must get the same type both times.
    fn set_type(&mut self, id: ExprId, ty: Type) {
        let ty = if ty.is_larger_than(MAX_TYPE_SIZE) {
            self.report(id, TOO_LARGE.to_owned());
            Type::Error
        } else {
            ty
        };
        match self.types.get(&id) {
            Some(old) if !old.is_exact(&ty) => {
                let message = format!("incompatible type already exists for expression: ({id}) old:{old}, new:{ty}");
                self.report(id, message);
            }
            _ => {
                self.types.insert(id, ty);
            }
        }
    }

    fn type_of(&self, expr: &Expr) -> Type {
        self.types.get(&expr.id).cloned().unwrap_or(Type::Error)
    }

    fn set_reference(&mut self, id: ExprId, reference: Reference) {
        self.references.insert(id, reference);
    }

    fn assert_type(&mut self, expr: &Expr, expected: &Type) {
        let actual = self.type_of(expr);
        if !self.unifier.assignable(expected, &actual) {
            self.type_mismatch(expr.id, expected, &actual);
        }
    }
}

fn literal_type(literal: &Literal) -> Type {
    match literal {
        Literal::Null => Type::Null,
        Literal::Bool(_) => Type::Bool,
        Literal::Int(_) => Type::Int,
        Literal::Uint(_) => Type::Uint,
        Literal::Double(_) => Type::Double,
        Literal::String(_) => Type::String,
        Literal::Bytes(_) => Type::Bytes,
    }
}

#[cfg(test)]
mod tests;
