//! Run-time checks of arguments against declared types (cel-go `Type.IsAssignableRuntimeType`).

use crate::context::EvalContext;
use crate::types::{Kind, Type};
use crate::value::{ListView, MapView, Value};

/// What an argument must be.
#[derive(Clone, Debug)]
pub(crate) enum Guard {
    /// Anything.
    Any,
    /// A value of this built-in kind.
    Kind(Kind),
    /// A list whose first element, if any, passes.
    List(Box<Guard>),
    /// A map whose first entry, if any, passes.
    Map(Box<Guard>, Box<Guard>),
    /// A value whose type has this name.
    Named(Box<str>),
}

impl Guard {
    pub(crate) fn new(ty: &Type) -> Guard {
        match ty {
            Type::Dyn | Type::Any | Type::Param(_) | Type::Var(_) => Guard::Any,
            Type::List(element) => Guard::List(Box::new(Guard::new(element))),
            Type::Map(key, value) => Guard::Map(Box::new(Guard::new(key)), Box::new(Guard::new(value))),
            Type::Object(name) | Type::Opaque(name, _) => Guard::Named(Box::from(&**name)),
            other => Guard::Kind(other.kind()),
        }
    }

    pub(crate) fn passes<'a>(&self, ctx: &EvalContext<'a>, value: Value<'a>) -> bool {
        match self {
            Guard::Any => true,
            Guard::Kind(kind) => kind_of(value) == Some(*kind),
            Guard::Named(name) => value.type_name() == &**name,
            Guard::List(element) => match ListView::of(value) {
                Some(list) => {
                    matches!(**element, Guard::Any) || list.get(0).is_none_or(|first| element.passes(ctx, first))
                }
                None => false,
            },
            Guard::Map(key, element) => match MapView::of(value) {
                Some(MapView::Lazy(_)) | None => false,
                Some(map) => {
                    if matches!((&**key, &**element), (Guard::Any, Guard::Any)) {
                        return true;
                    }
                    let first = map.order(ctx).entry(ctx, 0);
                    first.is_none_or(|(k, v)| key.passes(ctx, k) && element.passes(ctx, v))
                }
            },
        }
    }
}

fn kind_of(value: Value<'_>) -> Option<Kind> {
    Some(match value {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Bool,
        Value::Int(_) => Kind::Int,
        Value::Uint(_) => Kind::Uint,
        Value::Double(_) => Kind::Double,
        Value::String(_) => Kind::String,
        Value::Bytes(_) => Kind::Bytes,
        Value::Duration(_) => Kind::Duration,
        Value::Timestamp(_) => Kind::Timestamp,
        Value::Type(_) => Kind::Type,
        _ => return None,
    })
}
