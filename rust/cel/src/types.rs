//! CEL types as the type checker sees them (cel-go `common/types/types.go`).

use std::fmt;
use std::sync::Arc;

/// A CEL type. Cheap to clone.
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
    /// A type parameter of a generic declaration, or a type variable made fresh by the checker.
    Param(Arc<str>),
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
        Type::Opaque(Arc::from("optional_type"), Arc::from([inner]))
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

    /// A struct type by name.
    pub fn object(name: &str) -> Type {
        Type::Object(Arc::from(name))
    }
}

/// The text that cel-go's checker prints for the type (`checker/format.go`), as in "must evaluate to bool but got dyn".
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Error => f.write_str("!error!"),
            Type::Dyn => f.write_str("dyn"),
            Type::Any => f.write_str("any"),
            Type::Null => f.write_str("null"),
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Uint => f.write_str("uint"),
            Type::Double => f.write_str("double"),
            Type::String => f.write_str("string"),
            Type::Bytes => f.write_str("bytes"),
            Type::Duration => f.write_str("duration"),
            Type::Timestamp => f.write_str("timestamp"),
            Type::List(elem) => write!(f, "list({elem})"),
            Type::Map(key, value) => write!(f, "map({key}, {value})"),
            Type::Object(name) | Type::Param(name) => f.write_str(name),
            Type::Opaque(name, params) => {
                f.write_str(name)?;
                for (i, param) in params.iter().enumerate() {
                    f.write_str(if i == 0 { "(" } else { ", " })?;
                    write!(f, "{param}")?;
                }
                if params.is_empty() { Ok(()) } else { f.write_str(")") }
            }
            Type::Wrapper(of) => write!(f, "wrapper({of})"),
            Type::Type(of) => write!(f, "type({of})"),
        }
    }
}
