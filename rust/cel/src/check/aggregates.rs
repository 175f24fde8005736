//! List, map and message literals.

use crate::ast::{Expr, ExprId, MapEntry, StructField};
use crate::types::{Kind, Type};

use super::unify::most_general;
use super::{Checker, Reference};

impl Checker<'_> {
    pub(super) fn list(&mut self, id: ExprId, elements: &mut [Expr], optional_indices: &[u32]) {
        let mut joined = None;
        for (index, element) in elements.iter_mut().enumerate() {
            self.check(element);
            let optional = optional_indices.iter().any(|optional| *optional as usize == index);
            let ty = self.element_type(element, optional);
            joined = Some(self.join(joined, ty));
        }
        let element = joined.unwrap_or_else(|| self.unifier.fresh_var());
        self.set_type(id, Type::list(element));
    }

    pub(super) fn map(&mut self, id: ExprId, entries: &mut [MapEntry]) {
        let mut joined = None;
        for entry in entries {
            self.check(&mut entry.key);
            let key = self.type_of(&entry.key);
            let (keys, values) = joined.map_or((None, None), |(keys, values)| (Some(keys), Some(values)));
            let keys = self.join(keys, key);
            self.check(&mut entry.value);
            let value = self.element_type(&entry.value, entry.optional);
            joined = Some((keys, self.join(values, value)));
        }
        let (key, value) = joined.unwrap_or_else(|| (self.unifier.fresh_var(), self.unifier.fresh_var()));
        self.set_type(id, Type::map(key, value));
    }

    /// The type that a checked element contributes; one marked with `?` must be optional.
    fn element_type(&mut self, element: &Expr, optional: bool) -> Type {
        let ty = self.type_of(element);
        if !optional {
            return ty;
        }
        if let Some(inner) = ty.optional_inner() {
            return inner.clone();
        }
        if !ty.is_dyn() {
            self.type_mismatch(element.id, &Type::optional(ty.clone()), &ty);
        }
        ty
    }

    /// The most general common type; `dyn` where there is none.
    fn join(&mut self, previous: Option<Type>, current: Type) -> Type {
        match previous {
            None => current,
            Some(previous) if self.unifier.assignable(&previous, &current) => most_general(&previous, &current).clone(),
            Some(_) => Type::Dyn,
        }
    }

    pub(super) fn message(&mut self, id: ExprId, type_name: &mut String, fields: &mut [StructField]) {
        let env = self.env;
        let resolved =
            env.resolve(type_name, |candidate| env.type_named(candidate).map(|ty| (candidate.to_owned(), ty)));
        let Some((name, ty)) = resolved else {
            self.undeclared(id, type_name);
            return self.set_type(id, Type::Error);
        };
        type_name.clone_from(&name);
        self.set_reference(id, Reference { name: name.clone(), ..Reference::default() });
        let (ty, struct_name) = match message_name(&ty) {
            Some(struct_name) => (ty, struct_name),
            None => {
                self.report(id, format!("'{}' is not a message type", ty.declared_type_name()));
                (Type::Error, name)
            }
        };
        self.set_type(id, ty);
        for field in fields {
            self.message_field(&struct_name, field);
        }
    }

    fn message_field(&mut self, struct_name: &str, field: &mut StructField) {
        self.check(&mut field.value);
        let declared = self.field_type(field.id, struct_name, &field.field).unwrap_or(Type::Error);
        let provided = self.element_type(&field.value, field.optional);
        if !self.unifier.assignable(&declared, &provided) {
            let name = &field.field;
            let message = format!("expected type of field '{name}' is '{declared}' but provided type is '{provided}'");
            self.report(field.id, message);
        }
    }
}

/// The message whose fields a literal of this type may set. Types that well-known messages became stand for those
/// messages.
fn message_name(ty: &Type) -> Option<String> {
    let well_known = match ty {
        Type::Object(name) => return Some(name.to_string()),
        Type::Any => "Any",
        Type::Timestamp => "Timestamp",
        Type::Duration => "Duration",
        Type::Dyn => "Value",
        Type::Null => "NullValue",
        Type::List(elem) if **elem == Type::Dyn => "ListValue",
        Type::Map(key, value) if **key == Type::String && **value == Type::Dyn => "Struct",
        Type::Wrapper(of) => match of.kind() {
            Kind::Bool => "BoolValue",
            Kind::Bytes => "BytesValue",
            Kind::Double => "DoubleValue",
            Kind::Int => "Int64Value",
            Kind::Uint => "UInt64Value",
            _ => "StringValue",
        },
        _ => return None,
    };
    Some(format!("google.protobuf.{well_known}"))
}
