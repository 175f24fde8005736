//! What an [`Environment`](super::Environment) declares, as JSON.

use celgate_cel::decls::VariableDecl;
use celgate_cel::types::Type;
use celgate_k8s::environment::{Version, keywords_as_fields};
use celgate_k8s::openapi::{DeclaredTypes, Schema, declare};
use celgate_k8s::{cidr, ip};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Declarations {
    variables: Vec<Variable>,
    /// Declares the authorizer.
    #[serde(default)]
    pub(super) request_resource: Option<Resource>,
    /// The minor version whose environment it is; that of stored expressions without one.
    #[serde(default)]
    minor_version: Option<u32>,
    /// Counts cost as if every expression needed [`celgate_cel::plan::Program::with_tracking`]: for tests.
    #[serde(default)]
    pub(super) tracked: bool,
}

/// A variable of a type, or of the type that a schema has under that name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variable {
    name: String,
    r#type: TypeText,
    #[serde(default)]
    schema: Option<Schema>,
}

/// A type: its name, or a list of the name of a generic type and its parameters.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum TypeText {
    Name(String),
    Generic(Vec<TypeText>),
}

/// What a resource check asks about.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Resource {
    pub(super) group: String,
    pub(super) resource: String,
    pub(super) subresource: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

impl Declarations {
    /// The variables, and the types that their schemas declare.
    pub(super) fn variables(&self) -> Result<(Vec<VariableDecl>, DeclaredTypes), String> {
        let mut types = DeclaredTypes::new(keywords_as_fields(self.version()));
        let mut declared = Vec::with_capacity(self.variables.len());
        for variable in &self.variables {
            let ty = match (&variable.schema, &variable.r#type) {
                (None, ty) => ty.read()?,
                (Some(schema), TypeText::Name(name)) => {
                    declare(schema).map_or(Type::Dyn, |declared| types.add(name, &declared))
                }
                (Some(_), TypeText::Generic(_)) => return Err("the type of a schema has no name".to_owned()),
            };
            declared.push(VariableDecl::new(variable.name.as_str(), ty));
        }
        Ok((declared, types))
    }

    pub(super) fn version(&self) -> Version {
        self.minor_version.map_or(Version::STORED, Version::minor)
    }
}

impl TypeText {
    fn read(&self) -> Result<Type, String> {
        match self {
            TypeText::Name(name) => Ok(named(name)),
            TypeText::Generic(parts) => match parts.as_slice() {
                [TypeText::Name(name), parameters @ ..] => {
                    let parameters = parameters.iter().map(TypeText::read).collect::<Result<Vec<Type>, String>>()?;
                    generic(name, &parameters)
                        .ok_or_else(|| format!("no generic type {name:?} of {}", parameters.len()))
                }
                _ => Err("a generic type has no name".to_owned()),
            },
        }
    }
}

fn named(name: &str) -> Type {
    match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "dyn" => Type::Dyn,
        "int" => Type::Int,
        "null_type" => Type::Null,
        "string" => Type::String,
        "uint" => Type::Uint,
        cidr::TYPE_NAME | ip::TYPE_NAME => Type::opaque(name),
        // Durations, timestamps and the like are known by their message names.
        name => Type::object(name),
    }
}

fn generic(name: &str, parameters: &[Type]) -> Option<Type> {
    match (name, parameters) {
        ("list", [element]) => Some(Type::list(element.clone())),
        ("map", [key, value]) => Some(Type::map(key.clone(), value.clone())),
        ("optional_type", [inner]) => Some(Type::optional(inner.clone())),
        ("wrapper", [of @ (Type::Bool | Type::Bytes | Type::Double | Type::Int | Type::String | Type::Uint)]) => {
            Some(Type::Wrapper(of.clone().into()))
        }
        ("type", [of]) => Some(Type::type_of(of.clone())),
        _ => None,
    }
}
