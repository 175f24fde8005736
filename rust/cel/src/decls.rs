//! Declarations that the type checker works from: variables, functions and struct types (cel-go `checker/decls`, `common/decls`).

use std::collections::HashMap;

use crate::types::Type;

/// A variable or constant visible to expressions.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableDecl {
    /// The name, qualified where it has dots (`authorizer.requestResource`).
    pub name: String,
    /// Its type.
    pub ty: Type,
}

impl VariableDecl {
    /// A variable of this name and type.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        VariableDecl { name: name.into(), ty }
    }
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

impl FunctionDecl {
    /// A function with these overloads.
    pub fn new(name: &'static str, overloads: Vec<OverloadDecl>) -> Self {
        FunctionDecl { name, overloads }
    }
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
    /// The type that a type name denotes in an expression. Kubernetes' provider knows names of scalars, lists and maps
    /// beside those of structs (`duration`, `kubernetes.Namespace.metadata.labels`).
    fn struct_type(&self, type_name: &str) -> Option<Type> {
        self.has_struct(type_name).then(|| Type::object(type_name))
    }
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

/// A provider with a fixed set of struct types.
#[derive(Debug, Clone, Default)]
pub struct StructTable {
    structs: HashMap<String, HashMap<String, Type>>,
}

impl StructTable {
    /// No types yet.
    pub fn new() -> Self {
        StructTable::default()
    }

    /// Adds a struct type with its fields.
    #[must_use]
    pub fn with<'a>(mut self, type_name: &str, fields: impl IntoIterator<Item = (&'a str, Type)>) -> Self {
        let fields = fields.into_iter().map(|(name, ty)| (name.to_owned(), ty)).collect();
        self.structs.insert(type_name.to_owned(), fields);
        self
    }
}

impl TypeProvider for StructTable {
    fn has_struct(&self, type_name: &str) -> bool {
        self.structs.contains_key(type_name)
    }

    fn field_type(&self, type_name: &str, field: &str) -> Option<Type> {
        self.structs.get(type_name)?.get(field).cloned()
    }
}
