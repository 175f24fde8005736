//! What an expression is checked against (cel-go `checker/env.go`, `cel/env.go`): functions, variables, type names,
//! struct types, and the validators that run after the check.
//!
//! An [`Env`] is immutable, and extending one costs a handful of reference counts: functions are shared, variables and
//! struct types are layered.

mod functions;

use std::fmt;
use std::sync::Arc;

pub(crate) use functions::Function;

use crate::check::NameMap;
use crate::decls::{FunctionDecl, TypeProvider, VariableDecl};
use crate::message;
use crate::types::{OPTIONAL_TYPE, Type};
use crate::validate::Validator;

/// A type provider that can be shared between threads.
pub type SharedProvider = Arc<dyn TypeProvider + Send + Sync>;

/// An environment for checking. Cheap to clone and to extend.
#[derive(Clone)]
pub struct Env {
    base: Arc<Base>,
    variables: Option<Arc<Variables>>,
    structs: Option<Arc<Structs>>,
}

/// What all extensions of an environment share.
struct Base {
    container: String,
    functions: NameMap<&'static str, Function>,
    types: NameMap<String, Type>,
    cross_type_numeric_comparisons: bool,
    validators: Vec<Validator>,
}

/// One layer of variables over another.
struct Variables {
    below: Option<Arc<Variables>>,
    names: NameMap<String, Type>,
}

/// One layer of struct types over another.
struct Structs {
    below: Option<Arc<Structs>>,
    source: StructSource,
}

enum StructSource {
    /// Answers for all the types that it has.
    Provider(SharedProvider),
    /// One more field of a type below.
    Field { type_name: Arc<str>, field: Box<str>, ty: Type },
}

/// Collects what an [`Env`] is made of.
#[derive(Default)]
pub struct EnvBuilder {
    container: String,
    functions: NameMap<&'static str, FunctionDecl>,
    types: NameMap<String, Type>,
    cross_type_numeric_comparisons: bool,
    validators: Vec<Validator>,
}

impl EnvBuilder {
    /// The types of the language and the well-known protobuf messages, without any function (cel-go `NewCustomEnv`).
    pub fn new() -> Self {
        let builder = EnvBuilder { cross_type_numeric_comparisons: true, ..EnvBuilder::default() };
        let list = Type::list(Type::Dyn);
        let map = Type::map(Type::Dyn, Type::Dyn);
        let scalars = [Type::Bool, Type::Bytes, Type::Double, Type::Int, Type::Null, Type::String, Type::Uint];
        let builder = scalars.into_iter().fold(builder, EnvBuilder::type_name);
        [Type::TypeType, list, map].into_iter().fold(builder, EnvBuilder::type_name)
    }

    /// The name under which unqualified names are looked up first (cel-go `Container`).
    #[must_use]
    pub fn container(mut self, name: &str) -> Self {
        name.clone_into(&mut self.container);
        self
    }

    /// Adds functions. Overloads of a function that exists already come after its own; an overload with an id that it
    /// has already is not added again. The order of calls is therefore the order of cel-go's `EnvOption`s.
    #[must_use]
    pub fn functions(mut self, functions: impl IntoIterator<Item = FunctionDecl>) -> Self {
        for function in functions {
            let known =
                self.functions.entry(function.name).or_insert_with(|| FunctionDecl::new(function.name, Vec::new()));
            for overload in function.overloads {
                if known.overloads.iter().all(|o| o.id != overload.id) {
                    known.overloads.push(overload);
                }
            }
        }
        self
    }

    /// Makes a type's name an identifier that denotes the type (cel-go `cel.Types`).
    #[must_use]
    pub fn type_name(mut self, ty: Type) -> Self {
        self.types.insert(ty.type_name().into_owned(), ty);
        self
    }

    /// Makes `optional_type` an identifier.
    #[must_use]
    pub fn optional_type_name(mut self) -> Self {
        self.types.insert(OPTIONAL_TYPE.to_owned(), Type::optional(Type::Dyn));
        self
    }

    /// Whether `1 < 1.5` checks (cel-go `CrossTypeNumericComparisons`); on unless turned off.
    #[must_use]
    pub fn cross_type_numeric_comparisons(mut self, on: bool) -> Self {
        self.cross_type_numeric_comparisons = on;
        self
    }

    /// Adds a validator, unless it is there already (cel-go `ASTValidators`). They run in the order of their addition.
    #[must_use]
    pub fn validator(mut self, validator: Validator) -> Self {
        if !self.validators.contains(&validator) {
            self.validators.push(validator);
        }
        self
    }

    /// The environment.
    pub fn build(self) -> Env {
        let functions = self.functions.into_iter().map(|(name, decl)| (name, Function::new(decl)));
        Env {
            base: Arc::new(Base {
                container: self.container,
                functions: functions.collect(),
                types: self.types,
                cross_type_numeric_comparisons: self.cross_type_numeric_comparisons,
                validators: self.validators,
            }),
            variables: None,
            structs: None,
        }
    }
}

impl Env {
    /// This environment with more variables, which hide those of the same name.
    #[must_use]
    pub fn with_variables(&self, variables: impl IntoIterator<Item = VariableDecl>) -> Env {
        let names = variables.into_iter().map(|variable| (variable.name, variable.ty)).collect();
        let variables = Some(Arc::new(Variables { below: self.variables.clone(), names }));
        Env { variables, ..self.clone() }
    }

    /// This environment with more struct types, which hide those of the same name.
    #[must_use]
    pub fn with_provider(&self, provider: SharedProvider) -> Env {
        self.with_structs(StructSource::Provider(provider))
    }

    /// This environment with one more field of a struct type that a provider has; hides a field of the same name.
    #[must_use]
    pub fn with_struct_field(&self, type_name: &str, field: &str, ty: Type) -> Env {
        self.with_structs(StructSource::Field { type_name: Arc::from(type_name), field: Box::from(field), ty })
    }

    fn with_structs(&self, source: StructSource) -> Env {
        let structs = Some(Arc::new(Structs { below: self.structs.clone(), source }));
        Env { structs, ..self.clone() }
    }

    /// The container's name, as in "(in container '')".
    pub fn container(&self) -> &str {
        &self.base.container
    }

    pub(crate) fn validators(&self) -> &[Validator] {
        &self.base.validators
    }

    pub(crate) fn filters_cross_type_comparisons(&self) -> bool {
        !self.base.cross_type_numeric_comparisons
    }

    /// The first non-empty answer for the names that a name may stand for in the container, innermost first
    /// (cel-go `ResolveCandidateNames`). A leading dot means the name as it is.
    pub(crate) fn resolve<T>(&self, name: &str, mut find: impl FnMut(&str) -> Option<T>) -> Option<T> {
        if let Some(absolute) = name.strip_prefix('.') {
            return find(absolute);
        }
        let mut scope = self.container();
        while !scope.is_empty() {
            if let Some(found) = find(&format!("{scope}.{name}")) {
                return Some(found);
            }
            scope = scope.rfind('.').map_or("", |dot| &scope[..dot]);
        }
        find(name)
    }

    pub(crate) fn function(&self, name: &str) -> Option<&Function> {
        self.resolve(name, |candidate| self.base.functions.get(candidate))
    }

    /// The type of a declared variable of exactly this name.
    pub(crate) fn variable(&self, name: &str) -> Option<&Type> {
        let mut layer = self.variables.as_deref();
        while let Some(variables) = layer {
            if let Some(ty) = variables.names.get(name) {
                return Some(ty);
            }
            layer = variables.below.as_deref();
        }
        None
    }

    /// The type that exactly this name denotes.
    pub(crate) fn type_named(&self, name: &str) -> Option<Type> {
        self.base.types.get(name).cloned().or_else(|| self.struct_type(name))
    }

    /// The value of a protobuf enum constant of exactly this name.
    pub(crate) fn enum_constant(&self, name: &str) -> Option<i64> {
        message::enum_constant(name)
    }

    /// Whether fields of the type can be asked for.
    pub(crate) fn has_struct(&self, type_name: &str) -> bool {
        self.struct_type(type_name).is_some()
    }

    fn struct_type(&self, type_name: &str) -> Option<Type> {
        let declared = self.providers().find_map(|provider| provider.struct_type(type_name));
        declared.or_else(|| message::find(type_name).map(|_| Type::object(type_name)))
    }

    /// The type of a struct's field. The topmost provider that has the struct decides. A name that denotes a map has
    /// all fields.
    pub(crate) fn field_type(&self, type_name: &str, field: &str) -> Option<Type> {
        let mut layer = self.structs.as_deref();
        while let Some(structs) = layer {
            match &structs.source {
                StructSource::Provider(provider) if provider.has_struct(type_name) => {
                    return provider.field_type(type_name, field);
                }
                StructSource::Provider(provider) => match provider.struct_type(type_name) {
                    Some(Type::Map(_, value)) => return Some((*value).clone()),
                    Some(_) => return None,
                    None => layer = structs.below.as_deref(),
                },
                StructSource::Field { type_name: of, field: name, ty } if **of == *type_name && **name == *field => {
                    return Some(ty.clone());
                }
                StructSource::Field { .. } => layer = structs.below.as_deref(),
            }
        }
        message::find(type_name)?.field_type(field)
    }

    fn providers(&self) -> impl Iterator<Item = &SharedProvider> {
        let layers = std::iter::successors(self.structs.as_deref(), |structs| structs.below.as_deref());
        layers.filter_map(|structs| match &structs.source {
            StructSource::Provider(provider) => Some(provider),
            StructSource::Field { .. } => None,
        })
    }
}

impl fmt::Debug for Env {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Env").field("functions", &self.base.functions.len()).finish_non_exhaustive()
    }
}

const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Env>();
};

#[cfg(test)]
mod tests;
