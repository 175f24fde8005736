use celgate_cel::decls::TypeProvider;
use celgate_cel::types::Type;

use super::{DeclaredTypes, Schema, declare};

fn types(schema: &str) -> (Option<Type>, DeclaredTypes) {
    let mut types = DeclaredTypes::new(true);
    let declared = declare(&Schema::from_json(schema.as_bytes()).unwrap());
    (declared.map(|declared| types.add("Thing7", &declared)), types)
}

/// The type of a property of a resource.
fn property(schema: &str) -> Option<Type> {
    let (_, types) = types(&format!(r#"{{"type":"object","properties":{{"p":{schema}}}}}"#));
    types.field_type("Thing7", "p")
}

#[test]
fn types_of_properties() {
    for (schema, ty) in [
        (r#"{"type":"string"}"#, Some(Type::String)),
        (r#"{"type":"string","nullable":true,"maxLength":3,"enum":["a"]}"#, Some(Type::String)),
        (r#"{"type":["string","null"]}"#, Some(Type::String)),
        (r#"{"type":"string","format":"byte"}"#, Some(Type::Bytes)),
        (r#"{"type":"string","format":"date"}"#, Some(Type::Timestamp)),
        (r#"{"type":"string","format":"date-time"}"#, Some(Type::Timestamp)),
        (r#"{"type":"string","format":"duration"}"#, Some(Type::Duration)),
        (r#"{"type":"string","format":"uuid"}"#, Some(Type::String)),
        (r#"{"type":"string","format":"int-or-string"}"#, Some(Type::Dyn)),
        (r#"{"x-kubernetes-int-or-string":true}"#, Some(Type::Dyn)),
        (r#"{"x-kubernetes-int-or-string":"true"}"#, None),
        (r#"{"type":"integer","format":"int32"}"#, Some(Type::Int)),
        (r#"{"type":"number"}"#, Some(Type::Double)),
        (r#"{"type":"boolean"}"#, Some(Type::Bool)),
        (r#"{"x-kubernetes-preserve-unknown-fields":true}"#, None),
        (r#"{"type":"array"}"#, None),
        (r#"{"type":"array","items":{}}"#, None),
        (r#"{"type":"array","items":[{"type":"string"}]}"#, None),
        (r#"{"type":"array","items":{"type":"string"}}"#, Some(Type::list(Type::String))),
        (r#"{"type":"array","items":{"type":"object"}}"#, Some(Type::list(Type::object("Thing7.p.@idx")))),
        (r#"{"type":"object","additionalProperties":{"type":"integer"}}"#, Some(Type::map(Type::String, Type::Int))),
        (r#"{"type":"object","additionalProperties":{}}"#, None),
        (r#"{"type":"object","additionalProperties":true}"#, Some(Type::object("Thing7.p"))),
        (r#"{"type":"object"}"#, Some(Type::object("Thing7.p"))),
        (r#"{"properties":{"a":{"type":"string"}}}"#, None),
    ] {
        assert_eq!(property(schema), ty, "{schema}");
    }
}

#[test]
fn metadata_is_replaced_unless_it_is_whole() {
    let (_, partial) = types(
        r#"{"type":"object","properties":{"kind":{"type":"string"},"metadata":{"type":"object","properties":{"labels":{"type":"object"}}}}}"#,
    );
    assert_eq!(partial.field_type("Thing7.metadata", "name"), Some(Type::String));
    assert_eq!(partial.field_type("Thing7.metadata", "labels"), None);
    let (_, whole) = types(
        r#"{"type":"object","properties":{"kind":{"type":"string"},"apiVersion":{"type":"string"},"metadata":{"type":"object",
            "properties":{"name":{"type":"string"},"generateName":{"type":"string"},"namespace":{"type":"string"}}}}}"#,
    );
    assert_eq!(whole.field_type("Thing7.metadata", "namespace"), Some(Type::String));
    let (_, embedded) = types(
        r#"{"type":"object","properties":{"t":{"type":"object","x-kubernetes-embedded-resource":true},"u":{"type":"object"}}}"#,
    );
    assert_eq!(embedded.field_type("Thing7.t.metadata", "generateName"), Some(Type::String));
    assert_eq!(embedded.field_type("Thing7.u", "metadata"), None);
}

#[test]
fn keywords_are_fields_since_1_31() {
    let schema = Schema::from_json(br#"{"type":"object","properties":{"namespace":{"type":"integer"}}}"#).unwrap();
    let declared = declare(&schema).unwrap();
    for keywords in [false, true] {
        let mut types = DeclaredTypes::new(keywords);
        types.add("T", &declared);
        assert_eq!(types.field_type("T", "__namespace__"), Some(Type::Int));
        assert_eq!(types.field_type("T", "namespace"), keywords.then_some(Type::Int));
    }
}

#[test]
fn lists_and_maps_have_names() {
    let (root, nested) = types(
        r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","additionalProperties":{"type":"object"}}}}}"#,
    );
    assert_eq!(root, Some(Type::object("Thing7")));
    let elements = Type::map(Type::String, Type::object("Thing7.a.@idx.@elem"));
    assert_eq!(nested.struct_type("Thing7.a"), Some(Type::list(elements.clone())));
    assert_eq!(nested.struct_type("Thing7.a.@idx"), Some(elements));
    let (root, map) = types(r#"{"type":"object","additionalProperties":{"type":"object"}}"#);
    assert_eq!(root, Some(Type::map(Type::String, Type::object("Thing7.@elem"))));
    assert_eq!(map.struct_type("map"), root);
    assert!(map.has_struct("Thing7.@elem"));
}

#[test]
fn a_resource_without_a_type_is_not_declared() {
    assert_eq!(types("{}").0, None);
    assert_eq!(types(r#"{"type":"string"}"#).0, Some(Type::String));
    assert!(Schema::from_json(b"7").is_err());
    assert!(Schema::from_json(br#"{"type":7}"#).is_err());
}

#[test]
fn schemas_nested_without_end_are_refused() {
    let deep = format!("{}{{}}{}", r#"{"type":"array","items":"#.repeat(1000), "}".repeat(1000));
    assert!(Schema::from_json(deep.as_bytes()).is_err());
}
