//! An OpenAPI v3 schema as JSON, with all references resolved (`k8s.io/kube-openapi/pkg/validation/spec`).

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The format that built-in types have where custom resources have `x-kubernetes-int-or-string`.
const INT_OR_STRING: &str = "int-or-string";

/// What CEL's types depend on.
#[derive(Debug, Clone, Default, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schema {
    /// Types; the first one counts.
    #[serde(default, rename = "type")]
    pub(super) types: Types,
    #[serde(default, deserialize_with = "nullable")]
    pub(super) format: String,
    #[serde(default)]
    pub(super) items: Items,
    #[serde(default)]
    pub(super) properties: Option<BTreeMap<String, Schema>>,
    #[serde(default)]
    pub(super) additional_properties: Items,
    #[serde(default, rename = "x-kubernetes-int-or-string")]
    int_or_string: Flag,
    #[serde(default, rename = "x-kubernetes-embedded-resource")]
    embedded_resource: Flag,
}

impl Schema {
    /// Reads a schema. The error says what is not a schema; nesting of more than 128 levels of JSON is one.
    pub fn from_json(json: &[u8]) -> Result<Schema, String> {
        serde_json::from_slice(json).map_err(|error| format!("schema: {error}"))
    }

    /// The type that counts; empty if there is none.
    pub(super) fn main_type(&self) -> &str {
        self.types.0.first().map_or("", String::as_str)
    }

    pub(super) fn has_type(&self, name: &str) -> bool {
        self.types.0.iter().any(|known| known == name)
    }

    pub(super) fn property(&self, name: &str) -> Option<&Schema> {
        self.properties.as_ref()?.get(name)
    }

    pub(super) fn is_int_or_string(&self) -> bool {
        self.format == INT_OR_STRING || self.int_or_string.0
    }

    pub(super) fn is_embedded_resource(&self) -> bool {
        self.embedded_resource.0
    }
}

fn nullable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.unwrap_or_default())
}

/// One type, or a list of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Types(Vec<String>);

/// The schema of elements. Booleans, and lists of schemas by position, say nothing that CEL knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Items(pub(super) Option<Box<Schema>>);

/// An extension that is set; anything but `true` does not count.
#[derive(Debug, Clone, Copy, Default)]
struct Flag(bool);

impl<'de> Deserialize<'de> for Types {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Types;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a type or a list of types")
            }

            fn visit_unit<E>(self) -> Result<Types, E> {
                Ok(Types::default())
            }

            fn visit_str<E>(self, name: &str) -> Result<Types, E> {
                Ok(Types(vec![name.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Types, A::Error> {
                let mut types = Vec::new();
                while let Some(name) = names.next_element()? {
                    types.push(name);
                }
                Ok(Types(types))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MaybeSchema;
        impl<'de> Visitor<'de> for MaybeSchema {
            type Value = Items;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a schema, a list of schemas or a boolean")
            }

            fn visit_unit<E>(self) -> Result<Items, E> {
                Ok(Items(None))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Items, E> {
                Ok(Items(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut schemas: A) -> Result<Items, A::Error> {
                while schemas.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Items(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Items, A::Error> {
                let schema = Schema::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Items(Some(Box::new(schema))))
            }
        }
        deserializer.deserialize_any(MaybeSchema)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(untagged)]
        enum Anything {
            Bool(bool),
            Other(IgnoredAny),
        }
        Ok(match Anything::deserialize(deserializer)? {
            Anything::Bool(set) => Flag(set),
            Anything::Other(_) => Flag(false),
        })
    }
}
