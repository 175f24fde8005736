//! A policy's variables: evaluated when first read, once per section, and charged to whoever reads them first
//! (upstream's `compositionContext`, `variableAccessor` and `lazy.MapValue`).

use std::cell::Cell;

use celgate_cel::context::{EvalContext, Halt};
use celgate_cel::value::{LazyMap, Value};
use celgate_k8s::escaping::unescape;
use celgate_k8s::gotext::quote;

use crate::compile::{COST_LIMIT_EXCEEDED, Program};
use crate::inputs::Inputs;

/// How deep the expressions of variables that read each other may be, all together. Upstream's stack grows, until it dies of a variable
/// that reads itself (which only a duplicate name or `dyn(variables)` can bring about).
const MAX_DEPTH: u32 = 2_500;

/// The variables of one section.
pub(crate) struct Variables<'a> {
    program: &'a Program,
    values: &'a [Cell<Slot<'a>>],
    inputs: Cell<Option<&'a Inputs<'a>>>,
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
        Variables { program, values, inputs: Cell::new(None), depth: Cell::new(0), cost: Cell::new(0) }
    }

    /// Says what the variables read. They are among these inputs, hence afterwards.
    pub(crate) fn bind(&self, inputs: &'a Inputs<'a>) {
        self.inputs.set(Some(inputs));
    }

    /// Cost since the last call (upstream's `GetAndResetCost`).
    pub(crate) fn take_cost(&self) -> u64 {
        self.cost.replace(0)
    }

    fn evaluate(&self, ctx: &EvalContext<'a>, index: usize) -> Value<'a> {
        let (Some(variable), Some(inputs)) = (self.program.variables.get(index), self.inputs.get()) else {
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
        let value = ctx.interruptible(|| expression.eval(ctx, inputs));
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
