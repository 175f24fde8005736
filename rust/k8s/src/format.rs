//! `kubernetes.format`: named formats and why a text is not of a format (`pkg/cel/library/format.go`, `pkg/cel/format.go`).

pub(crate) mod names;
mod strfmt;
#[cfg(test)]
mod tests;

use celgate_cel::context::EvalContext;
use celgate_cel::decls::{FunctionDecl, OverloadDecl};
use celgate_cel::function::{Implementation, Library};
use celgate_cel::types::Type;
use celgate_cel::value::{GoKey, Native, Opaque, OpaqueType, Value};

use crate::args::{fields, mismatch, no_such_overload, opaque, string_list};
use crate::{cost, net_url};
use names::{dns_1035_label, dns_1123_label, dns_1123_subdomain, label_value, mask_trailing_dash, qualified_name};
use strfmt::{is_base64, is_date, is_date_time, is_uuid};

/// The type's name.
pub const TYPE_NAME: &str = "kubernetes.NamedFormat";

/// The type is a Go struct with a slice or function.
const UNHASHABLE: &str = "internal error: runtime error: hash of unhashable type cel.Format";

/// State: `[index into FORMATS]`.
static FORMAT: OpaqueType = OpaqueType {
    name: TYPE_NAME,
    go_name: "cel.Format",
    go_key: GoKey::Unhashable(UNHASHABLE),
    equal,
    size: None,
    native: Native::Named("Format"),
};

/// A format.
struct Format {
    /// What `format.named` calls it.
    name: &'static str,
    /// Name, and overload id, of the function that returns it.
    function: &'static str,
    /// What is wrong with a text; nothing if it is valid.
    validate: fn(&str) -> Vec<String>,
    /// Upstream's estimate of a regular expression's length, for the cost.
    regex_size: u64,
}

fn unless(valid: bool, message: &str) -> Vec<String> {
    if valid { Vec::new() } else { vec![message.to_owned()] }
}

macro_rules! formats {
    ($($index:literal $name:literal $size:literal $validate:expr;)*) => {
        static FORMATS: &[Format] = &[$(Format {
            name: $name,
            function: concat!("format.", $name),
            validate: $validate,
            regex_size: $size,
        }),*];

        /// The library.
        pub static LIBRARY: Library = Library {
            name: "kubernetes.format",
            functions,
            implementations: &[
                Implementation { id: "format-validate", eval: validate, cost: Some(validate_cost) },
                Implementation { id: "format-named", eval: named, cost: None },
                $(Implementation {
                    id: concat!("format.", $name),
                    eval: |ctx, args| constant(ctx, args, $index),
                    cost: None,
                }),*
            ],
        };
    };
}

formats! {
    0 "dns1123Label" 30 |s| dns_1123_label(s.as_bytes());
    1 "dns1123Subdomain" 60 |s| dns_1123_subdomain(s.as_bytes());
    2 "dns1035Label" 30 |s| dns_1035_label(s.as_bytes());
    3 "qualifiedName" 60 |s| qualified_name(s.as_bytes());
    4 "dns1123LabelPrefix" 30 |s| dns_1123_label(&mask_trailing_dash(s.as_bytes()));
    5 "dns1123SubdomainPrefix" 60 |s| dns_1123_subdomain(&mask_trailing_dash(s.as_bytes()));
    6 "dns1035LabelPrefix" 30 |s| dns_1035_label(&mask_trailing_dash(s.as_bytes()));
    7 "labelValue" 40 |s| label_value(s.as_bytes());
    8 "uri" 1103 |s| net_url::check_request_uri(s).err().into_iter().collect();
    9 "uuid" 70 |s| unless(is_uuid(s), "does not match the UUID format");
    10 "byte" 84 |s| unless(is_base64(s), "invalid base64");
    11 "date" 71 |s| unless(is_date(s), "invalid date");
    12 "datetime" 71 |s| unless(is_date_time(s), "invalid datetime");
}

fn functions() -> Vec<FunctionDecl> {
    let format = || Type::object(TYPE_NAME);
    let one = |name, overload| FunctionDecl { name, overloads: vec![overload] };
    let errors = Type::optional(Type::list(Type::String));
    let mut out = vec![
        one("validate", OverloadDecl::member("format-validate", vec![format(), Type::String], errors)),
        one("format.named", OverloadDecl::global("format-named", vec![Type::String], Type::optional(format()))),
    ];
    out.extend(FORMATS.iter().map(|f| one(f.function, OverloadDecl::global(f.function, vec![], format()))));
    out
}

fn format<'v>(value: &Value<'v>) -> Option<&'static Format> {
    match fields(value, &FORMAT)? {
        [Value::Int(index)] => FORMATS.get(usize::try_from(*index).ok()?),
        _ => None,
    }
}

fn equal<'a>(ctx: &EvalContext<'a>, this: &'a Opaque<'a>, other: Value<'a>) -> Value<'a> {
    match (format(&Value::Opaque(this)), format(&other)) {
        (Some(a), Some(b)) => Value::Bool(std::ptr::eq(a, b)),
        _ => no_such_overload(ctx, other),
    }
}

fn constant<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>], index: i64) -> Value<'a> {
    match args {
        [] => opaque(ctx, &FORMAT, &[Value::Int(index)]),
        _ => mismatch(ctx, "format", args),
    }
}

fn named<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(name)] = args else { return mismatch(ctx, "format.named", args) };
    let index = FORMATS.iter().position(|f| f.name == *name).and_then(|i| i64::try_from(i).ok());
    Value::Optional(index.map(|i| &*ctx.arena.alloc(constant(ctx, &[], i))))
}

fn validate<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let (Some(format), [_, Value::String(text)]) = (args.first().and_then(format), args) else {
        return mismatch(ctx, "validate", args);
    };
    let errors = (format.validate)(text);
    Value::Optional((!errors.is_empty()).then(|| &*ctx.arena.alloc(string_list(ctx, &errors))))
}

fn validate_cost<'a>(_: &EvalContext<'a>, args: &[Value<'a>], _: Value<'a>) -> u64 {
    args.first().and_then(format).map_or(1, |format| cost::regex(cost::size_at(args, 1), format.regex_size))
}
