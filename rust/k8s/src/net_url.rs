//! Go's `net/url`: parsing with its messages, the accessors that CEL has, and the text that equality compares.

mod escape;

use std::borrow::Cow;

use crate::gotext::{lossy, quote};
use crate::netip::{Addr, parse_addr};
use escape::{Mode, escape, is_encoded, unescape};

/// More pairs than this make `Query` return nothing.
const MAX_QUERY_PARAMS: usize = 10_000;

/// User name and password, decoded.
#[derive(Debug)]
struct User<'t> {
    name: Cow<'t, [u8]>,
    password: Option<Cow<'t, [u8]>>,
}

/// A parsed URL (`url.URL`).
#[derive(Debug, Default)]
pub(crate) struct Url<'t> {
    scheme: String,
    opaque: &'t str,
    user: Option<User<'t>>,
    /// Host and port, decoded.
    host: Cow<'t, [u8]>,
    /// The path, decoded, and as it was written.
    path: Cow<'t, [u8]>,
    raw_path: &'t str,
    raw_query: &'t str,
    force_query: bool,
    fragment: Cow<'t, [u8]>,
    raw_fragment: &'t str,
    omit_host: bool,
}

/// `url.ParseRequestURI`, as far as it accepts; the error is its text.
pub(crate) fn check_request_uri(text: &str) -> Result<(), String> {
    parse_url(text, true).map(|_| ()).map_err(|message| format!("parse {}: {message}", quote(text)))
}

/// `url.Parse`; the error is its text.
pub(crate) fn parse(text: &str) -> Result<Url<'_>, String> {
    let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
    let mut url = parse_url(before, false).map_err(|message| format!("parse {}: {message}", quote(before)))?;
    if !fragment.is_empty() {
        url.fragment = unescape(fragment.as_bytes(), Mode::Fragment)
            .map_err(|message| format!("parse {}: {message}", quote(text)))?;
        url.raw_fragment = fragment;
    }
    Ok(url)
}

/// `getScheme`: the scheme and what follows it.
fn split_scheme(text: &str) -> Result<(&str, &str), String> {
    for (i, c) in text.bytes().enumerate() {
        match c {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if i > 0 => {}
            b':' if i == 0 => return Err("missing protocol scheme".into()),
            b':' => return Ok(text.split_once(':').unwrap_or(("", text))),
            _ => break,
        }
    }
    Ok(("", text))
}

fn parse_url(text: &str, via_request: bool) -> Result<Url<'_>, String> {
    if text.bytes().any(|b| b.is_ascii_control()) {
        return Err("net/url: invalid control character in URL".into());
    }
    if text.is_empty() && via_request {
        return Err("empty url".into());
    }
    let mut url = Url::default();
    if text == "*" {
        url.path = Cow::Borrowed(b"*");
        return Ok(url);
    }
    let (scheme, mut rest) = split_scheme(text)?;
    url.scheme = scheme.to_ascii_lowercase();
    match rest.split_once('?') {
        Some((before, "")) => (rest, url.force_query) = (before, true),
        Some((before, query)) => (rest, url.raw_query) = (before, query),
        None => {}
    }
    let has_scheme = !scheme.is_empty();
    if !rest.starts_with('/') {
        if has_scheme {
            url.opaque = rest;
            return Ok(url);
        }
        if via_request {
            return Err("invalid URI for request".into());
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return Err("first path segment in URL cannot contain colon".into());
        }
    }
    match rest.strip_prefix("//") {
        Some(authority) if has_scheme || !via_request && !authority.starts_with('/') => {
            let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
            rest = path;
            (url.user, url.host) = parse_authority(&url.scheme, authority)?;
        }
        _ => url.omit_host = has_scheme && rest.starts_with('/'),
    }
    url.path = unescape(rest.as_bytes(), Mode::Path)?;
    url.raw_path = rest;
    Ok(url)
}

type Authority<'t> = (Option<User<'t>>, Cow<'t, [u8]>);

fn parse_authority<'t>(scheme: &str, authority: &'t str) -> Result<Authority<'t>, String> {
    let Some((info, host)) = authority.rsplit_once('@') else { return Ok((None, parse_host(scheme, authority)?)) };
    let host = parse_host(scheme, host)?;
    if !info.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b)) {
        return Err("net/url: invalid userinfo".into());
    }
    let decode = |text: &'t str| unescape(text.as_bytes(), Mode::UserPassword);
    let user = match info.split_once(':') {
        Some((name, password)) => User { name: decode(name)?, password: Some(decode(password)?) },
        None => User { name: decode(info)?, password: None },
    };
    Ok((Some(user), host))
}

/// `validOptionalPort`: nothing, or a colon and digits.
fn is_port(text: &[u8]) -> bool {
    match text.split_first() {
        Some((b':', digits)) => digits.iter().all(u8::is_ascii_digit),
        Some(_) => false,
        None => true,
    }
}

fn check_port(text: &str) -> Result<(), String> {
    if is_port(text.as_bytes()) { Ok(()) } else { Err(format!("invalid port {} after host", quote(text))) }
}

fn parse_host<'t>(scheme: &str, host: &'t str) -> Result<Cow<'t, [u8]>, String> {
    match (host.rfind('['), host.find(':'), host.rfind(':')) {
        (Some(0), ..) => return parse_ip_literal(host).map(Cow::Owned),
        (Some(_), ..) => return Err("invalid IP-literal".into()),
        (None, Some(first), Some(last)) => {
            // Lists of hosts with ports exist in other schemes.
            let strict = scheme == "http" || scheme == "https";
            check_port(host.get(if strict { first } else { last }..).unwrap_or_default())?;
        }
        (None, ..) => {}
    }
    unescape(host.as_bytes(), Mode::Host)
}

/// A host in brackets, with an optional zone and port.
fn parse_ip_literal(host: &str) -> Result<Vec<u8>, String> {
    let (name, port) = host.rsplit_once(']').ok_or("missing ']' in host")?;
    check_port(port)?;
    let port = unescape(port.as_bytes(), Mode::Host)?;
    let name = name.strip_prefix('[').unwrap_or(name);
    let (address, zone) = name.split_at(name.find("%25").unwrap_or(name.len()));
    let mut decoded = unescape(address.as_bytes(), Mode::Host)?.into_owned();
    decoded.extend_from_slice(&unescape(zone.as_bytes(), Mode::Zone)?);
    match parse_addr(&decoded).map_err(|message| format!("invalid host: {message}"))?.addr {
        Addr::V4(_) => Err("invalid IP-literal".into()),
        Addr::V6(_) => Ok([b"[", decoded.as_slice(), b"]", &port].concat()),
    }
}

impl Url<'_> {
    /// `URL.Scheme`
    pub(crate) fn scheme(&self) -> &str {
        &self.scheme
    }

    /// `URL.Host`
    pub(crate) fn host(&self) -> String {
        lossy(&self.host)
    }

    /// `splitHostPort`
    fn split_host(&self) -> (&[u8], &[u8]) {
        let host: &[u8] = &self.host;
        let colon = host.iter().rposition(|b| *b == b':').unwrap_or(host.len());
        let (name, port) = match host.split_at_checked(colon) {
            Some((name, port)) if is_port(port) => (name, port.get(1..).unwrap_or_default()),
            _ => (host, &[][..]),
        };
        (name.strip_prefix(b"[").and_then(|n| n.strip_suffix(b"]")).unwrap_or(name), port)
    }

    /// `URL.Hostname()`
    pub(crate) fn hostname(&self) -> String {
        lossy(self.split_host().0)
    }

    /// `URL.Port()`
    pub(crate) fn port(&self) -> String {
        lossy(self.split_host().1)
    }

    /// `URL.EscapedPath()`
    pub(crate) fn escaped_path(&self) -> Cow<'_, str> {
        // The written form decodes to the path by construction.
        if is_encoded(self.raw_path.as_bytes(), Mode::Path) && !self.raw_path.is_empty() {
            return Cow::Borrowed(self.raw_path);
        }
        if *self.path == *b"*" {
            return Cow::Borrowed("*");
        }
        Cow::Owned(escape(&self.path, Mode::Path))
    }

    fn escaped_fragment(&self) -> Cow<'_, str> {
        if is_encoded(self.raw_fragment.as_bytes(), Mode::Fragment) && !self.raw_fragment.is_empty() {
            return Cow::Borrowed(self.raw_fragment);
        }
        Cow::Owned(escape(&self.fragment, Mode::Fragment))
    }

    /// `URL.Query()`: keys in the order of their first appearance, each with its values; malformed pairs are dropped.
    pub(crate) fn query(&self) -> Vec<(String, Vec<String>)> {
        let mut out: Vec<(String, Vec<String>)> = Vec::new();
        let mut index = std::collections::HashMap::new();
        if self.raw_query.bytes().filter(|b| *b == b'&').count() + 1 > MAX_QUERY_PARAMS {
            return out;
        }
        for pair in self.raw_query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decode = |text: &str| unescape(text.as_bytes(), Mode::QueryComponent).map(|t| lossy(&t));
            let (Ok(key), Ok(value)) = (decode(key), decode(value)) else { continue };
            let at = *index.entry(key.clone()).or_insert(out.len());
            match out.get_mut(at) {
                Some((_, values)) => values.push(value),
                None => out.push((key, vec![value])),
            }
        }
        out
    }
}

/// `URL.String()`
impl std::fmt::Display for Url<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.scheme.is_empty() {
            write!(f, "{}:", self.scheme)?;
        }
        if self.opaque.is_empty() {
            self.write_hierarchy(f)?;
        } else {
            f.write_str(self.opaque)?;
        }
        if self.force_query || !self.raw_query.is_empty() {
            write!(f, "?{}", self.raw_query)?;
        }
        if !self.fragment.is_empty() {
            write!(f, "#{}", self.escaped_fragment())?;
        }
        Ok(())
    }
}

impl Url<'_> {
    /// Authority and path.
    fn write_hierarchy(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let has_authority = !self.host.is_empty() || self.user.is_some();
        if has_authority || !self.scheme.is_empty() && !self.omit_host {
            if has_authority || !self.path.is_empty() {
                f.write_str("//")?;
            }
            if let Some(user) = &self.user {
                f.write_str(&escape(&user.name, Mode::UserPassword))?;
                if let Some(password) = &user.password {
                    write!(f, ":{}", escape(password, Mode::UserPassword))?;
                }
                f.write_str("@")?;
            }
            f.write_str(&escape(&self.host, Mode::Host))?;
        }
        let path = self.escaped_path();
        if !path.is_empty() && !path.starts_with('/') && !self.host.is_empty() {
            f.write_str("/")?;
        }
        // A relative path cannot get here: `ParseRequestURI` refuses it before.
        f.write_str(&path)
    }
}
