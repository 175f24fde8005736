//! Which of a policy's inputs its expressions can read, so that nobody prepares what nobody reads.

use std::ops::{BitOr, BitOrAssign};

use celgate_cel::ast::{Expr, ExprKind};

/// A set of inputs. May be too large, never too small.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reads(u16);

impl Reads {
    pub(crate) const OBJECT: Reads = Reads(1);
    pub(crate) const OLD_OBJECT: Reads = Reads(1 << 1);
    pub(crate) const REQUEST: Reads = Reads(1 << 2);
    /// `request.kind` or `request.resource`, or the request as a whole.
    pub(crate) const REQUEST_MATCH: Reads = Reads(1 << 3);
    pub(crate) const NAMESPACE_OBJECT: Reads = Reads(1 << 4);
    /// The namespace as a whole, or its metadata as a whole: fields that upstream hides would show.
    pub(crate) const NAMESPACE_WHOLE: Reads = Reads(1 << 5);
    pub(crate) const AUTHORIZER: Reads = Reads(1 << 6);
    pub(crate) const VARIABLES: Reads = Reads(1 << 7);

    /// Whether any of these is read.
    pub(crate) fn intersects(self, any: Reads) -> bool {
        self.0 & any.0 != 0
    }

    /// What an expression reads.
    pub(crate) fn of(expr: &Expr) -> Reads {
        let mut reads = Reads::default();
        reads.add(expr);
        reads
    }

    fn add(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) => {}
            ExprKind::Ident(name) => self.whole(name),
            ExprKind::Select { operand, field, .. } => self.select(operand, field),
            ExprKind::Call { target, args, .. } => {
                target.iter().map(|target| &**target).chain(args).for_each(|e| self.add(e))
            }
            ExprKind::List { elements, .. } => elements.iter().for_each(|e| self.add(e)),
            ExprKind::Map { entries } => {
                entries.iter().flat_map(|entry| [&entry.key, &entry.value]).for_each(|e| self.add(e))
            }
            ExprKind::Struct { fields, .. } => fields.iter().for_each(|field| self.add(&field.value)),
            ExprKind::Comprehension(c) => {
                [&c.iter_range, &c.accu_init, &c.loop_condition, &c.loop_step, &c.result]
                    .into_iter()
                    .for_each(|e| self.add(e));
            }
        }
    }

    /// An input that is used as a whole.
    fn whole(&mut self, name: &str) {
        *self |= match name.strip_prefix('.').unwrap_or(name) {
            "object" => Reads::OBJECT,
            "oldObject" => Reads::OLD_OBJECT,
            "request" => Reads::REQUEST | Reads::REQUEST_MATCH,
            "namespaceObject" => Reads::NAMESPACE_OBJECT | Reads::NAMESPACE_WHOLE,
            "authorizer" | "authorizer.requestResource" => Reads::AUTHORIZER,
            "variables" => Reads::VARIABLES,
            _ => Reads::default(),
        };
    }

    /// A field of something: of an input, only that field is read.
    fn select(&mut self, operand: &Expr, field: &str) {
        match (&operand.kind, field) {
            (ExprKind::Ident(name), field) if name == "request" && !matches!(field, "kind" | "resource") => {
                *self |= Reads::REQUEST
            }
            // All hidden fields are in the metadata.
            (ExprKind::Ident(name), "spec" | "status") if name == "namespaceObject" => *self |= Reads::NAMESPACE_OBJECT,
            (ExprKind::Select { operand, field: outer, .. }, _)
                if outer == "metadata" && is_ident(operand, "namespaceObject") =>
            {
                // Declared fields of the metadata are all visible; undeclared ones do not compile.
                *self |= Reads::NAMESPACE_OBJECT;
            }
            _ => self.add(operand),
        }
    }
}

impl BitOr for Reads {
    type Output = Reads;

    fn bitor(self, other: Reads) -> Reads {
        Reads(self.0 | other.0)
    }
}

impl BitOrAssign for Reads {
    fn bitor_assign(&mut self, other: Reads) {
        self.0 |= other.0;
    }
}

fn is_ident(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Ident(ident) if ident == name)
}

#[cfg(test)]
mod tests {
    use celgate_cel::parser::{ParseOptions, parse};

    use super::*;

    fn reads(text: &str) -> Reads {
        Reads::of(&parse(text, &ParseOptions::kubernetes()).unwrap().expr)
    }

    #[test]
    fn fields_of_the_request() {
        assert_eq!(reads("request.operation == 'CREATE' && request.userInfo.username == 'a'"), Reads::REQUEST);
        for text in [
            "request.kind.kind == 'Pod'",
            "dyn(request).object == null",
            "request.resource.group == ''",
            "[request].size() == 1",
        ] {
            assert!(reads(text).intersects(Reads::REQUEST_MATCH), "{text}");
        }
    }

    #[test]
    fn what_the_namespace_hides() {
        for text in ["namespaceObject.metadata.labels.env == 'x'", "namespaceObject.status.phase == ''"] {
            assert_eq!(reads(text), Reads::NAMESPACE_OBJECT, "{text}");
        }
        for text in [
            "dyn(namespaceObject).metadata",
            "namespaceObject.metadata == namespaceObject.metadata",
            "namespaceObject == null",
        ] {
            assert!(reads(text).intersects(Reads::NAMESPACE_WHOLE), "{text}");
        }
    }

    #[test]
    fn variables() {
        for text in ["variables.a == 1", "dyn(variables).size() == 1", "[1].all(i, .variables.a == i)"] {
            assert_eq!(reads(text), Reads::VARIABLES, "{text}");
        }
    }

    #[test]
    fn everything_inside_macros_counts() {
        let all =
            reads("object.spec.containers.all(c, oldObject.x.exists(o, o == c)) ? {authorizer.path('/'): 1} : [2]");
        for input in [Reads::OBJECT, Reads::OLD_OBJECT, Reads::AUTHORIZER] {
            assert!(all.intersects(input));
        }
        assert!(!all.intersects(Reads::REQUEST));
    }
}
