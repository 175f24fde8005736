//! `kubernetes.urls`: URLs in CEL (`pkg/cel/library/urls.go`, `pkg/cel/url.go`).

use celgate_cel::context::EvalContext;
use celgate_cel::decls::{FunctionDecl, OverloadDecl};
use celgate_cel::function::{Implementation, Library};
use celgate_cel::types::Type;
use celgate_cel::value::{GoKey, MapValue, Native, Opaque, OpaqueType, Value};

use crate::args::{fields, mismatch, no_such_overload, opaque, string, string_list};
use crate::cost;
use crate::net_url::{Url, check_request_uri, parse};

/// The type's name.
pub const TYPE_NAME: &str = "kubernetes.URL";

/// State: `[scheme, host, hostname, port, escaped path, text as written, text as Go prints it]`. All is found when the URL is
/// parsed, which is charged by its length, so that reading a part, which costs 1, takes no time.
static URL: OpaqueType = OpaqueType {
    name: TYPE_NAME,
    go_name: "cel.URL",
    go_key: GoKey::Identity,
    equal,
    size: None,
    native: Native::Text("URL", text),
};

/// The library.
pub static LIBRARY: Library = Library {
    name: "kubernetes.urls",
    functions,
    implementations: &[
        Implementation { id: "string_to_url", eval: string_to_url, cost: Some(cost::first_argument) },
        Implementation { id: "url_get_scheme", eval: get_scheme, cost: None },
        Implementation { id: "url_get_host", eval: get_host, cost: None },
        Implementation { id: "url_get_hostname", eval: get_hostname, cost: None },
        Implementation { id: "url_get_port", eval: get_port, cost: None },
        Implementation { id: "url_get_escaped_path", eval: get_escaped_path, cost: None },
        Implementation { id: "url_get_query", eval: get_query, cost: None },
        // Upstream's estimator does not know `isURL`: the default of 1.
        Implementation { id: "is_url_string", eval: is_url, cost: None },
    ],
};

fn functions() -> Vec<FunctionDecl> {
    let url = || Type::object(TYPE_NAME);
    let one = |name, overload| FunctionDecl { name, overloads: vec![overload] };
    let get = |name, id, result| one(name, OverloadDecl::member(id, vec![url()], result));
    vec![
        one("url", OverloadDecl::global("string_to_url", vec![Type::String], url())),
        get("getScheme", "url_get_scheme", Type::String),
        get("getHost", "url_get_host", Type::String),
        get("getHostname", "url_get_hostname", Type::String),
        get("getPort", "url_get_port", Type::String),
        get("getEscapedPath", "url_get_escaped_path", Type::String),
        get("getQuery", "url_get_query", Type::map(Type::String, Type::list(Type::String))),
        one("isURL", OverloadDecl::global("is_url_string", vec![Type::String], Type::Bool)),
    ]
}

/// Places in the state.
mod place {
    pub(super) const SCHEME: usize = 0;
    pub(super) const HOST: usize = 1;
    pub(super) const HOSTNAME: usize = 2;
    pub(super) const PORT: usize = 3;
    pub(super) const ESCAPED_PATH: usize = 4;
    pub(super) const WRITTEN: usize = 5;
    pub(super) const PRINTED: usize = 6;
}

fn value<'a>(ctx: &EvalContext<'a>, text: &'a str, url: &Url<'_>) -> Value<'a> {
    let part = |part: &str| string(ctx, part);
    let state = [
        part(url.scheme()),
        part(&url.host()),
        part(&url.hostname()),
        part(&url.port()),
        part(&url.escaped_path()),
        Value::String(text),
        part(&url.to_string()),
    ];
    opaque(ctx, &URL, &state)
}

/// A part of a URL value, by its place.
fn part<'a>(value: &Value<'a>, place: usize) -> Option<&'a str> {
    match fields(value, &URL)?.get(place) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn text<'a>(_: &EvalContext<'a>, this: &'a Opaque<'a>) -> Value<'a> {
    Value::String(part(&Value::Opaque(this), place::PRINTED).unwrap_or_default())
}

fn equal<'a>(ctx: &EvalContext<'a>, this: &'a Opaque<'a>, other: Value<'a>) -> Value<'a> {
    match (part(&Value::Opaque(this), place::PRINTED), part(&other, place::PRINTED)) {
        (Some(a), Some(b)) => Value::Bool(a == b),
        _ => no_such_overload(ctx, other),
    }
}

fn string_to_url<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(text)] = *args else { return mismatch(ctx, "url", args) };
    match check_request_uri(text).and_then(|()| parse(text)) {
        Ok(url) => value(ctx, text, &url),
        Err(message) => ctx.errorf(format_args!("URL parse error during conversion from string: {message}")),
    }
}

fn is_url<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let [Value::String(text)] = args else { return mismatch(ctx, "isURL", args) };
    Value::Bool(check_request_uri(text).is_ok())
}

fn get<'a>(ctx: &EvalContext<'a>, function: &str, args: &[Value<'a>], place: usize) -> Value<'a> {
    match args {
        [url] => part(url, place).map(Value::String),
        _ => None,
    }
    .unwrap_or_else(|| mismatch(ctx, function, args))
}

fn get_scheme<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    get(ctx, "getScheme", args, place::SCHEME)
}

fn get_host<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    get(ctx, "getHost", args, place::HOST)
}

fn get_hostname<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    get(ctx, "getHostname", args, place::HOSTNAME)
}

fn get_port<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    get(ctx, "getPort", args, place::PORT)
}

fn get_escaped_path<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    get(ctx, "getEscapedPath", args, place::ESCAPED_PATH)
}

/// Parses the query anew, as upstream does.
fn get_query<'a>(ctx: &EvalContext<'a>, args: &[Value<'a>]) -> Value<'a> {
    let url = args.first().and_then(|url| part(url, place::WRITTEN)).and_then(|text| parse(text).ok());
    let Some(url) = url else { return mismatch(ctx, "getQuery", args) };
    let entries: Vec<_> =
        url.query().iter().map(|(key, values)| (string(ctx, key), string_list(ctx, values))).collect();
    Value::Map(MapValue::new(ctx.arena, ctx.arena.alloc_slice_copy(&entries)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gotext::quote;
    use crate::testing::{call, equal, show, text, with_context};

    fn parts(s: &str) -> String {
        let mut out = String::new();
        with_context(|ctx| {
            let url = call(ctx, &LIBRARY, "string_to_url", &[text(ctx, s)]);
            let get = |id| show(call(ctx, &LIBRARY, id, &[url]));
            let ids = ["url_get_scheme", "url_get_host", "url_get_hostname", "url_get_port", "url_get_escaped_path"];
            out = if url.is_error() { show(url) } else { ids.map(get).join(" ") };
        });
        out
    }

    #[test]
    fn accessors() {
        assert_eq!(
            parts("HTTPS://user:pa%20ss@example.com:80/a b?q#f"),
            r#""https" "example.com:80" "example.com" "80" "/a%20b""#
        );
        assert_eq!(parts("http://[fe80::1%25en0]:8/"), r#""http" "[fe80::1%en0]:8" "fe80::1%en0" "8" "/""#);
        assert_eq!(parts("/a%2fb%41"), r#""" "" "" "" "/a%2fb%41""#);
        assert_eq!(parts("/a%2fb{"), r#""" "" "" "" "/a/b%7B""#);
        assert_eq!(parts("mailto:a@b"), r#""mailto" "" "" "" """#);
        assert_eq!(parts("*"), r#""" "" "" "" "*""#);
    }

    #[test]
    fn messages() {
        let bad = |s: &str, message| {
            assert_eq!(
                parts(s),
                format!("error: URL parse error during conversion from string: parse {}: {message}", quote(s))
            );
        };
        bad("", "empty url");
        bad("../a", "invalid URI for request");
        bad(":a", "missing protocol scheme");
        bad("http://a:b:c/", "invalid port \":b:c\" after host");
        bad("http://[::1", "missing ']' in host");
        bad("http://[1.2.3.4]/", "invalid IP-literal");
        bad("http://h/%zz", "invalid URL escape \"%zz\"");
        bad("http://h x/", "invalid character \" \" in host name");
        bad("http://a\"@h/", "net/url: invalid userinfo");
        bad("/\u{1}", "net/url: invalid control character in URL");
        bad(
            "http://[::g]/",
            "invalid host: ParseAddr(\"::g\"): each colon-separated field must have at least one digit (at \"g\")",
        );
    }

    #[test]
    fn query() {
        with_context(|ctx| {
            let query = |s: &str| {
                let url = call(ctx, &LIBRARY, "string_to_url", &[text(ctx, s)]);
                show(call(ctx, &LIBRARY, "url_get_query", &[url]))
            };
            assert_eq!(query("/p?k=a&l=b+c&k=%64&bad=%zz&x;y=1&&v"), r#"{"k": ["a", "d"], "l": ["b c"], "v": [""]}"#);
            assert_eq!(query(&format!("/p?{}a", "a&".repeat(10_000))), "{}");
        });
    }

    #[test]
    fn equality_is_by_text_of_the_parsed_url() {
        with_context(|ctx| {
            let url = |s| call(ctx, &LIBRARY, "string_to_url", &[text(ctx, s)]);
            let same = |a, b| equal(ctx, url(a), url(b)) == "true";
            assert!(same("HTTP://h/a b", "http://h/a%20b"));
            assert!(same("http://u:p@h?#", "http://u:p@h?"));
            assert!(!same("http://h?", "http://h"));
            assert!(!same("http:///p", "http:/p"));
            assert_eq!(equal(ctx, url("/a"), text(ctx, "/a")), "error: no such overload");
        });
    }
}
