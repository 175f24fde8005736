//! What an [`Environment`](super::Environment) declares, as JSON.

use celgate_cel::decls::VariableDecl;
use celgate_cel::types::Type;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Declarations {
    variables: Vec<Variable>,
    /// Declares the authorizer.
    #[serde(default)]
    pub(super) request_resource: Option<Resource>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variable {
    name: String,
    r#type: TypeText,
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
    pub(super) fn variables(&self) -> Result<Vec<VariableDecl>, String> {
        let variable =
            |variable: &Variable| Ok(VariableDecl { name: variable.name.clone(), ty: variable.r#type.read()? });
        self.variables.iter().map(variable).collect()
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
