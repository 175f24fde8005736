use super::*;
use crate::check::check;
use crate::decls::{FunctionDecl, OverloadDecl, VariableDecl};
use crate::env::{Env, EnvBuilder};
use crate::library::standard::decls;
use crate::parser::{ParseOptions, parse};

fn env(validators: &[Validator]) -> Env {
    let format = OverloadDecl::member("string_format", vec![Type::String, Type::list(Type::Dyn)], Type::String);
    let builder = EnvBuilder::new()
        .functions(decls::functions())
        .functions(decls::optional_functions())
        .functions([FunctionDecl::new("format", vec![format])]);
    let builder = validators.iter().fold(builder, |builder, validator| builder.validator(*validator));
    builder.build().with_variables([VariableDecl::new("object", Type::Dyn)])
}

fn messages(validators: &[Validator], text: &str) -> Vec<String> {
    let checked = parse(text, &ParseOptions::kubernetes()).and_then(|ast| check(ast, &env(validators)));
    let errors = checked.map_or_else(|issues| issues.errors().to_vec(), |_| Vec::new());
    errors.into_iter().map(|issue| issue.message).collect()
}

#[test]
fn literal_arguments() {
    use Validator::{DurationLiterals, RegexLiterals, TimestampLiterals};
    let cases = [
        (DurationLiterals, "duration('1.5h')", None),
        (DurationLiterals, "duration('1')", Some("invalid duration argument")),
        (DurationLiterals, "duration(object.a)", None),
        (TimestampLiterals, "timestamp('2020-02-29T00:00:00Z')", None),
        (TimestampLiterals, "timestamp('2021-02-29T00:00:00Z')", Some("invalid timestamp argument")),
        (TimestampLiterals, "timestamp(253402300799)", None),
        (TimestampLiterals, "timestamp(253402300800)", Some("invalid timestamp argument")),
        (RegexLiterals, "'a'.matches('[a-z]+')", None),
        (RegexLiterals, "'a'.matches('[')", Some("invalid matches argument")),
        // The first argument of the global form is the text, not the pattern.
        (RegexLiterals, "matches('a', '[')", None),
        (RegexLiterals, "matches('[', 'a')", Some("invalid matches argument")),
    ];
    for (validator, text, message) in cases {
        assert_eq!(messages(&[validator], text), Vec::from_iter(message), "{text}");
        assert!(messages(&[], text).is_empty());
    }
}

#[test]
fn mixed_literals() {
    let cases: [(&str, &[&str]); 7] = [
        ("[1, 2]", &[]),
        ("[1, 'a', 2.0]", &["expected type 'int' but found 'string'"]),
        ("1 in [1, object.a]", &["expected type 'int' but found 'dyn'"]),
        (
            "{'a': 1, 2: 'b', 3: 4}",
            &[
                "expected type 'string' but found 'int'",
                "expected type 'int' but found 'string'",
                "expected type 'string' but found 'int'",
            ],
        ),
        (
            "[[1, 'a'], [2]]",
            &["expected type 'int' but found 'string'", "expected type 'list(dyn)' but found 'list(int)'"],
        ),
        ("[?optional.of(1), 2]", &[]),
        ("[?object.?a, 1]", &["expected type 'dyn' but found 'int'"]),
    ];
    for (text, expected) in cases {
        assert_eq!(messages(&[Validator::HomogeneousLiterals], text), expected, "{text}");
    }
}

#[test]
fn arguments_of_format_may_be_mixed() {
    let validators = [Validator::HomogeneousLiterals, Validator::StringFormat];
    assert!(messages(&validators, "'%d%s'.format([1, 'a'])").is_empty());
    assert!(messages(&validators, "'%s'.format([[1, 'a']])").is_empty());
    assert_eq!(messages(&validators, "[1, 'a'] == []").len(), 1);
    assert_eq!(messages(&validators[..1], "'%d%s'.format([1, 'a'])").len(), 1);
}

#[test]
fn format_clauses() {
    let cases = [
        ("'%%'.format([])", None),
        ("'%s%d%f%e%b%x%X%o'.format([{1: [1u]}, 1, 1.0, 1.5, true, b'a', 'a', 1u])", None),
        ("'%.3f'.format([object])", None),
        ("'%'.format([1])", Some("unexpected end of string")),
        ("'%d'.format([])", Some("index 0 out of range")),
        ("'a'.format([1])", Some("too many arguments supplied to string.format (expected 0, got 1)")),
        ("'%q'.format([1])", Some("could not parse formatting clause: unrecognized formatting clause \"q\"")),
        (
            "'%.'.format([1])",
            Some(
                "could not parse formatting clause: error while parsing precision: could not find end of precision specifier",
            ),
        ),
        (
            "'%.f'.format([1.0])",
            Some(
                "could not parse formatting clause: error while parsing precision: error while converting precision to \
             integer: strconv.Atoi: parsing \"\": invalid syntax",
            ),
        ),
        (
            "'%d'.format(['a'])",
            Some("error during formatting: decimal clause can only be used on integers, was given string"),
        ),
        (
            "'%s'.format([[optional.of(1)]])",
            Some(
                "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, \
             lists, types, durations, and timestamps, was given optional_type",
            ),
        ),
    ];
    for (text, message) in cases {
        assert_eq!(messages(&[Validator::StringFormat], text), Vec::from_iter(message), "{text}");
    }
}
