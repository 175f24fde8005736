use celgate_cel::parser::{ParseOptions, parse};
use serde_json::{Value, json};

use super::*;

fn ast(text: &str) -> Expr {
    parse(text, &ParseOptions::kubernetes()).unwrap().expr
}

/// What is read of `object`, as JSON.
fn object(variables: &[(&str, &str)], expressions: &[&str]) -> Value {
    let mut analysis = Analysis::new();
    variables.iter().for_each(|(name, text)| analysis.variable(name, &ast(text)));
    expressions.iter().for_each(|text| analysis.expression(&ast(text)));
    serde_json::to_value(analysis.finish().unpack().object).unwrap()
}

fn fields(value: Value) -> Value {
    json!({ "fields": value })
}

#[test]
fn chains_of_fields() {
    assert_eq!(object(&[], &["true"]), json!({}));
    assert_eq!(object(&[], &["object.spec.replicas > 1"]), fields(json!({"spec": fields(json!({"replicas": true}))})));
    assert_eq!(
        object(&[], &["has(object.spec.a) && object['metadata'][?'labels'].hasValue()"]),
        fields(json!({"spec": fields(json!({"a": {}})), "metadata": fields(json!({"labels": {}}))}))
    );
    assert_eq!(
        object(&[], &["object.?spec.?replicas.orValue(1) == 1"]),
        fields(json!({"spec": fields(json!({"replicas": true}))}))
    );
    assert_eq!(object(&[], &["object == null"]), json!({"nonempty": true}));
    for whole in [
        "object == oldObject",
        "size(object) == 1",
        "dyn(object) in [1]",
        "[object].all(o, o == 1)",
        "type(object) == map",
    ] {
        let projection = object(&[], &[whole]);
        assert!(projection == json!(true) || projection == json!({"elements": {}}), "{whole}: {projection}");
    }
}

#[test]
fn elements_of_lists() {
    let images = fields(json!({"spec": fields(json!({"containers": {"elements": fields(json!({"image": true}))}}))}));
    for text in [
        "object.spec.containers.all(c, c.image == 'a')",
        "object.spec.containers.map(c, c.image).exists(i, i == 'a')",
        "object.spec.containers.filter(c, has(c.image)).all(c, c.image.startsWith('a'))",
        "object.spec.containers[0].image == 'a'",
        "object.spec.containers.exists(i, c, i > 0 && c.image == 'a')",
        "(object.spec.containers + object.spec.containers).all(c, c.image == 'a')",
        "[object.spec.containers, []].all(l, l.all(c, c.image == 'a'))",
        "{'a': object.spec.containers}.a.all(c, c.image == 'a')",
        "(true ? object.spec.containers : []).all(c, c.image == 'a')",
        "object.spec.?containers.optMap(l, l.all(c, c.image == 'a')).orValue(true)",
    ] {
        assert_eq!(object(&[], &[text]), images, "{text}");
    }
    assert_eq!(
        object(&[], &["size(object.spec.containers) > 1"]),
        fields(json!({"spec": fields(json!({"containers": {"elements": {}}}))}))
    );
}

#[test]
fn variables_are_read_as_far_as_their_readers_do() {
    assert_eq!(
        object(
            &[("spec", "object.spec"), ("containers", "variables.spec.containers")],
            &["variables.containers.all(c, c.tty)"]
        ),
        fields(json!({"spec": fields(json!({"containers": {"elements": fields(json!({"tty": true}))}}))}))
    );
    assert_eq!(object(&[("spec", "object.spec")], &["true"]), fields(json!({"spec": {}})));
    assert_eq!(object(&[("spec", "object.spec")], &["variables.exists(k, true)"]), fields(json!({"spec": true})));
    assert_eq!(object(&[("a", "variables.b.c"), ("b", "object.spec")], &["true"]), json!(true), "not known yet");
    assert_eq!(
        object(&[("a", "object.a"), ("a", "object.b")], &["variables.a == 1"]),
        fields(json!({"a": true, "b": true}))
    );
}

#[test]
fn what_hides_a_name_is_not_the_object() {
    assert_eq!(object(&[], &["[1].all(object, object == 1)"]), json!({}));
    assert_eq!(object(&[], &["[1].all(object, .object.spec == 1)"]), fields(json!({"spec": true})));
    assert_eq!(object(&[], &["oldObject.spec == 1"]), json!({}));
}

#[test]
fn nests_of_loops_end() {
    let nest = (0..30).fold("object.a == 1".to_owned(), |inner, i| format!("[[1]].map(v{i}, {inner})"));
    let projection = object(&[], &[&format!("{nest} == []")]);
    assert!(projection == json!(true) || projection == fields(json!({"a": true})), "{projection}");
    let growing = (0..8).fold("object.a".to_owned(), |inner, _| format!("[{inner}]"));
    assert_eq!(object(&[], &[&format!("{growing}.all(x, x == 1)")]), fields(json!({"a": true})));
}

#[test]
fn projections_merge() {
    let of = |text: &str| {
        let mut analysis = Analysis::new();
        analysis.expression(&ast(text));
        analysis.finish()
    };
    let mut merged = of("object.a.b == 1").unpack();
    merged.merge(&of("object.a.c == 1 && object.z.all(x, x.y == 1) && object.d == null"));
    assert_eq!(
        merged,
        of("object.a.c == 1 && object.a.b == 1 && object.d == null && object.z.all(x, x.y == 1)").unpack()
    );
    merged.merge(&of("object.a == object.b"));
    assert_eq!(merged, of("object.a == object.b && object.d == null && object.z.all(x, x.y == 1)").unpack());
    merged.merge(&of("[object] == []"));
    assert_eq!(serde_json::to_value(&merged.object).unwrap(), json!(true));
}
