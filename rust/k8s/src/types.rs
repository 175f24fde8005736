//! Declared types of what every policy sees: `request`, `namespaceObject` and `variables`
//! (`pkg/admission/plugin/cel/{compile,composition}.go`, `pkg/cel/types.go`).
//!
//! Declarations and values disagree upstream, and both are kept: `namespaceObject.metadata.UID` checks although the
//! value has `uid`, and times are declared as timestamps although the values are strings.

use celgate_cel::decls::{TypeProvider, VariableDecl};
use celgate_cel::types::Type;

use crate::authz;

/// The type of `request`.
pub const ADMISSION_REQUEST: &str = "kubernetes.AdmissionRequest";
/// The type of `namespaceObject`.
pub const NAMESPACE: &str = "kubernetes.Namespace";
/// The type of `variables`. Its fields are a policy's: `Env::with_struct_field` adds one.
pub const VARIABLES: &str = "kubernetes.variables";

const GROUP_VERSION_KIND: &str = "kubernetes.GroupVersionKind";
const GROUP_VERSION_RESOURCE: &str = "kubernetes.GroupVersionResource";
const USER_INFO: &str = "kubernetes.UserInfo";
const NAMESPACE_METADATA: &str = "kubernetes.NamespaceMetadata";
const NAMESPACE_SPEC: &str = "kubernetes.NamespaceSpec";
const NAMESPACE_STATUS: &str = "kubernetes.NamespaceStatus";
const NAMESPACE_CONDITION: &str = "kubernetes.NamespaceCondition";

/// Which optional variables an expression may name (upstream's `OptionalVariableDeclarations`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OptionalVariables {
    /// `params`
    pub params: bool,
    /// `authorizer` and `authorizer.requestResource`
    pub authorizer: bool,
}

/// The variables of an expression, without `variables`.
pub fn variables(optional: OptionalVariables) -> Vec<VariableDecl> {
    let mut out = vec![
        VariableDecl::new("object", Type::Dyn),
        VariableDecl::new("oldObject", Type::Dyn),
        VariableDecl::new("namespaceObject", Type::object(NAMESPACE)),
        VariableDecl::new("request", Type::object(ADMISSION_REQUEST)),
    ];
    if optional.params {
        out.push(VariableDecl::new("params", Type::Dyn));
    }
    if optional.authorizer {
        out.push(VariableDecl::new("authorizer", Type::object(authz::AUTHORIZER)));
        out.push(VariableDecl::new("authorizer.requestResource", Type::object(authz::RESOURCE_CHECK)));
    }
    out
}

/// The variable `variables`.
pub fn variables_variable() -> VariableDecl {
    VariableDecl::new("variables", Type::object(VARIABLES))
}

/// The type that `variables.x` has when x's expression has this type: kept for scalars, lists and maps, `dyn` for all
/// else (`convertCelTypeToDeclType`). An expression that does not compile has `dyn`.
pub fn variable_type(of: &Type) -> Type {
    match of {
        Type::List(element) => Type::list(variable_type(element)),
        Type::Map(key, value) => Type::map(variable_type(key), variable_type(value)),
        Type::Any
        | Type::Bool
        | Type::Bytes
        | Type::Double
        | Type::Duration
        | Type::Int
        | Type::Null
        | Type::String
        | Type::Timestamp
        | Type::Uint => of.clone(),
        Type::Dyn
        | Type::Error
        | Type::Object(_)
        | Type::Opaque(..)
        | Type::Wrapper(_)
        | Type::Type(_)
        | Type::TypeType
        | Type::Param(_)
        | Type::Var(_) => Type::Dyn,
    }
}

/// The struct types of `request`, `namespaceObject` and `variables`.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdmissionTypes;

fn strings() -> Type {
    Type::list(Type::String)
}

fn string_map() -> Type {
    Type::map(Type::String, Type::String)
}

fn request_field(field: &str) -> Option<Type> {
    Some(match field {
        "kind" | "requestKind" => Type::object(GROUP_VERSION_KIND),
        "resource" | "requestResource" => Type::object(GROUP_VERSION_RESOURCE),
        "subResource" | "requestSubResource" | "name" | "namespace" | "operation" => Type::String,
        "userInfo" => Type::object(USER_INFO),
        "dryRun" => Type::Bool,
        "options" => Type::Dyn,
        _ => return None,
    })
}

fn user_info_field(field: &str) -> Option<Type> {
    Some(match field {
        "username" | "uid" => Type::String,
        "groups" => strings(),
        "extra" => Type::map(Type::String, strings()),
        _ => return None,
    })
}

fn namespace_field(field: &str) -> Option<Type> {
    Some(match field {
        "metadata" => Type::object(NAMESPACE_METADATA),
        "spec" => Type::object(NAMESPACE_SPEC),
        "status" => Type::object(NAMESPACE_STATUS),
        _ => return None,
    })
}

fn metadata_field(field: &str) -> Option<Type> {
    Some(match field {
        "name" | "generateName" | "namespace" | "UID" | "resourceVersion" => Type::String,
        "labels" | "annotations" => string_map(),
        "creationTimestamp" | "deletionTimestamp" => Type::Timestamp,
        "deletionGracePeriodSeconds" | "generation" => Type::Int,
        "finalizers" => strings(),
        _ => return None,
    })
}

fn condition_field(field: &str) -> Option<Type> {
    Some(match field {
        "status" | "type" | "message" | "reason" => Type::String,
        "lastTransitionTime" => Type::Timestamp,
        _ => return None,
    })
}

fn field(type_name: &str, field: &str) -> Option<Type> {
    let one = |name: &str, ty: Type| (field == name).then_some(ty);
    match type_name {
        ADMISSION_REQUEST => request_field(field),
        GROUP_VERSION_KIND => matches!(field, "group" | "version" | "kind").then_some(Type::String),
        GROUP_VERSION_RESOURCE => matches!(field, "group" | "version" | "resource").then_some(Type::String),
        USER_INFO => user_info_field(field),
        NAMESPACE => namespace_field(field),
        NAMESPACE_METADATA => metadata_field(field),
        NAMESPACE_SPEC => one("finalizers", strings()),
        NAMESPACE_STATUS => one("phase", Type::String).or_else(|| one("conditions", conditions())),
        NAMESPACE_CONDITION => condition_field(field),
        _ => None,
    }
}

fn conditions() -> Type {
    Type::list(Type::object(NAMESPACE_CONDITION))
}

/// Names of scalars that Kubernetes' provider knows beside its own types, and that CEL does not already have
/// (`findScalar`); `list` and `map` have elements of any type there.
fn scalar(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "duration" => Type::Duration,
        "int" => Type::Int,
        "null_type" => Type::Null,
        "string" => Type::String,
        "timestamp" => Type::Timestamp,
        "uint" => Type::Uint,
        "list" => Type::list(Type::Any),
        "map" => Type::map(Type::Any, Type::Any),
        _ => return None,
    })
}

/// Lists and maps have names too, by the path to them (`FieldTypeMap`).
fn container(path: &str) -> Option<Type> {
    Some(match path {
        "kubernetes.AdmissionRequest.userInfo.groups" => strings(),
        "kubernetes.AdmissionRequest.userInfo.extra" => Type::map(Type::String, strings()),
        "kubernetes.AdmissionRequest.userInfo.extra.@elem" => strings(),
        "kubernetes.Namespace.metadata.labels" | "kubernetes.Namespace.metadata.annotations" => string_map(),
        "kubernetes.Namespace.metadata.finalizers" | "kubernetes.Namespace.spec.finalizers" => strings(),
        "kubernetes.Namespace.status.conditions" => conditions(),
        _ => return None,
    })
}

impl TypeProvider for AdmissionTypes {
    fn has_struct(&self, type_name: &str) -> bool {
        matches!(
            type_name,
            ADMISSION_REQUEST
                | GROUP_VERSION_KIND
                | GROUP_VERSION_RESOURCE
                | USER_INFO
                | NAMESPACE
                | NAMESPACE_METADATA
                | NAMESPACE_SPEC
                | NAMESPACE_STATUS
                | NAMESPACE_CONDITION
                | VARIABLES
        )
    }

    fn field_type(&self, type_name: &str, name: &str) -> Option<Type> {
        field(type_name, name)
    }

    fn struct_type(&self, type_name: &str) -> Option<Type> {
        if self.has_struct(type_name) {
            return Some(Type::object(type_name));
        }
        scalar(type_name).or_else(|| container(type_name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_fields() {
        let ty = |name, field| AdmissionTypes.field_type(name, field);
        assert_eq!(ty(ADMISSION_REQUEST, "namespace"), Some(Type::String));
        assert_eq!(ty(ADMISSION_REQUEST, "uid"), None);
        assert_eq!(ty(ADMISSION_REQUEST, "object"), None);
        assert_eq!(ty(NAMESPACE_METADATA, "UID"), Some(Type::String));
        assert_eq!(ty(NAMESPACE_METADATA, "uid"), None);
        assert_eq!(ty(NAMESPACE_STATUS, "conditions"), Some(Type::list(Type::object(NAMESPACE_CONDITION))));
        assert_eq!(ty(VARIABLES, "x"), None);
        assert_eq!(ty("kubernetes.Other", "x"), None);
    }

    #[test]
    fn variables_keep_plain_types_only() {
        let quantities = Type::list(Type::object("kubernetes.Quantity"));
        assert_eq!(variable_type(&quantities), Type::list(Type::Dyn));
        assert_eq!(variable_type(&Type::map(Type::String, Type::Int)), Type::map(Type::String, Type::Int));
        assert_eq!(variable_type(&Type::optional(Type::Int)), Type::Dyn);
        assert_eq!(variable_type(&Type::opaque("net.IP")), Type::Dyn);
        assert_eq!(variable_type(&Type::type_of(Type::Int)), Type::Dyn);
    }
}
