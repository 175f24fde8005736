use super::*;
use crate::decls::StructTable;

fn base() -> Env {
    let fields = [("a", Type::Int), ("b", Type::Int)];
    EnvBuilder::new().build().with_provider(Arc::new(StructTable::new().with("T", fields)))
}

#[test]
fn upper_layers_hide_lower_ones() {
    let below = base().with_variables([VariableDecl::new("x", Type::Int), VariableDecl::new("y", Type::Int)]);
    let above = below.with_variables([VariableDecl::new("x", Type::String)]);
    assert_eq!(above.variable("x"), Some(&Type::String));
    assert_eq!(above.variable("y"), Some(&Type::Int));
    assert_eq!(below.variable("x"), Some(&Type::Int));
    assert_eq!(above.variable("z"), None);
}

#[test]
fn fields_are_added_one_by_one() {
    let env = base().with_struct_field("T", "c", Type::Bool).with_struct_field("T", "a", Type::String);
    assert_eq!(env.field_type("T", "a"), Some(Type::String));
    assert_eq!(env.field_type("T", "b"), Some(Type::Int));
    assert_eq!(env.field_type("T", "c"), Some(Type::Bool));
    assert_eq!(env.field_type("U", "c"), None);
    assert!(env.has_struct("T") && !env.has_struct("U"));
}

#[test]
fn the_topmost_provider_of_a_struct_decides() {
    let above = base().with_provider(Arc::new(StructTable::new().with("T", [("a", Type::Bool)])));
    assert_eq!(above.field_type("T", "a"), Some(Type::Bool));
    assert_eq!(above.field_type("T", "b"), None);
}

#[test]
fn well_known_messages_are_there() {
    let env = EnvBuilder::new().build();
    assert_eq!(env.type_named("google.protobuf.Int32Value"), Some(Type::wrapper(Type::Int)));
    assert_eq!(env.type_named("google.protobuf.Empty"), Some(Type::object("google.protobuf.Empty")));
    assert_eq!(env.field_type("google.protobuf.Any", "value"), Some(Type::Bytes));
    assert_eq!(env.type_named("google.protobuf.Field"), None);
    assert_eq!(env.type_named("list"), Some(Type::list(Type::Dyn)));
}

#[test]
fn candidates_are_tried_from_the_innermost_container() {
    let env = EnvBuilder::new().container("a.b").build();
    let mut tried = Vec::new();
    let nothing = env.resolve("x", |name| {
        tried.push(name.to_owned());
        None::<()>
    });
    assert_eq!(nothing, None);
    assert_eq!(tried, ["a.b.x", "a.x", "x"]);
    assert_eq!(env.resolve(".x", |name| Some(name.to_owned())), Some("x".to_owned()));
}
