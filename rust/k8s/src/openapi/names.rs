//! Names of declared types, and their fields by name (`MaybeAssignTypeName`, `FieldTypeMap` and `DeclTypeProvider` in
//! `pkg/cel/types.go`).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use celgate_cel::decls::TypeProvider;
use celgate_cel::types::Type;

use super::declare::DeclType;
use crate::escaping::is_reserved;

/// The types of some schemas, as the checker asks for them.
///
/// A struct is named by the path to it from the root: `Pod.spec.containers.@idx` for elements of a list, `.@elem` for those of
/// a map. Lists and maps have such names, too, which denote their types.
#[derive(Debug, Default)]
pub struct DeclaredTypes {
    structs: HashMap<Arc<str>, BTreeMap<Box<str>, Type>>,
    containers: HashMap<Box<str>, Type>,
    keywords_as_fields: bool,
}

impl DeclaredTypes {
    /// No types yet. `keywords_as_fields` says whether `x.namespace` finds the field `__namespace__`, the escaped name of that
    /// property (apiserver's `SetRecognizeKeywordAsFieldName`, since 1.31).
    pub fn new(keywords_as_fields: bool) -> DeclaredTypes {
        DeclaredTypes { keywords_as_fields, ..DeclaredTypes::default() }
    }

    /// Adds a type, named so if it is a struct, with all the types in it; returns what variables of it have for a type.
    pub fn add(&mut self, name: &str, root: &DeclType) -> Type {
        // Structs in a list or map are named as if that were a struct, but what is registered by path begins with its own name.
        let path = match root {
            DeclType::List(_) => "list",
            DeclType::Map(_) => "map",
            DeclType::Scalar(_) | DeclType::Object(_) => name,
        };
        self.register(name, path, root)
    }

    fn register(&mut self, name: &str, path: &str, ty: &DeclType) -> Type {
        match ty {
            DeclType::Scalar(ty) => ty.clone(),
            DeclType::List(element) => {
                let element = self.register(&format!("{name}.@idx"), &format!("{path}.@idx"), element);
                self.container(path, Type::list(element))
            }
            DeclType::Map(value) => {
                let value = self.register(&format!("{name}.@elem"), &format!("{path}.@elem"), value);
                self.container(path, Type::map(Type::String, value))
            }
            DeclType::Object(fields) => {
                let mut types = BTreeMap::new();
                for (field, ty) in fields {
                    let ty = self.register(&format!("{name}.{field}"), &format!("{path}.{field}"), ty);
                    types.insert(Box::from(field.as_str()), ty);
                }
                let name: Arc<str> = Arc::from(name);
                self.structs.insert(name.clone(), types);
                Type::Object(name)
            }
        }
    }

    fn container(&mut self, path: &str, ty: Type) -> Type {
        self.containers.insert(Box::from(path), ty.clone());
        ty
    }
}

impl TypeProvider for DeclaredTypes {
    fn has_struct(&self, type_name: &str) -> bool {
        self.structs.contains_key(type_name)
    }

    fn field_type(&self, type_name: &str, field: &str) -> Option<Type> {
        let fields = self.structs.get(type_name)?;
        let escaped = || fields.get(format!("__{field}__").as_str());
        let keyword = || (self.keywords_as_fields && is_reserved(field)).then(escaped).flatten();
        fields.get(field).or_else(keyword).cloned()
    }

    fn struct_type(&self, type_name: &str) -> Option<Type> {
        match self.structs.get_key_value(type_name) {
            Some((name, _)) => Some(Type::Object(name.clone())),
            None => self.containers.get(type_name).cloned(),
        }
    }
}
