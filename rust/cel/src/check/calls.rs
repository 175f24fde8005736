//! Calls and overload resolution.

use crate::ast::{Expr, ExprId};
use crate::env::Function;
use crate::mutants::{Mutant, planted};
use crate::types::Type;

use super::names::push_qualified;
use super::unify::instantiate;
use super::{Checker, Reference};

const OPTIONAL_SELECT: &str = "_?._";
const AND: &str = "_&&_";
const OR: &str = "_||_";

impl Checker<'_> {
    /// Arguments come first, then the receiver, unless receiver and name together name a function.
    pub(super) fn call(&mut self, id: ExprId, target: &mut Option<Box<Expr>>, name: &mut String, args: &mut [Expr]) {
        if name == OPTIONAL_SELECT {
            return self.optional_select(id, args, target.is_some());
        }
        for arg in args.iter_mut() {
            self.check(arg);
        }
        let env = self.env;
        let Some(receiver) = target else {
            let Some(function) = env.function(name) else {
                self.undeclared(id, name);
                return self.set_type(id, Type::Error);
            };
            function.name.clone_into(name);
            return self.resolve_call(id, function, None, args);
        };
        self.name.clear();
        let named = push_qualified(receiver, &mut self.name);
        self.name.push('.');
        self.name.push_str(name);
        if let Some(function) = env.function(&self.name).filter(|_| named) {
            *target = None;
            function.name.clone_into(name);
            return self.resolve_call(id, function, None, args);
        }
        self.check(receiver);
        match env.function(name) {
            Some(function) => self.resolve_call(id, function, Some(receiver), args),
            None => {
                self.set_type(id, Type::Error);
                self.undeclared(id, name);
            }
        }
    }

    fn resolve_call(&mut self, id: ExprId, function: &Function, receiver: Option<&Expr>, args: &[Expr]) {
        let ty = match self.resolve_overloads(id, function, receiver, args) {
            Some((ty, overloads)) => {
                self.set_reference(id, Reference { overloads, ..Reference::default() });
                ty
            }
            None => Type::Error,
        };
        self.set_type(id, ty);
    }

    /// The result type and the overloads that accept the arguments. Reports if there is none.
    fn resolve_overloads(
        &mut self,
        id: ExprId,
        function: &Function,
        receiver: Option<&Expr>,
        args: &[Expr],
    ) -> Option<(Type, Vec<&'static str>)> {
        let mut arguments: Vec<Type> = receiver.into_iter().chain(args).map(|arg| self.type_of(arg)).collect();
        let mut matching = Vec::new();
        let mut result: Option<Type> = None;
        for overload in &function.overloads {
            let disabled = overload.cross_type_comparison && !self.all_overloads;
            if disabled || overload.member != receiver.is_some() {
                continue;
            }
            if matches!(function.name, AND | OR) {
                return self.operands_are_bool(args, &arguments).then(|| (Type::Bool, vec![overload.id]));
            }
            let first_var = self.unifier.fresh(overload.type_params);
            if !self.unifier.arguments_match(&arguments, &overload.args, first_var) {
                continue;
            }
            if planted(Mutant::FirstOverloadWins) && !matching.is_empty() {
                continue;
            }
            matching.push(overload.id);
            let instance = instantiate(&overload.result, first_var);
            let ty = self.unifier.substitute(instance.as_ref().unwrap_or(&overload.result), false);
            result = Some(match result {
                Some(known) if !known.is_dyn() && !ty.is_exact(&known) => Type::Dyn,
                Some(known) => known,
                None => ty,
            });
        }
        if result.is_none() {
            for argument in &mut arguments {
                *argument = self.unifier.substitute(argument, true);
            }
            let signature = signature(&arguments, receiver.is_some());
            let message = format!("found no matching overload for '{}' applied to '{signature}'", function.name);
            self.report(id, message);
        }
        result.map(|ty| (ty, matching))
    }

    /// `&&` and `||` name the operand that is not a bool.
    fn operands_are_bool(&mut self, args: &[Expr], types: &[Type]) -> bool {
        let mut all = true;
        for (arg, ty) in args.iter().zip(types) {
            if !self.unifier.assignable(ty, &Type::Bool) {
                self.type_mismatch(arg.id, &Type::Bool, ty);
                all = false;
            }
        }
        all
    }
}

/// `(int, string)`, or `int.(string)` for a method (cel-go `formatFunctionDeclType`).
fn signature(arguments: &[Type], member: bool) -> String {
    let (receiver, arguments) = match arguments.split_first() {
        Some((receiver, rest)) if member && !planted(Mutant::MethodsWithoutReceiver) => (Some(receiver), rest),
        _ => (None, arguments),
    };
    let mut text = receiver.map(|receiver| format!("{receiver}.")).unwrap_or_default();
    let arguments: Vec<String> = arguments.iter().map(Type::to_string).collect();
    text.push('(');
    text.push_str(&arguments.join(", "));
    text.push(')');
    text
}
