//! Schema → type, by upstream's rules (`SchemaDeclType` in `pkg/cel/common/schemas.go`).

use std::collections::BTreeMap;

use celgate_cel::types::Type;

use super::schema::Schema;
use crate::escaping::escape;

/// The type of a schema, whose structs have no names yet.
#[derive(Debug, Clone, PartialEq)]
pub enum DeclType {
    /// A scalar, or `dyn` for what is either a number or a string.
    Scalar(Type),
    /// A list.
    List(Box<DeclType>),
    /// A map from strings.
    Map(Box<DeclType>),
    /// A struct with fields by their escaped names.
    Object(BTreeMap<String, DeclType>),
}

/// The type of a resource with this schema; `None` if expressions cannot see any of it, which makes it `dyn` to them.
///
/// Nullable, `x-kubernetes-preserve-unknown-fields` and constraints on values make no difference: an object has the fields
/// that its schema names and no others.
pub fn declare(schema: &Schema) -> Option<DeclType> {
    schema_type(schema, true)
}

fn schema_type(schema: &Schema, is_resource: bool) -> Option<DeclType> {
    if schema.is_int_or_string() {
        return Some(DeclType::Scalar(Type::Dyn));
    }
    match schema.main_type() {
        "array" => Some(DeclType::List(Box::new(element_type(schema.items.0.as_deref()?)?))),
        "object" => match schema.additional_properties.0.as_deref() {
            Some(values) => Some(DeclType::Map(Box::new(element_type(values)?))),
            None => Some(DeclType::Object(fields(schema, is_resource))),
        },
        "string" => Some(DeclType::Scalar(match schema.format.as_str() {
            "byte" => Type::Bytes,
            "duration" => Type::Duration,
            "date" | "date-time" => Type::Timestamp,
            _ => Type::String,
        })),
        "boolean" => Some(DeclType::Scalar(Type::Bool)),
        "number" => Some(DeclType::Scalar(Type::Double)),
        "integer" => Some(DeclType::Scalar(Type::Int)),
        _ => None,
    }
}

fn element_type(schema: &Schema) -> Option<DeclType> {
    schema_type(schema, schema.is_embedded_resource())
}

/// Every resource has kind, apiVersion, metadata.name and metadata.generateName. One whose schema lacks any of them gets them,
/// and no other metadata (`WithTypeAndObjectMeta`). What has no type, or no name that CEL can write, is left out.
fn fields(schema: &Schema, is_resource: bool) -> BTreeMap<String, DeclType> {
    let implied = if is_resource && !has_type_and_meta(schema) { type_and_meta() } else { BTreeMap::new() };
    let own = schema.properties.iter().flatten().filter(|(name, _)| !implied.contains_key(*name));
    let mut fields: BTreeMap<String, DeclType> =
        own.filter_map(|(name, property)| Some((escape(name)?, element_type(property)?))).collect();
    fields.extend(implied);
    fields
}

fn has_type_and_meta(schema: &Schema) -> bool {
    let is = |schema: Option<&Schema>, name| schema.is_some_and(|schema| schema.has_type(name));
    let metadata = schema.property("metadata");
    let in_metadata = |name| metadata.and_then(|metadata| metadata.property(name));
    is(schema.property("kind"), "string")
        && is(schema.property("apiVersion"), "string")
        && is(metadata, "object")
        && is(in_metadata("name"), "string")
        && is(in_metadata("generateName"), "string")
}

fn type_and_meta() -> BTreeMap<String, DeclType> {
    let string = |name: &str| (name.to_owned(), DeclType::Scalar(Type::String));
    let metadata = DeclType::Object(BTreeMap::from([string("name"), string("generateName")]));
    BTreeMap::from([string("kind"), string("apiVersion"), ("metadata".to_owned(), metadata)])
}
