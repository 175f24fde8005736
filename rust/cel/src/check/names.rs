//! Identifiers and field selection.

use crate::ast::{Expr, ExprId, ExprKind, Literal};
use crate::types::Type;

use super::unify::dyn_or_error;
use super::{Checker, Reference};

/// What a name resolved to.
struct Resolved {
    /// The qualified name, with a leading dot where a comprehension's variable hides it; `None` if that is the name as
    /// written.
    name: Option<String>,
    ty: Type,
    value: Option<Literal>,
}

impl Checker<'_> {
    pub(super) fn ident(&mut self, id: ExprId, name: &mut String) {
        match self.resolve_simple(name) {
            Some(Resolved { name: qualified, ty, value }) => {
                if let Some(qualified) = qualified {
                    *name = qualified;
                }
                self.accept(id, name.clone(), ty, value);
            }
            None => {
                self.set_type(id, Type::Error);
                self.undeclared(id, name);
            }
        }
    }

    pub(super) fn select(&mut self, expr: &mut Expr) {
        let mut name = std::mem::take(&mut self.name);
        name.clear();
        let resolved = if push_qualified(expr, &mut name) { self.resolve_qualified(&name) } else { None };
        if let Some(Resolved { name: qualified, ty, value }) = resolved {
            let name = qualified.unwrap_or(name);
            expr.kind = ExprKind::Ident(name.clone());
            return self.accept(expr.id, name, ty, value);
        }
        self.name = name;
        let ExprKind::Select { operand, field, test_only } = &mut expr.kind else {
            return;
        };
        let result = self.select_field(expr.id, operand, field, false);
        let result = if *test_only { Type::Bool } else { result };
        let result = self.unifier.substitute(&result, false);
        self.set_type(expr.id, result);
    }

    /// `operand.?field`, which the parser packs into a call of `_?._`.
    pub(super) fn optional_select(&mut self, id: ExprId, args: &mut [Expr], member: bool) {
        let [operand, field] = args else {
            return self.bad_optional_select(id, args.len(), member);
        };
        if member {
            return self.bad_optional_select(id, 2, member);
        }
        let ExprKind::Literal(Literal::String(name)) = &field.kind else {
            return self.report(field.id, "unsupported optional field selection: field is not a string".to_owned());
        };
        let result = self.select_field(id, operand, name, true);
        let result = self.unifier.substitute(&result, false);
        self.set_type(id, result);
        self.set_reference(id, Reference { overloads: vec!["select_optional_field"], ..Reference::default() });
    }

    fn bad_optional_select(&mut self, id: ExprId, count: usize, member: bool) {
        let kind = if member { " member call with" } else { "" };
        let message =
            format!("unsupported optional field selection: incorrect signature.{kind} argument count: {count}");
        self.report(id, message);
    }

    fn select_field(&mut self, id: ExprId, operand: &mut Expr, field: &str, optional: bool) -> Type {
        self.check(operand);
        let operand_type = self.unifier.substitute(&self.type_of(operand), false);
        let inner = operand_type.optional_inner();
        let target = inner.unwrap_or(&operand_type);
        let result = match target {
            Type::Map(_, value) => (**value).clone(),
            Type::Object(name) => self.field_type(id, name, field).unwrap_or(Type::Error),
            Type::Var(_) | Type::Param(_) => {
                self.unifier.assignable(&Type::Dyn, target);
                Type::Dyn
            }
            _ => {
                if !dyn_or_error(target) {
                    self.report(id, format!("type '{target}' does not support field selection"));
                }
                Type::Dyn
            }
        };
        if inner.is_some() || optional { Type::optional(result) } else { result }
    }

    /// The declared type of a struct's field; reports what is wrong if there is none.
    pub(super) fn field_type(&mut self, id: ExprId, type_name: &str, field: &str) -> Option<Type> {
        let ty = self.env.field_type(type_name, field);
        if ty.is_none() {
            let message = match self.env.has_struct(type_name) {
                true => format!("undefined field '{field}'"),
                false => format!("unexpected failed resolution of '{type_name}'"),
            };
            self.report(id, message);
        }
        ty
    }

    fn accept(&mut self, id: ExprId, name: String, ty: Type, value: Option<Literal>) {
        self.set_type(id, ty);
        self.set_reference(id, Reference { name, overloads: Vec::new(), value });
    }

    /// A variable of an enclosing comprehension, innermost first.
    fn local(&self, name: &str) -> Option<&(String, Type)> {
        let name = name.strip_prefix('.').unwrap_or(name);
        self.scopes.iter().rev().find(|(local, _)| local == name)
    }

    fn resolve_simple(&self, name: &str) -> Option<Resolved> {
        let local = self.local(name);
        match local {
            Some((local, ty)) if !name.starts_with('.') => {
                debug_assert_eq!(local, name);
                Some(Resolved { name: None, ty: ty.clone(), value: None })
            }
            _ => self.resolve_global(name, local.is_some()),
        }
    }

    /// A dotted name that is a variable, type or constant as a whole.
    fn resolve_qualified(&self, name: &str) -> Option<Resolved> {
        let (absolute, rest) = match name.strip_prefix('.') {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let first = rest.split('.').next().unwrap_or(rest);
        let local = self.local(first).is_some();
        if local && !absolute {
            return None;
        }
        self.resolve_global(name, local)
    }

    fn resolve_global(&self, name: &str, hidden: bool) -> Option<Resolved> {
        let dot = if hidden { "." } else { "" };
        self.env.resolve(name, |candidate| {
            let (ty, value) = if let Some(ty) = self.env.variable(candidate) {
                (ty.clone(), None)
            } else if let Some(ty) = self.env.type_named(candidate) {
                (Type::type_of(ty), None)
            } else {
                (Type::Int, Some(Literal::Int(self.env.enum_constant(candidate)?)))
            };
            let as_written = dot.is_empty() && candidate == name;
            Some(Resolved { name: (!as_written).then(|| format!("{dot}{candidate}")), ty, value })
        })
    }
}

/// Appends `a.b.c` as a name, if the expression is one (cel-go `containers.ToQualifiedName`).
pub(super) fn push_qualified(expr: &Expr, name: &mut String) -> bool {
    match &expr.kind {
        ExprKind::Ident(ident) => name.push_str(ident),
        ExprKind::Select { operand, field, test_only: false } if push_qualified(operand, name) => {
            name.push('.');
            name.push_str(field);
        }
        _ => return false,
    }
    true
}
