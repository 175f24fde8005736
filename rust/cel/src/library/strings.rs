//! Functions on strings (cel-go `ext/strings.go`, version 2), with Kubernetes' costs (apiserver `pkg/cel/library/cost.go`).
//!
//! Positions are code points.

mod format;
mod number;
mod search;
#[cfg(test)]
mod tests;

use bumpalo::collections::{String as ArenaString, Vec as ArenaVec};

use crate::context::EvalContext;
use crate::decls::{FunctionDecl, OverloadDecl};
use crate::function::{CostFn, EvalFn, Implementation, Library};
use crate::gotext::escape;
use crate::ops::format::GoValue;
use crate::ops::size::{code_points, size, walk};
use crate::types::Type;
use crate::value::{ListView, Value};

/// The library, version 2.
pub static LIBRARY: Library = Library { name: NAME, functions: functions_2, implementations: IMPLEMENTATIONS };

/// Version 0, which has neither `format` nor `strings.quote`. (What `join` does with other elements than strings is version 2's.)
pub static LIBRARY_0: Library = Library { name: NAME, functions: functions_0, implementations: IMPLEMENTATIONS };

const NAME: &str = "cel.lib.ext.strings";

/// The longest string that `replace` and `format` make, in bytes. Upstream has no limit, and does not charge for the result.
const MAX_RESULT_BYTES: usize = 64 << 20;

const IMPLEMENTATIONS: &[Implementation] = &[
    implementation("string_char_at_int", search::char_at, None),
    implementation("string_index_of_string", search::index_of, Some(tenth_of_bytes)),
    implementation("string_index_of_string_int", search::index_of, Some(tenth_of_bytes)),
    implementation("string_last_index_of_string", search::last_index_of, Some(tenth_of_bytes)),
    implementation("string_last_index_of_string_int", search::last_index_of, Some(tenth_of_bytes)),
    implementation("string_lower_ascii", lower_ascii, Some(once)),
    implementation("string_replace_string_string", replace, Some(twice)),
    implementation("string_replace_string_string_int", replace, Some(twice)),
    implementation("string_split_string", split, Some(twice)),
    implementation("string_split_string_int", split, Some(twice)),
    implementation("string_substring_int", search::substring, Some(once)),
    implementation("string_substring_int_int", search::substring, Some(once)),
    implementation("string_trim", trim, Some(once)),
    implementation("string_upper_ascii", upper_ascii, Some(once)),
    implementation("string_format", format::format, None),
    implementation("strings_quote", quote, None),
    implementation("list_join", join, Some(of_result)),
    implementation("list_join_string", join, Some(of_result)),
];

const fn implementation(id: &'static str, eval: EvalFn, cost: Option<CostFn>) -> Implementation {
    Implementation { id, eval, cost }
}

/// A method of strings.
fn member(id: &'static str, rest: &[Type], result: Type) -> OverloadDecl {
    let args = std::iter::once(Type::String).chain(rest.iter().cloned()).collect();
    OverloadDecl::member(id, args, result)
}

fn one(name: &'static str, overload: OverloadDecl) -> FunctionDecl {
    FunctionDecl::new(name, vec![overload])
}

fn functions_2() -> Vec<FunctionDecl> {
    let mut out = functions_0();
    out.push(one("format", member("string_format", &[Type::list(Type::Dyn)], Type::String)));
    out.push(one("strings.quote", OverloadDecl::global("strings_quote", vec![Type::String], Type::String)));
    out
}

fn functions_0() -> Vec<FunctionDecl> {
    use Type::{Int, String};
    let strings = || Type::list(String);
    let search = |name, id, id_from| {
        FunctionDecl::new(name, vec![member(id, &[String], Int), member(id_from, &[String, Int], Int)])
    };
    vec![
        one("charAt", member("string_char_at_int", &[Int], String)),
        search("indexOf", "string_index_of_string", "string_index_of_string_int"),
        search("lastIndexOf", "string_last_index_of_string", "string_last_index_of_string_int"),
        one("lowerAscii", member("string_lower_ascii", &[], String)),
        FunctionDecl::new(
            "replace",
            vec![
                member("string_replace_string_string", &[String, String], String),
                member("string_replace_string_string_int", &[String, String, Int], String),
            ],
        ),
        FunctionDecl::new(
            "split",
            vec![
                member("string_split_string", &[String], strings()),
                member("string_split_string_int", &[String, Int], strings()),
            ],
        ),
        FunctionDecl::new(
            "substring",
            vec![
                member("string_substring_int", &[Int], String),
                member("string_substring_int_int", &[Int, Int], String),
            ],
        ),
        one("trim", member("string_trim", &[], String)),
        one("upperAscii", member("string_upper_ascii", &[], String)),
        FunctionDecl::new(
            "join",
            vec![
                OverloadDecl::member("list_join", vec![strings()], String),
                OverloadDecl::member("list_join_string", vec![strings(), String], String),
            ],
        ),
    ]
}

/// What the type guards keep from happening.
fn no_such_overload<'a>(ctx: &EvalContext<'a>) -> Value<'a> {
    ctx.error("no such overload")
}

fn lower_ascii<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        [Value::String(text)] if text.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            if let Some(halt) = ctx.no_room(text.len()) {
                return halt;
            }
            let copy = ctx.arena.alloc_str(text);
            copy.make_ascii_lowercase();
            Value::String(copy)
        }
        [text @ Value::String(_)] => *text,
        _ => no_such_overload(ctx),
    }
}

fn upper_ascii<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        [Value::String(text)] if text.bytes().any(|byte| byte.is_ascii_lowercase()) => {
            if let Some(halt) = ctx.no_room(text.len()) {
                return halt;
            }
            let copy = ctx.arena.alloc_str(text);
            copy.make_ascii_uppercase();
            Value::String(copy)
        }
        [text @ Value::String(_)] => *text,
        _ => no_such_overload(ctx),
    }
}

fn trim<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    match args {
        // Rust's white space is Go's: Unicode's White_Space.
        [Value::String(text)] => Value::String(text.trim()),
        _ => no_such_overload(ctx),
    }
}

fn replace<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let (text, old, new, limit) = match args {
        [Value::String(text), Value::String(old), Value::String(new)] => (*text, *old, *new, usize::MAX),
        [Value::String(text), Value::String(old), Value::String(new), Value::Int(limit)] => {
            (*text, *old, *new, usize::try_from(*limit).unwrap_or(usize::MAX))
        }
        _ => return no_such_overload(ctx),
    };
    let count = text.matches(old).take(limit).count();
    let len = text.len().checked_add(count.saturating_mul(new.len())).map(|len| len - count * old.len());
    let Some(len) = len.filter(|len| *len <= MAX_RESULT_BYTES) else {
        return too_long(ctx, "replace");
    };
    if count == 0 {
        return Value::String(text);
    }
    if let Some(halt) = ctx.no_room(len) {
        return halt;
    }
    let mut out = ArenaString::with_capacity_in(len, ctx.arena);
    let mut rest = 0;
    for (at, found) in text.match_indices(old).take(count) {
        out.push_str(text.get(rest..at).unwrap_or(""));
        out.push_str(new);
        rest = at + found.len();
    }
    out.push_str(text.get(rest..).unwrap_or(""));
    Value::String(out.into_bump_str())
}

fn too_long<'a>(ctx: &EvalContext<'a>, function: &str) -> Value<'a> {
    ctx.errorf(format_args!("{function}: result exceeds {MAX_RESULT_BYTES} bytes"))
}

fn split<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let (text, separator, limit) = match args {
        [Value::String(text), Value::String(separator)] => (*text, *separator, usize::MAX),
        [Value::String(text), Value::String(separator), Value::Int(limit)] => {
            (*text, *separator, usize::try_from(*limit).unwrap_or(usize::MAX))
        }
        _ => return no_such_overload(ctx),
    };
    let mut chars = separator.chars();
    let single = match (chars.next(), chars.next()) {
        (Some(one), None) => Some(one),
        _ => None,
    };
    let count = match single {
        Some(one) => text.matches(one).count() + 1,
        None if separator.is_empty() => text.chars().count(),
        None => text.matches(separator).count() + 1,
    };
    let count = count.min(limit);
    if let Some(halt) = ctx.no_room(count.saturating_mul(std::mem::size_of::<Value<'a>>())) {
        return halt;
    }
    let mut parts = ArenaVec::with_capacity_in(count, ctx.arena);
    if separator.is_empty() {
        let mut rest = text;
        while let Some(char) = rest.chars().next().filter(|_| parts.len() < limit) {
            let len = if parts.len() + 1 == limit { rest.len() } else { char.len_utf8() };
            let (part, after) = rest.split_at(len);
            parts.push(Value::String(part));
            rest = after;
        }
    } else if let Some(one) = single {
        parts.extend(text.splitn(limit, one).map(Value::String));
    } else {
        parts.extend(text.splitn(limit, separator).map(Value::String));
    }
    Value::List(parts.into_bump_slice())
}

fn join<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let (list, separator) = match args {
        [list] => (ListView::of(*list), ""),
        [list, Value::String(separator)] => (ListView::of(*list), *separator),
        _ => (None, ""),
    };
    let Some(list) = list else {
        return no_such_overload(ctx);
    };
    let (mut bytes, mut chars) = (0usize, 0u64);
    let (separator_bytes, separator_chars) = (separator.len(), code_points(separator));
    for (index, element) in list.iter().enumerate() {
        let Value::String(text) = element else {
            return ctx.errorf(format_args!("join: invalid input: {}", GoValue(element)));
        };
        let (before_bytes, before_chars) = if index == 0 { (0, 0) } else { (separator_bytes, separator_chars) };
        bytes = bytes.saturating_add(text.len()).saturating_add(before_bytes);
        chars = chars.saturating_add(code_points(text)).saturating_add(before_chars);
    }
    // A result that will be too dear is not made: upstream makes it, and then ends the evaluation.
    if let Some(halt) = ctx.unaffordable(double_traversal(chars)) {
        return halt;
    }
    if let Some(halt) = ctx.no_room(bytes) {
        return halt;
    }
    let mut out = ArenaString::with_capacity_in(bytes, ctx.arena);
    for (index, element) in list.iter().enumerate() {
        if let Value::String(text) = element {
            out.push_str(if index == 0 { "" } else { separator });
            out.push_str(text);
        }
    }
    Value::String(out.into_bump_str())
}

/// `strings.quote`: as a CEL literal; only what has an escape of one letter is escaped.
fn quote<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(text)] = args else {
        return no_such_overload(ctx);
    };
    if let Some(halt) = ctx.no_room(text.len() * 2) {
        return halt;
    }
    let mut out = ArenaString::with_capacity_in(text.len() + 2, ctx.arena);
    out.push('"');
    for char in text.chars() {
        match escape(char) {
            Some(escaped) => out.push_str(escaped),
            None => out.push(char),
        }
    }
    out.push('"');
    Value::String(out.into_bump_str())
}

/// The size of an argument or result as upstream's `actualSize` has it: 1 for what has none.
fn size_of(value: Option<&Value<'_>>) -> u64 {
    value.and_then(|value| size(*value)).unwrap_or(1)
}

fn double_traversal(size: u64) -> u64 {
    (size as f64 * 2.0 * 0.1).ceil() as u64
}

/// `⌈0.1 · size⌉` of the receiver.
fn once<'a>(_: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    (size_of(args.first()) as f64 * 0.1).ceil() as u64
}

/// `⌈0.2 · size⌉` of the receiver.
fn twice<'a>(_: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    double_traversal(size_of(args.first()))
}

/// `⌈0.2 · size⌉` of the result.
fn of_result<'a>(_: &EvalContext<'a>, _: &[Value<'a>], result: Value<'a>) -> u64 {
    double_traversal(size_of(Some(&result)))
}

/// `⌊0.1 · bytes⌋` of the receiver. Lists have functions of these names, and where the overload is known only at run time
/// this is charged for them too.
fn tenth_of_bytes<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    args.first().map_or(1, |receiver| walk(ctx, *receiver))
}
