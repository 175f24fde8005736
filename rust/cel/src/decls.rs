//! Declarations that the type checker works from: variables, functions and struct types (cel-go `checker/decls`, `common/decls`).

use crate::types::Type;

/// A variable or constant visible to expressions.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableDecl {
    /// The name, qualified where it has dots (`authorizer.requestResource`).
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// One signature of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct OverloadDecl {
    /// cel-go's overload id; also the key of the implementation and of its cost.
    pub id: &'static str,
    /// Parameter types, the receiver first for a member function. [`Type::Param`] names are type parameters.
    pub args: Vec<Type>,
    /// The result type.
    pub result: Type,
    /// Called as `receiver.f(args)`.
    pub member: bool,
}

/// A function and its overloads, in cel-go's order (the order decides which result types and messages come out).
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionDecl {
    /// Function name, or cel-go's operator spelling.
    pub name: &'static str,
    /// Its overloads.
    pub overloads: Vec<OverloadDecl>,
}

impl OverloadDecl {
    /// A global overload `f(args) -> result`.
    pub fn global(id: &'static str, args: Vec<Type>, result: Type) -> Self {
        OverloadDecl { id, args, result, member: false }
    }

    /// A member overload `args[0].f(args[1..]) -> result`.
    pub fn member(id: &'static str, args: Vec<Type>, result: Type) -> Self {
        OverloadDecl { id, args, result, member: true }
    }
}

/// Struct types and their fields, as cel-go's `types.Provider` as far as checking needs it.
pub trait TypeProvider {
    /// Whether a struct type of this qualified name exists.
    fn has_struct(&self, type_name: &str) -> bool;
    /// The declared type of a struct's field.
    fn field_type(&self, type_name: &str, field: &str) -> Option<Type>;
}

/// A provider that knows no struct types.
pub struct NoStructs;

impl TypeProvider for NoStructs {
    fn has_struct(&self, _: &str) -> bool {
        false
    }

    fn field_type(&self, _: &str, _: &str) -> Option<Type> {
        None
    }
}
