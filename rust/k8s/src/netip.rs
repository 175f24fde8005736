//! Go's `net/netip` as far as the `ip` and `cidr` libraries (and hosts in URLs) need it: parsing with its messages, and
//! printing. An address is 4 or 16 bytes; a zone is only known to be there.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::gotext::{quote, quote_bytes};

/// An address without a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addr {
    /// IPv4
    V4([u8; 4]),
    /// IPv6, also when it holds an IPv4 address
    V6([u8; 16]),
}

/// A parsed address, and whether it had a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub(crate) addr: Addr,
    pub(crate) zone: bool,
}

fn error(text: &[u8], message: &str, at: &[u8]) -> String {
    let at = if at.is_empty() { String::new() } else { format!(" (at {})", quote_bytes(at)) };
    format!("ParseAddr({}): {message}{at}", quote_bytes(text))
}

/// `netip.ParseAddr`; the error is its text. Bytes, since a URL's host can be decoded to what is not UTF-8.
pub(crate) fn parse_addr(text: &[u8]) -> Result<Parsed, String> {
    match text.iter().find(|b| matches!(b, b'.' | b':' | b'%')) {
        Some(b'.') => Ok(Parsed { addr: Addr::V4(parse_v4(text, text)?), zone: false }),
        Some(b':') => parse_v6(text),
        Some(_) => Err(error(text, "missing IPv6 address", b"")),
        None => Err(error(text, "unable to parse IP", b"")),
    }
}

/// Parses `part` as four decimal fields; `whole` is what the message shows.
fn parse_v4(whole: &[u8], part: &[u8]) -> Result<[u8; 4], String> {
    let mut fields = [0u8; 4];
    let (mut value, mut position, mut digits) = (0u16, 0usize, 0usize);
    for (i, byte) in part.iter().enumerate() {
        let rest = || part.get(i..).unwrap_or_default();
        match byte {
            b'0'..=b'9' => {
                if digits == 1 && value == 0 {
                    return Err(error(whole, "IPv4 field has octet with leading zero", b""));
                }
                value = value * 10 + u16::from(byte - b'0');
                digits += 1;
                if value > 255 {
                    return Err(error(whole, "IPv4 field has value >255", b""));
                }
            }
            b'.' => {
                let after_dot = i == 0 || part.get(i - 1) == Some(&b'.');
                if after_dot || i + 1 == part.len() {
                    return Err(error(whole, "IPv4 field must have at least one digit", rest()));
                }
                if position == 3 {
                    return Err(error(whole, "IPv4 address too long", b""));
                }
                store(&mut fields, position, value);
                (position, value, digits) = (position + 1, 0, 0);
            }
            _ => return Err(error(whole, "unexpected character", rest())),
        }
    }
    if position < 3 {
        return Err(error(whole, "IPv4 address too short", b""));
    }
    store(&mut fields, 3, value);
    Ok(fields)
}

fn store(fields: &mut [u8], at: usize, value: u16) {
    if let (Some(field), Ok(value)) = (fields.get_mut(at), u8::try_from(value)) {
        *field = value;
    }
}

/// What one hexadecimal field, read at the front of the text, leads to.
struct Field {
    value: u16,
    length: usize,
}

fn hex_field(whole: &[u8], text: &[u8]) -> Result<Field, String> {
    let length = text.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    if length == 0 {
        return Err(error(whole, "each colon-separated field must have at least one digit", text));
    }
    if length > 4 {
        return Err(error(whole, "each group must have 4 or less digits", text));
    }
    let digits = text.iter().take(length).filter_map(|b| char::from(*b).to_digit(16));
    let value = digits.fold(0, |value, digit| value << 4 | u16::try_from(digit).unwrap_or_default());
    Ok(Field { value, length })
}

fn parse_v6(whole: &[u8]) -> Result<Parsed, String> {
    let fail = |message, at: &[u8]| Err(error(whole, message, at));
    let (mut text, zone) = match whole.iter().position(|b| *b == b'%').and_then(|at| whole.split_at_checked(at)) {
        Some((_, [_])) => return fail("zone must be a non-empty string", b""),
        Some((text, _)) => (text, true),
        None => (whole, false),
    };
    let mut groups: Vec<u8> = Vec::with_capacity(16);
    let mut ellipsis = None;
    if let Some(rest) = text.strip_prefix(b"::") {
        (text, ellipsis) = (rest, Some(0));
    }
    while !(text.is_empty() && ellipsis == Some(groups.len())) && groups.len() < 16 {
        let field = hex_field(whole, text)?;
        let rest = text.get(field.length..).unwrap_or_default();
        if rest.starts_with(b".") {
            if ellipsis.is_none() && groups.len() != 12 {
                return fail("embedded IPv4 address must replace the final 2 fields of the address", text);
            }
            if groups.len() > 12 {
                return fail("too many hex fields to fit an embedded IPv4 at the end of the address", text);
            }
            groups.extend(parse_v4(whole, text)?);
            text = b"";
            break;
        }
        groups.extend(field.value.to_be_bytes());
        text = rest;
        if text.is_empty() {
            break;
        }
        let Some(after) = text.strip_prefix(b":") else { return fail("unexpected character, want colon", text) };
        if after.is_empty() {
            return fail("colon must be followed by more characters", text);
        }
        text = after;
        if let Some(after) = text.strip_prefix(b":") {
            if ellipsis.is_some() {
                return fail("multiple :: in address", text);
            }
            (text, ellipsis) = (after, Some(groups.len()));
        }
    }
    if !text.is_empty() {
        return fail("trailing garbage after address", text);
    }
    let addr = expand(&groups, ellipsis).map_err(|message| error(whole, message, b""))?;
    Ok(Parsed { addr: Addr::V6(addr), zone })
}

/// Puts zeros where the `::` was.
fn expand(groups: &[u8], ellipsis: Option<usize>) -> Result<[u8; 16], &'static str> {
    let missing = 16usize.saturating_sub(groups.len());
    let (head, tail) = match ellipsis {
        None if missing > 0 => return Err("address string too short"),
        Some(_) if missing == 0 => return Err("the :: must expand to at least one field of zeros"),
        None => (groups, &[][..]),
        Some(at) => groups.split_at_checked(at).unwrap_or((groups, &[])),
    };
    let mut out = [0u8; 16];
    for (to, from) in out.iter_mut().zip(head) {
        *to = *from;
    }
    for (to, from) in out.iter_mut().rev().zip(tail.iter().rev()) {
        *to = *from;
    }
    Ok(out)
}

/// `netip.ParsePrefix`: an address and a number of bits; the error is its text.
pub(crate) fn parse_prefix(text: &str) -> Result<(Addr, u8), String> {
    let fail = |message: &str| format!("netip.ParsePrefix({}): {message}", quote(text));
    let (address, bits) = text.rsplit_once('/').ok_or_else(|| fail("no '/'"))?;
    let parsed = parse_addr(address.as_bytes()).map_err(|message| fail(&message))?;
    if parsed.zone {
        return Err(fail("IPv6 zones cannot be present in a prefix"));
    }
    let bad_bits = || fail(&format!("bad bits after slash: {}", quote(bits)));
    if !bits.bytes().all(|b| b.is_ascii_digit()) || (bits.len() > 1 && bits.starts_with('0')) {
        return Err(bad_bits());
    }
    // Go's int has 64 bits; what does not fit is no number there.
    let bits = bits.parse::<i64>().map_err(|_| bad_bits())?;
    match u8::try_from(bits) {
        Ok(bits) if bits <= parsed.addr.bit_len() => Ok((parsed.addr, bits)),
        _ => Err(fail("prefix length out of range")),
    }
}

impl Addr {
    /// The bytes, most significant first.
    pub(crate) fn octets(&self) -> &[u8] {
        match self {
            Addr::V4(octets) => octets,
            Addr::V6(octets) => octets,
        }
    }

    /// The address of 4 or 16 bytes.
    pub(crate) fn from_octets(octets: &[u8]) -> Option<Self> {
        match octets.len() {
            4 => octets.try_into().ok().map(Addr::V4),
            16 => octets.try_into().ok().map(Addr::V6),
            _ => None,
        }
    }

    /// 32 or 128.
    pub(crate) fn bit_len(&self) -> u8 {
        match self {
            Addr::V4(_) => 32,
            Addr::V6(_) => 128,
        }
    }

    /// `netip.Addr.Is4In6`.
    pub(crate) fn is_4_in_6(&self) -> bool {
        matches!(self, Addr::V6([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ..]))
    }

    /// The address with all but the first `bits` bits cleared.
    pub(crate) fn masked(&self, bits: u8) -> Self {
        let mut out = *self;
        let octets: &mut [u8] = match &mut out {
            Addr::V4(octets) => octets,
            Addr::V6(octets) => octets,
        };
        for (i, octet) in (0u8..).zip(octets.iter_mut()) {
            let keep = bits.saturating_sub(i.saturating_mul(8)).min(8);
            *octet &= 0xffu8.checked_shl(u32::from(8 - keep)).unwrap_or(0);
        }
        out
    }

    /// Whether both are of one family and agree in the first `bits` bits.
    pub(crate) fn same_network(&self, other: &Self, bits: u8) -> bool {
        self.masked(bits) == other.masked(bits)
    }
}

/// `netip.Addr.String`, for addresses that hold no IPv4 address.
impl std::fmt::Display for Addr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Addr::V4(octets) => write!(f, "{}", Ipv4Addr::from(*octets)),
            Addr::V6(octets) => write_v6(f, &Ipv6Addr::from(*octets).segments()),
        }
    }
}

fn write_v6(f: &mut std::fmt::Formatter<'_>, groups: &[u16; 8]) -> std::fmt::Result {
    // The longest run of at least two zero groups, the first of equals.
    let (mut start, mut length, mut run) = (8, 1, 0);
    for (i, group) in groups.iter().enumerate() {
        run = if *group == 0 { run + 1 } else { 0 };
        if run > length {
            (start, length) = (i + 1 - run, run);
        }
    }
    for (i, group) in groups.iter().enumerate() {
        if i == start {
            f.write_str("::")?;
        } else if i < start || i >= start + length {
            if i > 0 && i != start + length {
                f.write_str(":")?;
            }
            write!(f, "{group:x}")?;
        }
    }
    Ok(())
}
