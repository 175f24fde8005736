//! Assignability of types under a substitution of type variables (cel-go `checker/types.go`, `checker/mapping.go`).

use std::cell::Cell;

use crate::mutants::{Mutant, planted};
use crate::types::{Kind, Type};

/// The most steps of a check, so that types which are nested in bindings of bindings end too.
const MAX_STEPS: u32 = 50_000_000;

/// What the type variables stand for so far.
///
/// cel-go copies its mapping for every question and keeps the copy if the answer is yes; here changes are made in
/// place and undone if the answer is no.
#[derive(Default)]
pub(super) struct Unifier {
    bindings: Vec<Option<Type>>,
    undo: Vec<(u32, Option<Type>)>,
    steps: Cell<u32>,
}

impl Unifier {
    /// Whether the answers are worthless because finding them took too long.
    pub(super) fn gave_up(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }

    fn step(&self) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        !self.gave_up()
    }

    /// Makes type variables; returns the number of the first.
    pub(super) fn fresh(&mut self, count: u32) -> u32 {
        let first = u32::try_from(self.bindings.len()).unwrap_or(u32::MAX);
        self.bindings.resize(self.bindings.len() + count as usize, None);
        first
    }

    /// Makes one type variable.
    pub(super) fn fresh_var(&mut self) -> Type {
        Type::Var(self.fresh(1))
    }

    /// Whether a value of type `from` may be used as `to`; if so, type variables in both are bound accordingly.
    pub(super) fn assignable(&mut self, from: &Type, to: &Type) -> bool {
        self.undo.clear();
        let yes = self.assign(from, to);
        if !yes {
            self.roll_back();
        }
        yes
    }

    /// Whether an overload's parameters accept the arguments. The parameters' variables are numbered from `first_var`.
    pub(super) fn arguments_match(&mut self, arguments: &[Type], parameters: &[Type], first_var: u32) -> bool {
        self.undo.clear();
        let yes = arguments.len() == parameters.len()
            && arguments.iter().zip(parameters).all(|(argument, parameter)| match instantiate(parameter, first_var) {
                None => self.assign(argument, parameter),
                Some(parameter) => self.assign(argument, &parameter),
            });
        if !yes {
            self.roll_back();
        }
        yes
    }

    /// The type with bound variables replaced; unbound ones become `dyn` if asked for.
    pub(super) fn substitute(&self, ty: &Type, unbound_to_dyn: bool) -> Type {
        self.replaced(ty, unbound_to_dyn).unwrap_or_else(|| ty.clone())
    }

    /// [`Unifier::substitute`]; `None` means unchanged.
    fn replaced(&self, ty: &Type, unbound_to_dyn: bool) -> Option<Type> {
        if !self.step() {
            return None;
        }
        match ty {
            Type::Var(_) => match self.binding(ty) {
                Some(bound) => Some(self.substitute(bound, unbound_to_dyn)),
                None => unbound_to_dyn.then_some(Type::Dyn),
            },
            Type::Param(_) => unbound_to_dyn.then_some(Type::Dyn),
            _ => map_parameters(ty, |parameter| self.replaced(parameter, unbound_to_dyn)),
        }
    }

    fn binding(&self, ty: &Type) -> Option<&Type> {
        match ty {
            Type::Var(number) => self.bindings.get(*number as usize)?.as_ref(),
            _ => None,
        }
    }

    fn bind(&mut self, var: &Type, to: Type) {
        if let Type::Var(number) = var
            && let Some(binding) = self.bindings.get_mut(*number as usize)
        {
            self.undo.push((*number, binding.replace(to)));
        }
    }

    fn roll_back(&mut self) {
        while let Some((number, old)) = self.undo.pop() {
            if let Some(binding) = self.bindings.get_mut(number as usize) {
                *binding = old;
            }
        }
    }

    fn assign(&mut self, from: &Type, to: &Type) -> bool {
        if !self.step() {
            return false;
        }
        if to.kind() == Kind::TypeParam {
            match self.substitutes(from, to) {
                Substitution::Valid => return true,
                Substitution::Conflict => return false,
                Substitution::Occurs => {}
            }
        }
        if from.kind() == Kind::TypeParam {
            return matches!(self.substitutes(to, from), Substitution::Valid);
        }
        if dyn_or_error(from) || dyn_or_error(to) {
            return true;
        }
        match (from, to) {
            (Type::Null, other) | (other, Type::Null) => nullable(other),
            (Type::List(a), Type::List(b)) => self.assign(a, b),
            (Type::Map(ak, av), Type::Map(bk, bv)) => {
                (planted(Mutant::MapKeysUnchecked) || self.assign(ak, bk)) && self.assign(av, bv)
            }
            (Type::Opaque(a, ap), Type::Opaque(b, bp)) => {
                a == b && ap.len() == bp.len() && ap.iter().zip(bp.iter()).all(|(a, b)| self.assign(a, b))
            }
            (Type::Type(_) | Type::TypeType, _) => to.kind() == Kind::Type,
            _ => from.kind() == to.kind() && from.type_name() == to.type_name() && to.parameters().is_empty(),
        }
    }

    /// Whether a type may stand for a type variable (cel-go `isValidTypeSubstitution`).
    fn substitutes(&mut self, ty: &Type, var: &Type) -> Substitution {
        if ty.is_exact(var) {
            return Substitution::Valid;
        }
        if let Some(bound) = self.binding(var).cloned() {
            if ty.is_exact(&bound) {
                return Substitution::Valid;
            }
            if !self.assign(ty, &bound) {
                return Substitution::Conflict;
            }
            let general =
                if planted(Mutant::VariablesStayFirst) { bound.clone() } else { most_general(ty, &bound).clone() };
            if !self.occurs(var, &general) {
                self.bind(var, general);
            }
            return Substitution::Valid;
        }
        if self.occurs(var, ty) {
            return Substitution::Occurs;
        }
        self.bind(var, ty.clone());
        Substitution::Valid
    }

    /// Whether a type variable occurs in a type, directly or through bindings.
    fn occurs(&self, var: &Type, within: &Type) -> bool {
        if !self.step() || var.is_exact(within) {
            return true;
        }
        match within {
            Type::Var(_) => self.binding(within).is_some_and(|bound| self.occurs(var, bound)),
            _ => within.parameters().iter().any(|parameter| self.occurs(var, parameter)),
        }
    }
}

enum Substitution {
    /// The variable stands for the type.
    Valid,
    /// The variable stands for something else.
    Conflict,
    /// The variable is a part of the type.
    Occurs,
}

/// The type with variables counted from `first_var` instead of 0; `None` if it has no variable.
pub(super) fn instantiate(ty: &Type, first_var: u32) -> Option<Type> {
    match ty {
        Type::Var(number) => Some(Type::Var(first_var.saturating_add(*number))),
        _ => map_parameters(ty, |parameter| instantiate(parameter, first_var)),
    }
}

/// The type with its parameters replaced where `replace` says so; `None` if nowhere.
fn map_parameters(ty: &Type, replace: impl Fn(&Type) -> Option<Type>) -> Option<Type> {
    match ty {
        Type::List(elem) => replace(elem).map(Type::list),
        Type::Type(of) => replace(of).map(Type::type_of),
        Type::Map(key, value) => match (replace(key), replace(value)) {
            (None, None) => None,
            (new_key, new_value) => Some(Type::Map(
                new_key.map_or_else(|| key.clone(), Into::into),
                new_value.map_or_else(|| value.clone(), Into::into),
            )),
        },
        Type::Opaque(name, parameters) => {
            let new: Vec<Option<Type>> = parameters.iter().map(replace).collect();
            new.iter().any(Option::is_some).then(|| {
                let pairs = new.into_iter().zip(parameters.iter());
                Type::Opaque(name.clone(), pairs.map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect())
            })
        }
        _ => None,
    }
}

/// The more general of two types that are known to unify.
pub(super) fn most_general<'a>(a: &'a Type, b: &'a Type) -> &'a Type {
    if equal_or_less_specific(a, b) { a } else { b }
}

fn equal_or_less_specific(a: &Type, b: &Type) -> bool {
    if a.is_dyn() || a.kind() == Kind::TypeParam {
        return true;
    }
    if b.is_dyn() || b.kind() == Kind::TypeParam || a.kind() != b.kind() {
        return false;
    }
    match (a, b) {
        (Type::List(a), Type::List(b)) => equal_or_less_specific(a, b),
        (Type::Map(ak, av), Type::Map(bk, bv)) => equal_or_less_specific(ak, bk) && equal_or_less_specific(av, bv),
        (Type::Opaque(an, a), Type::Opaque(bn, b)) => {
            an == bn && a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal_or_less_specific(a, b))
        }
        (Type::Type(_) | Type::TypeType, _) => true,
        _ => a.is_exact(b),
    }
}

pub(super) fn dyn_or_error(ty: &Type) -> bool {
    matches!(ty, Type::Dyn | Type::Any | Type::Error)
}

fn nullable(ty: &Type) -> bool {
    if planted(Mutant::NullFitsNothing) && matches!(ty, Type::Opaque(..)) {
        return false;
    }
    matches!(ty, Type::Null | Type::Wrapper(_) | Type::Opaque(..) | Type::Object(_) | Type::Duration | Type::Timestamp)
}
