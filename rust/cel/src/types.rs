//! CEL types as the type checker sees them (cel-go `common/types/types.go`, `checker/format.go`).

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A CEL type. Cheap to clone.
///
/// `==` is structural; what the checker calls "the same type" is [`Type::is_exact`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// The type of an expression that failed to check.
    Error,
    /// Anything, checked at run time.
    Dyn,
    /// `google.protobuf.Any`.
    Any,
    /// `null_type`.
    Null,
    /// `bool`.
    Bool,
    /// `int`.
    Int,
    /// `uint`.
    Uint,
    /// `double`.
    Double,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// `google.protobuf.Duration`.
    Duration,
    /// `google.protobuf.Timestamp`.
    Timestamp,
    /// `list(T)`.
    List(Arc<Type>),
    /// `map(K, V)`.
    Map(Arc<Type>, Arc<Type>),
    /// A named struct type (fields come from the type provider).
    Object(Arc<str>),
    /// A named abstract type with parameters: `optional_type(T)`, `kubernetes.Quantity`, `net.IP`, ...
    Opaque(Arc<str>, Arc<[Type]>),
    /// A nullable wrapper of a primitive (`wrapper(int)`).
    Wrapper(Arc<Type>),
    /// The type of a type value: `type(T)`.
    Type(Arc<Type>),
    /// The type `type` itself, without a parameter: what the identifier `type` denotes.
    TypeType,
    /// A type parameter of a generic declaration.
    Param(Arc<str>),
    /// A type variable made by the checker. A checked result has none.
    Var(u32),
}

/// The name of the type of optional values.
pub const OPTIONAL_TYPE: &str = "optional_type";

/// A type's general category (cel-go `types.Kind`). A wrapper has the kind of what it wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// [`Type::Error`]
    Error,
    /// [`Type::Dyn`]
    Dyn,
    /// [`Type::Any`]
    Any,
    /// [`Type::Null`]
    Null,
    /// [`Type::Bool`] and its wrapper
    Bool,
    /// [`Type::Int`] and its wrapper
    Int,
    /// [`Type::Uint`] and its wrapper
    Uint,
    /// [`Type::Double`] and its wrapper
    Double,
    /// [`Type::String`] and its wrapper
    String,
    /// [`Type::Bytes`] and its wrapper
    Bytes,
    /// [`Type::Duration`]
    Duration,
    /// [`Type::Timestamp`]
    Timestamp,
    /// [`Type::List`]
    List,
    /// [`Type::Map`]
    Map,
    /// [`Type::Object`]
    Struct,
    /// [`Type::Opaque`]
    Opaque,
    /// [`Type::Type`], [`Type::TypeType`]
    Type,
    /// [`Type::Param`], [`Type::Var`]
    TypeParam,
}

impl Type {
    /// `list(elem)`
    pub fn list(elem: Type) -> Type {
        Type::List(Arc::new(elem))
    }

    /// `map(key, value)`
    pub fn map(key: Type, value: Type) -> Type {
        Type::Map(Arc::new(key), Arc::new(value))
    }

    /// `optional_type(inner)`
    pub fn optional(inner: Type) -> Type {
        Type::Opaque(Arc::from(OPTIONAL_TYPE), Arc::from([inner]))
    }

    /// `type(of)`
    pub fn type_of(of: Type) -> Type {
        Type::Type(Arc::new(of))
    }

    /// A type parameter such as `T`.
    pub fn param(name: &str) -> Type {
        Type::Param(Arc::from(name))
    }

    /// An abstract type without parameters, such as `kubernetes.Quantity`.
    pub fn opaque(name: &str) -> Type {
        Type::Opaque(Arc::from(name), Arc::from([]))
    }

    /// A struct type by name. Well-known protobuf messages give the CEL type they stand for (cel-go `NewObjectType`).
    pub fn object(name: &str) -> Type {
        well_known(name).unwrap_or_else(|| Type::Object(Arc::from(name)))
    }

    /// The nullable form of a primitive type.
    pub fn wrapper(of: Type) -> Type {
        Type::Wrapper(Arc::new(of))
    }

    /// The general category.
    pub fn kind(&self) -> Kind {
        match self {
            Type::Error => Kind::Error,
            Type::Dyn => Kind::Dyn,
            Type::Any => Kind::Any,
            Type::Null => Kind::Null,
            Type::Bool => Kind::Bool,
            Type::Int => Kind::Int,
            Type::Uint => Kind::Uint,
            Type::Double => Kind::Double,
            Type::String => Kind::String,
            Type::Bytes => Kind::Bytes,
            Type::Duration => Kind::Duration,
            Type::Timestamp => Kind::Timestamp,
            Type::List(_) => Kind::List,
            Type::Map(..) => Kind::Map,
            Type::Object(_) => Kind::Struct,
            Type::Opaque(..) => Kind::Opaque,
            Type::Wrapper(of) => of.kind(),
            Type::Type(_) | Type::TypeType => Kind::Type,
            Type::Param(_) | Type::Var(_) => Kind::TypeParam,
        }
    }

    /// The name without parameters, as a value of this type would report it (cel-go `Type.TypeName`).
    pub fn type_name(&self) -> Cow<'_, str> {
        Cow::Borrowed(match self {
            Type::Error => "error",
            Type::Dyn => "dyn",
            Type::Any => "google.protobuf.Any",
            Type::Null => "null_type",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Uint => "uint",
            Type::Double => "double",
            Type::String => "string",
            Type::Bytes => "bytes",
            Type::Duration => "google.protobuf.Duration",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::List(_) => "list",
            Type::Map(..) => "map",
            Type::Object(name) | Type::Opaque(name, _) | Type::Param(name) => name,
            Type::Wrapper(of) => return of.type_name(),
            Type::Type(_) | Type::TypeType => "type",
            Type::Var(number) => return Cow::Owned(format!("_var{number}")),
        })
    }

    /// [`Type::type_name`], or `wrapper(name)` for a wrapper (cel-go `Type.DeclaredTypeName`).
    pub fn declared_type_name(&self) -> Cow<'_, str> {
        match self {
            Type::Wrapper(of) => Cow::Owned(format!("wrapper({})", of.type_name())),
            other => other.type_name(),
        }
    }

    /// The type's parameters: element, key and value, wrapped types of an opaque type.
    pub fn parameters(&self) -> Parameters<'_> {
        match self {
            Type::List(elem) => Parameters::One(elem),
            Type::Type(of) => Parameters::One(of),
            Type::Map(key, value) => Parameters::Two(key, value),
            Type::Opaque(_, parameters) => Parameters::Many(parameters),
            _ => Parameters::Many(&[]),
        }
    }

    /// Whether two types are the same to the checker: kind, name and parameters agree (cel-go `Type.IsExactType`).
    /// A wrapper is the same as what it wraps.
    pub fn is_exact(&self, other: &Type) -> bool {
        self.same(other, true)
    }

    /// [`Type::is_exact`] without regard to the names of type parameters (cel-go `Type.IsEquivalentType`).
    pub fn is_equivalent(&self, other: &Type) -> bool {
        self.same(other, false)
    }

    fn same(&self, other: &Type, parameter_names: bool) -> bool {
        match (self, other) {
            (Type::Wrapper(of), _) => of.same(other, parameter_names),
            (_, Type::Wrapper(of)) => self.same(of, parameter_names),
            (Type::List(a), Type::List(b)) | (Type::Type(a), Type::Type(b)) => a.same(b, parameter_names),
            (Type::Map(ak, av), Type::Map(bk, bv)) => ak.same(bk, parameter_names) && av.same(bv, parameter_names),
            (Type::Opaque(a, ap), Type::Opaque(b, bp)) => {
                a == b && ap.len() == bp.len() && ap.iter().zip(bp.iter()).all(|(a, b)| a.same(b, parameter_names))
            }
            (Type::Param(_) | Type::Var(_), Type::Param(_) | Type::Var(_)) => !parameter_names || self == other,
            _ => self == other,
        }
    }

    /// Whether the type, written out, has more than so many parts. Shared parts count as often as they occur.
    pub(crate) fn is_larger_than(&self, limit: usize) -> bool {
        fn count(ty: &Type, left: &mut usize) -> bool {
            match left.checked_sub(1) {
                None => true,
                Some(less) => {
                    *left = less;
                    ty.parameters().iter().any(|parameter| count(parameter, left))
                }
            }
        }
        count(self, &mut { limit })
    }

    /// `google.protobuf.Any` and `dyn`: anything goes.
    pub fn is_dyn(&self) -> bool {
        matches!(self, Type::Dyn | Type::Any)
    }

    /// The inside of an `optional_type`, if it is one.
    pub fn optional_inner(&self) -> Option<&Type> {
        match self {
            Type::Opaque(name, parameters) if **name == *OPTIONAL_TYPE => parameters.first(),
            _ => None,
        }
    }

    /// Go's `Type.String()`, as in "must evaluate to bool but got dyn". Differs from [`fmt::Display`] in the names of
    /// null, any, durations, timestamps, errors and type parameters.
    pub fn go_string(&self) -> String {
        let mut text = String::new();
        self.write_go_string(&mut text);
        text
    }

    fn write_go_string(&self, text: &mut String) {
        match self {
            Type::Param(_) | Type::Var(_) => {
                text.push('<');
                text.push_str(&self.type_name());
                text.push('>');
            }
            _ => {
                text.push_str(&self.declared_type_name());
                for (i, parameter) in self.parameters().iter().enumerate() {
                    text.push_str(if i == 0 { "(" } else { ", " });
                    parameter.write_go_string(text);
                }
                if !self.parameters().is_empty() {
                    text.push(')');
                }
            }
        }
    }
}

/// The parameters of a type, in order.
#[derive(Debug, Clone, Copy)]
pub enum Parameters<'a> {
    /// A list's element or a type's subject.
    One(&'a Type),
    /// A map's key and value.
    Two(&'a Type, &'a Type),
    /// An opaque type's.
    Many(&'a [Type]),
}

impl<'a> Parameters<'a> {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Parameters::One(_) => 1,
            Parameters::Two(..) => 2,
            Parameters::Many(all) => all.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The parameter at an index.
    pub fn get(&self, index: usize) -> Option<&'a Type> {
        match (self, index) {
            (Parameters::One(first), 0) | (Parameters::Two(first, _), 0) => Some(first),
            (Parameters::Two(_, second), 1) => Some(second),
            (Parameters::Many(all), _) => all.get(index),
            _ => None,
        }
    }

    /// The parameters in order.
    pub fn iter(self) -> impl Iterator<Item = &'a Type> {
        (0..self.len()).filter_map(move |index| self.get(index))
    }
}

/// The CEL type that a well-known protobuf message stands for (cel-go `checkedWellKnowns`).
fn well_known(name: &str) -> Option<Type> {
    Some(match name.strip_prefix("google.protobuf.")? {
        "BoolValue" => Type::wrapper(Type::Bool),
        "BytesValue" => Type::wrapper(Type::Bytes),
        "DoubleValue" | "FloatValue" => Type::wrapper(Type::Double),
        "Int64Value" | "Int32Value" => Type::wrapper(Type::Int),
        "UInt64Value" | "UInt32Value" => Type::wrapper(Type::Uint),
        "StringValue" => Type::wrapper(Type::String),
        "Any" => Type::Any,
        "Duration" => Type::Duration,
        "Timestamp" => Type::Timestamp,
        "ListValue" => Type::list(Type::Dyn),
        "NullValue" => Type::Null,
        "Struct" => Type::map(Type::String, Type::Dyn),
        "Value" => Type::Dyn,
        _ => return None,
    })
}

/// The text that cel-go's checker prints for the type (`checker/format.go`), as in "expected type 'list(int)'".
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Error => f.write_str("!error!"),
            Type::Any => f.write_str("any"),
            Type::Null => f.write_str("null"),
            Type::Duration => f.write_str("duration"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::List(_) | Type::Map(..) | Type::Opaque(..) | Type::Type(_) => {
                f.write_str(&self.type_name())?;
                for (i, parameter) in self.parameters().iter().enumerate() {
                    f.write_str(if i == 0 { "(" } else { ", " })?;
                    write!(f, "{parameter}")?;
                }
                if self.parameters().is_empty() { Ok(()) } else { f.write_str(")") }
            }
            Type::Var(number) => write!(f, "_var{number}"),
            _ => f.write_str(&self.declared_type_name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_texts() {
        let cases = [
            (Type::Null, "null", "null_type"),
            (Type::Any, "any", "google.protobuf.Any"),
            (Type::Error, "!error!", "error"),
            (Type::list(Type::Duration), "list(duration)", "list(google.protobuf.Duration)"),
            (Type::map(Type::String, Type::Dyn), "map(string, dyn)", "map(string, dyn)"),
            (Type::optional(Type::param("T")), "optional_type(T)", "optional_type(<T>)"),
            (Type::opaque("net.IP"), "net.IP", "net.IP"),
            (Type::object("google.protobuf.Int32Value"), "wrapper(int)", "wrapper(int)"),
            (Type::type_of(Type::TypeType), "type(type)", "type(type)"),
            (Type::list(Type::Var(3)), "list(_var3)", "list(<_var3>)"),
            (Type::object("a.B"), "a.B", "a.B"),
        ];
        for (ty, checker, go) in cases {
            assert_eq!(ty.to_string(), checker);
            assert_eq!(ty.go_string(), go);
        }
    }

    #[test]
    fn wrappers_are_exactly_what_they_wrap() {
        assert!(Type::wrapper(Type::Int).is_exact(&Type::Int));
        assert!(Type::list(Type::Int).is_exact(&Type::list(Type::wrapper(Type::Int))));
        assert!(!Type::wrapper(Type::Int).is_exact(&Type::Uint));
        assert_eq!(Type::wrapper(Type::Int).kind(), Kind::Int);
    }

    #[test]
    fn size_counts_shared_parts() {
        let pair = |ty: Type| Type::map(ty.clone(), ty);
        let large = (0..40).fold(Type::Int, |ty, _| pair(ty));
        assert!(large.is_larger_than(1000));
        assert!(!pair(pair(Type::Int)).is_larger_than(7));
        assert!(pair(pair(Type::Int)).is_larger_than(6));
    }

    #[test]
    fn parameter_names_matter_only_for_exactness() {
        let (a, b) = (Type::list(Type::param("A")), Type::list(Type::Var(1)));
        assert!(!a.is_exact(&b));
        assert!(a.is_equivalent(&b));
        assert!(!a.is_equivalent(&Type::list(Type::Int)));
    }
}
