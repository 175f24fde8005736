//! From declarations and implementations to what a call does (cel-go `decls.FunctionDecl.Bindings` and the dispatcher).

use std::collections::HashMap;
use std::sync::Arc;

use super::guard::Guard;
use super::{CostFn, EvalFn, Implementation, Library};
use crate::context::EvalContext;
use crate::value::{Traits, Value};

/// Which of cel-go's call instructions evaluates a call; they differ in which arguments are evaluated after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Up to two arguments: all are evaluated, then the first error is the result.
    Fixed,
    /// Evaluation ends with the first argument that is an error, and such a call costs nothing unless that is the last.
    Variadic,
}

/// One overload with its implementation.
#[derive(Clone)]
pub(crate) struct Overload {
    pub(crate) id: &'static str,
    pub(crate) eval: EvalFn,
    pub(crate) shape: Shape,
    pub(crate) non_strict: bool,
    cost: Option<CostFn>,
    /// `None`: the implementation checks for itself.
    guards: Option<Box<[Guard]>>,
    arity: usize,
}

impl Overload {
    /// Whether it takes so many arguments.
    pub(crate) fn takes(&self, args: usize) -> bool {
        self.arity == args
    }

    pub(crate) fn accepts<'a>(&self, ctx: &EvalContext<'a>, args: &[Value<'a>]) -> bool {
        if args.len() != self.arity {
            return false;
        }
        let Some(guards) = &self.guards else {
            return !args.iter().any(Value::is_error_or_halt);
        };
        guards.iter().zip(args).all(|(guard, arg)| match arg {
            Value::Error(_) | Value::Halt => self.non_strict,
            _ => guard.passes(ctx, *arg),
        })
    }
}

/// What is bound to a function.
#[derive(Clone)]
pub(crate) enum Binding {
    /// Nothing: a value that handles calls itself, or an error.
    None,
    /// One implementation for all overloads; the first argument must have all of these traits.
    Singleton { eval: EvalFn, traits: u16 },
    /// One overload, known.
    Overload(Arc<Overload>),
    /// The first of these whose types fit the arguments.
    Dispatch(Arc<[Arc<Overload>]>),
}

const LIST: u16 = Traits::ADDER | Traits::CONTAINER | Traits::INDEXER | Traits::ITERABLE | Traits::SIZER;

/// Functions that have one implementation for all overloads, without type guards, and the traits that their first argument needs.
const SINGLETONS: [(&str, u16); 18] = [
    ("!_", 0),
    ("_+_", Traits::ADDER),
    ("_-_", Traits::SUBTRACTOR),
    ("_*_", Traits::MULTIPLIER),
    ("_/_", Traits::DIVIDER),
    ("_%_", Traits::MODDER),
    ("-_", Traits::NEGATOR),
    ("_<_", Traits::COMPARER),
    ("_<=_", Traits::COMPARER),
    ("_>_", Traits::COMPARER),
    ("_>=_", Traits::COMPARER),
    ("@in", 0),
    ("size", Traits::SIZER),
    ("type", 0),
    ("dyn", 0),
    ("matches", Traits::MATCHER),
    ("sort", LIST),
    ("@sortByAssociatedKeys", LIST),
];

/// Functions whose implementations check argument types themselves (cel-go `DisableTypeGuards`).
const UNGUARDED: [&str; 4] = ["contains", "endsWith", "startsWith", "flatten"];

/// Overloads of two or fewer arguments that cel-go binds with `FunctionBinding`.
const VARIADIC: [&str; 1] = ["string_format"];

/// Overloads that see errors.
const NON_STRICT: [&str; 1] = ["not_strictly_false"];

/// The functions of an environment, for planning.
pub struct FunctionTable {
    functions: HashMap<&'static str, Function>,
}

#[derive(Default)]
struct Function {
    singleton: Option<(EvalFn, u16)>,
    overloads: Vec<Arc<Overload>>,
}

impl FunctionTable {
    /// The functions of these libraries. Overloads of a function that several libraries declare are tried in their order.
    pub fn new<'l>(libraries: impl IntoIterator<Item = &'l Library>) -> FunctionTable {
        let mut functions: HashMap<&'static str, Function> = HashMap::new();
        for library in libraries {
            let bound: HashMap<&str, &Implementation> =
                library.implementations.iter().map(|implementation| (implementation.id, implementation)).collect();
            for decl in (library.functions)() {
                let function = functions.entry(decl.name).or_default();
                for declared in &decl.overloads {
                    let Some(implementation) = bound.get(declared.id) else {
                        continue;
                    };
                    let overload = Arc::new(overload(decl.name, declared, implementation));
                    match function.overloads.iter_mut().find(|known| known.id == declared.id) {
                        Some(known) => *known = overload,
                        None => function.overloads.push(overload),
                    }
                }
                if let Some((_, traits)) = SINGLETONS.iter().find(|(name, _)| *name == decl.name) {
                    let eval = bound.get(decl.name).map(|implementation| implementation.eval);
                    let eval = eval.or_else(|| function.overloads.first().map(|overload| overload.eval));
                    function.singleton = eval.map(|eval| (eval, *traits)).or(function.singleton);
                }
            }
        }
        FunctionTable { functions }
    }

    /// What a call to `function` does whose overload the checker found to be `overload` (empty if there are several).
    pub(crate) fn binding(&self, function: &str, overload: &str) -> Binding {
        let Some(known) = self.functions.get(function) else {
            return Binding::None;
        };
        if let Some((eval, traits)) = known.singleton {
            return Binding::Singleton { eval, traits };
        }
        if let Some(found) = known.overloads.iter().find(|candidate| candidate.id == overload) {
            return Binding::Overload(found.clone());
        }
        match known.overloads.as_slice() {
            [] => Binding::None,
            [only] => Binding::Overload(only.clone()),
            several => Binding::Dispatch(several.into()),
        }
    }

    /// The cost of such a call where an implementation gives one.
    pub(crate) fn cost(&self, function: &str, overload: &str) -> Option<CostFn> {
        let known = self.functions.get(function)?;
        if overload.is_empty() {
            // These are charged by cel-go's trackers, which know them by overload only.
            if known.singleton.is_some() {
                return None;
            }
            return known.overloads.iter().rev().find_map(|candidate| candidate.cost);
        }
        known.overloads.iter().find(|candidate| candidate.id == overload)?.cost
    }
}

fn overload(function: &str, declared: &crate::decls::OverloadDecl, implementation: &Implementation) -> Overload {
    let variadic = declared.args.len() > 2 || declared.args.is_empty() || VARIADIC.contains(&declared.id);
    let guarded = !UNGUARDED.contains(&function);
    Overload {
        id: declared.id,
        eval: implementation.eval,
        shape: if variadic { Shape::Variadic } else { Shape::Fixed },
        non_strict: NON_STRICT.contains(&declared.id),
        cost: implementation.cost,
        guards: guarded.then(|| declared.args.iter().map(Guard::new).collect()),
        arity: declared.args.len(),
    }
}

impl Binding {
    /// The instruction that evaluates the call.
    pub(crate) fn shape(&self, args: usize) -> Shape {
        match self {
            Binding::Overload(overload) => overload.shape,
            Binding::Dispatch(_) => Shape::Variadic,
            Binding::None | Binding::Singleton { .. } if args > 2 => Shape::Variadic,
            Binding::None | Binding::Singleton { .. } => Shape::Fixed,
        }
    }

    /// Whether errors are arguments like others.
    pub(crate) fn non_strict(&self) -> bool {
        match self {
            Binding::Overload(overload) => overload.non_strict,
            Binding::Dispatch(overloads) => overloads.iter().any(|overload| overload.non_strict),
            Binding::None | Binding::Singleton { .. } => false,
        }
    }

    /// Calls with evaluated arguments; `shape` is that of the instruction, whose messages differ.
    pub(crate) fn call<'a>(&self, ctx: &EvalContext<'a>, function: &str, id: u32, args: &[Value<'a>]) -> Value<'a> {
        match self {
            Binding::Overload(overload) if overload.accepts(ctx, args) => (overload.eval)(ctx, args),
            Binding::Dispatch(overloads) => match overloads.iter().find(|overload| overload.accepts(ctx, args)) {
                Some(overload) => (overload.eval)(ctx, args),
                None => mismatch(ctx, function, args),
            },
            Binding::Overload(_) => mismatch(ctx, function, args),
            Binding::Singleton { eval, traits } if args.first().is_some_and(|arg| arg.traits() & traits == *traits) => {
                eval(ctx, args)
            }
            Binding::None | Binding::Singleton { .. } => self.receive(ctx, function, id, args),
        }
    }

    /// No implementation takes the arguments: a value that handles calls itself says so in its own words.
    fn receive<'a>(&self, ctx: &EvalContext<'a>, function: &str, id: u32, args: &[Value<'a>]) -> Value<'a> {
        let receiver = args.first().is_some_and(|arg| arg.traits() & Traits::RECEIVER != 0);
        match self.shape(args.len()) {
            _ if receiver => ctx.error("no such overload"),
            Shape::Fixed => ctx.errorf(format_args!("no such overload: {function}")),
            Shape::Variadic => ctx.errorf(format_args!("no such overload: {function} {id}")),
        }
    }
}

/// cel-go's `decls.MaybeNoSuchOverload`.
pub(crate) fn mismatch<'a>(ctx: &EvalContext<'a>, function: &str, args: &[Value<'a>]) -> Value<'a> {
    if let Some(error) = args.iter().find(|arg| arg.is_error_or_halt()) {
        return *error;
    }
    let mut types = bumpalo::collections::String::new_in(ctx.arena);
    for (i, arg) in args.iter().enumerate() {
        types.push_str(if i == 0 { "" } else { ", " });
        types.push_str(arg.type_name());
    }
    ctx.errorf(format_args!("no such overload: {function}({types})"))
}
