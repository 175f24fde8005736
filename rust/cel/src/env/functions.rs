//! Function declarations prepared for overload resolution.

use std::sync::Arc;

use crate::decls::{FunctionDecl, OverloadDecl};
use crate::types::Type;

/// A function and its overloads.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) overloads: Vec<Overload>,
}

/// An overload whose type parameters are numbered: [`Type::Var`] 0 stands for the first.
#[derive(Debug)]
pub(crate) struct Overload {
    pub(crate) id: &'static str,
    pub(crate) member: bool,
    pub(crate) args: Vec<Type>,
    pub(crate) result: Type,
    /// How many type parameters there are.
    pub(crate) type_params: u32,
    /// One of cel-go's `crossTypeNumericComparisonOverloads`.
    pub(crate) cross_type_comparison: bool,
}

impl Function {
    pub(crate) fn new(decl: FunctionDecl) -> Function {
        let comparison = matches!(decl.name, "_<_" | "_<=_" | "_>_" | "_>=_");
        let overloads = decl.overloads.into_iter().map(|overload| Overload::new(overload, comparison));
        Function { name: decl.name, overloads: overloads.collect() }
    }
}

impl Overload {
    fn new(decl: OverloadDecl, comparison: bool) -> Overload {
        let mut names = Vec::new();
        let result = number_params(&decl.result, &mut names);
        let args: Vec<Type> = decl.args.iter().map(|arg| number_params(arg, &mut names)).collect();
        let number = |ty: &Type| matches!(ty, Type::Int | Type::Uint | Type::Double);
        let cross_type_comparison = comparison && args.iter().all(number) && args.first() != args.last();
        let type_params = u32::try_from(names.len()).unwrap_or(u32::MAX);
        Overload { id: decl.id, member: decl.member, args, result, type_params, cross_type_comparison }
    }
}

fn number_params(ty: &Type, names: &mut Vec<Arc<str>>) -> Type {
    match ty {
        Type::Param(name) => {
            let known = names.iter().position(|known| known == name);
            let index = known.unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            });
            Type::Var(u32::try_from(index).unwrap_or(u32::MAX))
        }
        Type::List(elem) => Type::list(number_params(elem, names)),
        Type::Map(key, value) => {
            let key = number_params(key, names);
            Type::map(key, number_params(value, names))
        }
        Type::Opaque(name, parameters) => {
            Type::Opaque(name.clone(), parameters.iter().map(|p| number_params(p, names)).collect())
        }
        Type::Type(of) => Type::type_of(number_params(of, names)),
        _ => ty.clone(),
    }
}
