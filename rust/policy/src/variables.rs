//! A policy's variables: evaluated when first read, once per section, and charged to whoever reads them first
//! (upstream's `compositionContext`, `variableAccessor` and `lazy.MapValue`).

use std::cell::Cell;

use celgate_cel::context::{EvalContext, Halt};
use celgate_cel::value::{LazyMap, Value};
use celgate_k8s::gotext::quote;

use crate::activation::Activation;
use crate::compile::{COST_LIMIT_EXCEEDED, Program};

/// How deep the expressions of variables that read each other may be, all together. Upstream's stack grows, until it dies of a variable
/// that reads itself (which only a duplicate name or `dyn(variables)` can bring about).
const MAX_DEPTH: u32 = 2_500;

/// The variables of one section.
pub(crate) struct Variables<'a> {
    program: &'a Program,
    values: &'a [Cell<Slot<'a>>],
    activation: Cell<Option<&'a Activation<'a>>>,
    depth: Cell<u32>,
    /// Cost of variables evaluated since it was last taken.
    cost: Cell<u64>,
}

#[derive(Clone, Copy)]
enum Slot<'a> {
    Unread,
    Reading,
    Read(Value<'a>),
}

impl<'a> Variables<'a> {
    pub(crate) fn new(program: &'a Program, arena: &'a bumpalo::Bump) -> Variables<'a> {
        let values = arena.alloc_slice_fill_with(program.variables.len(), |_| Cell::new(Slot::Unread));
        Variables { program, values, activation: Cell::new(None), depth: Cell::new(0), cost: Cell::new(0) }
    }

    /// Says where the variables find what they read. They are part of that activation, hence afterwards.
    pub(crate) fn bind(&self, activation: &'a Activation<'a>) {
        self.activation.set(Some(activation));
    }

    /// Cost since the last call (upstream's `GetAndResetCost`).
    pub(crate) fn take_cost(&self) -> u64 {
        self.cost.replace(0)
    }

    fn evaluate(&self, ctx: &EvalContext<'a>, index: usize) -> Value<'a> {
        let (Some(variable), Some(activation)) = (self.program.variables.get(index), self.activation.get()) else {
            return ctx.error("no such variable");
        };
        if !variable.reachable {
            return ctx.errorf(format_args!("no such key: {}", variable.name));
        }
        let expression = match &variable.program {
            Ok(expression) => expression,
            Err(error) => {
                return ctx
                    .errorf(format_args!("composited variable {} fails to compile: {error}", quote(&variable.name)));
            }
        };
        let failed = |message: &str| {
            ctx.errorf(format_args!("composited variable {} fails to evaluate: {message}", quote(&variable.name)))
        };
        let depth = self.depth.get();
        if depth >= MAX_DEPTH {
            return failed("variables read each other too deeply");
        }
        self.depth.set(depth.saturating_add(expression.depth()));
        let outer = ctx.enter();
        let value = activation.run(ctx, expression);
        let cost = ctx.leave(outer);
        self.depth.set(depth);
        if ctx.halt() == Some(Halt::NeedsInput) {
            return Value::Halt;
        }
        self.cost.set(self.cost.get().saturating_add(cost));
        match (ctx.clear_halt(), value) {
            (Some(Halt::Panic(message)), _) => failed(message),
            (Some(_), _) => failed(COST_LIMIT_EXCEEDED),
            (None, Value::Error(error)) => failed(error.message),
            (None, value) => value,
        }
    }
}

impl<'a> LazyMap<'a> for Variables<'a> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn type_name(&self) -> &'a str {
        "kubernetes.variables"
    }

    fn key(&self, index: usize) -> &'a str {
        self.program.variables.get(index).filter(|variable| variable.reachable).map_or("", |variable| &variable.name)
    }

    fn index_of(&self, key: &str) -> Option<usize> {
        let unescaped = unescape(key)?;
        self.program.variables.iter().position(|variable| variable.reachable && *variable.name == *unescaped)
    }

    fn get(&self, ctx: &EvalContext<'a>, index: usize) -> Value<'a> {
        let Some(slot) = self.values.get(index) else {
            return ctx.error("no such variable");
        };
        match slot.get() {
            Slot::Read(value) => value,
            Slot::Reading => {
                let name = quote(self.key(index));
                ctx.errorf(format_args!("composited variable {name} fails to evaluate: it reads itself"))
            }
            Slot::Unread => {
                slot.set(Slot::Reading);
                let value = self.evaluate(ctx, index);
                slot.set(if matches!(value, Value::Halt) { Slot::Unread } else { Slot::Read(value) });
                value
            }
        }
    }
}

/// The name that an escaped name stands for (apiserver `pkg/cel/escaping.go`, `Unescape`): `None` if its escapes are not valid.
pub(crate) fn unescape(name: &str) -> Option<std::borrow::Cow<'_, str>> {
    if !name.contains("__") {
        return Some(name.into());
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(start) = rest.find("__") {
        let (before, escape) = rest.split_at(start);
        out.push_str(before);
        // `__`, at least one character that is no underscore, `__`.
        let inner = escape.get(2..).unwrap_or_default();
        let len = inner.find('_').unwrap_or(inner.len());
        let contents = inner.get(..len).unwrap_or_default();
        if len == 0 || !inner.get(len..).is_some_and(|tail| tail.starts_with("__")) {
            out.push('_');
            rest = escape.get(1..).unwrap_or_default();
            continue;
        }
        match contents {
            "underscores" => out.push_str("__"),
            "dot" => out.push('.'),
            "dash" => out.push('-'),
            "slash" => out.push('/'),
            word if RESERVED.contains(&word) && word.len() + 4 == name.len() => out.push_str(word),
            _ => return None,
        }
        rest = inner.get(len + 2..).unwrap_or_default();
    }
    out.push_str(rest);
    Some(out.into())
}

/// Words that CEL reserves; a name that is one of them is escaped as a whole.
const RESERVED: [&str; 21] = [
    "true",
    "false",
    "null",
    "in",
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs from `cel.Unescape`.
    #[test]
    fn names_are_unescaped() {
        for (escaped, name) in [
            ("a_b", Some("a_b")),
            ("a__dot__b", Some("a.b")),
            ("a__dash__b__slash__c", Some("a-b/c")),
            ("__namespace__", Some("namespace")),
            ("__namespace__x", None),
            ("a__b__c", None),
            ("a__b", Some("a__b")),
            ("a___dot__b", Some("a_.b")),
            ("x__underscores__y", Some("x__y")),
            ("____", Some("____")),
            ("_", Some("_")),
        ] {
            assert_eq!(unescape(escaped).as_deref(), name, "{escaped}");
        }
    }
}
