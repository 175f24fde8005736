//! `kubernetes.regex`: `find` and `findAll` (`pkg/cel/library/regex.go`).

use celgate_cel::context::EvalContext;
use celgate_cel::decls::{FunctionDecl, OverloadDecl};
use celgate_cel::function::{Implementation, Library};
use celgate_cel::regex;
use celgate_cel::types::Type;
use celgate_cel::value::Value;

use crate::args::no_such_overload;
use crate::cost;

/// A text whose matches may be many, in bytes.
const LONG_TEXT: usize = 64 << 10;

/// The library.
pub static LIBRARY: Library = Library {
    name: "kubernetes.regex",
    functions,
    implementations: &[
        Implementation { id: "string_find_string", eval: find, cost: Some(match_cost) },
        Implementation { id: "string_find_all_string", eval: find_all, cost: Some(match_cost) },
        Implementation { id: "string_find_all_string_int", eval: find_all, cost: Some(match_cost) },
    ],
};

fn functions() -> Vec<FunctionDecl> {
    let strings = || vec![Type::String, Type::String];
    let with_limit = vec![Type::String, Type::String, Type::Int];
    let list = || Type::list(Type::String);
    vec![
        FunctionDecl::new("find", vec![OverloadDecl::member("string_find_string", strings(), Type::String)]),
        FunctionDecl::new(
            "findAll",
            vec![
                OverloadDecl::member("string_find_all_string", strings(), list()),
                OverloadDecl::member("string_find_all_string_int", with_limit, list()),
            ],
        ),
    ]
}

/// Compiles the pattern and applies it, or gives upstream's error.
fn with_regex<'a>(ctx: &EvalContext<'a>, pattern: &str, result: impl FnOnce(&regex::Regex) -> Value<'a>) -> Value<'a> {
    match regex::get(ctx, pattern) {
        Ok(regex) => result(&regex),
        Err(message) => ctx.errorf(format_args!("Illegal regex: {message}")),
    }
}

fn find<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match strings(ctx, args) {
        Ok((text, pattern)) => with_regex(ctx, pattern, |regex| Value::String(regex.find(text).unwrap_or_default())),
        Err(error) => error,
    }
}

fn find_all<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let (text, pattern) = match strings(ctx, args) {
        Ok(strings) => strings,
        Err(error) => return error,
    };
    let limit = match args.get(2).copied() {
        // A negative limit is none.
        Some(Value::Int(limit) | Value::Optional(Some(&Value::Int(limit)))) => {
            usize::try_from(limit).unwrap_or(usize::MAX)
        }
        Some(other) => return no_such_overload(ctx, other),
        None => usize::MAX,
    };
    with_regex(ctx, pattern, |regex| {
        // A long list is counted first, since growing it would take twice its memory.
        let count = if text.len() > LONG_TEXT { regex.find_all(text).take(limit).count() } else { 0 };
        if let Some(halt) = ctx.no_room(count * size_of::<Value<'a>>()) {
            return halt;
        }
        let mut found = bumpalo::collections::Vec::with_capacity_in(count, ctx.arena);
        found.extend(regex.find_all(text).take(limit).map(Value::String));
        Value::List(found.into_bump_slice())
    })
}

/// Text and pattern. With a constant pattern upstream calls these functions without type guards, and takes whatever has a
/// Go string as its value.
fn strings<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Result<(&'a str, &'a str), Value<'a>> {
    let string = |i: usize| {
        let value = args.get(i).copied().unwrap_or(Value::Null);
        value.go_string().ok_or_else(|| no_such_overload(ctx, value))
    };
    Ok((string(0)?, string(1)?))
}

fn match_cost<'a>(_: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    cost::regex(cost::size_at(args, 0), cost::size_at(args, 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{call, show, text, with_context};

    #[test]
    fn first_match_and_all_matches() {
        with_context(|ctx| {
            let find = |s, re| show(call(ctx, &LIBRARY, "string_find_string", &[text(ctx, s), text(ctx, re)]));
            assert_eq!(find("abc 123", "[0-9]+"), "\"123\"");
            assert_eq!(find("abc 123", "xyz"), "\"\"");
            let all = |s, re, limit| {
                show(call(
                    ctx,
                    &LIBRARY,
                    "string_find_all_string_int",
                    &[text(ctx, s), text(ctx, re), Value::Int(limit)],
                ))
            };
            assert_eq!(all("12 ab 34", "[0-9]+", -1), r#"["12", "34"]"#);
            assert_eq!(all("12 ab 34", "[0-9]+", 1), r#"["12"]"#);
            assert_eq!(all("12 ab 34", "[0-9]+", 0), "[]");
            assert_eq!(all("aé", "", -1), r#"["", "", ""]"#);
            assert_eq!(all("a1b", "[0-9]*", -1), r#"["", "1", ""]"#);
        });
    }
}
