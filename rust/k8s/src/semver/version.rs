//! Semantic versions as `github.com/blang/semver/v4` parses and orders them.

use std::cmp::Ordering;

use crate::gotext::quote;

/// A part of a pre-release: numbers order before names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pre<'t> {
    Number(u64),
    Name(&'t str),
}

/// A version without its build meta data, which orders nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Version<'t> {
    pub(super) major: u64,
    pub(super) minor: u64,
    pub(super) patch: u64,
    /// The pre-release, known to be valid; empty for none.
    pub(super) pre: &'t str,
}

impl Version<'_> {
    /// `Version.Compare`.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch).cmp(&(other.major, other.minor, other.patch)).then_with(|| {
            match (self.pre.is_empty(), other.pre.is_empty()) {
                // A release comes after its pre-releases.
                (a, b) if a || b => a.cmp(&b),
                _ => self.pre.split('.').map(Pre::of).cmp(other.pre.split('.').map(Pre::of)),
            }
        })
    }
}

impl<'t> Pre<'t> {
    /// A valid part.
    fn of(text: &'t str) -> Self {
        match text.parse() {
            Ok(number) if is_digits(text) => Pre::Number(number),
            _ => Pre::Name(text),
        }
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

fn is_alphanumeric(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn has_leading_zeroes(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0')
}

/// `strconv.ParseUint` of what has only digits.
fn parse_uint(digits: &str) -> Result<u64, String> {
    let reason = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
    digits.parse().map_err(|_| format!("strconv.ParseUint: parsing {}: {reason}", quote(digits)))
}

fn number(text: &str, name: &str) -> Result<u64, String> {
    if !is_digits(text) {
        return Err(format!("Invalid character(s) found in {} number {}", name.to_ascii_lowercase(), quote(text)));
    }
    if has_leading_zeroes(text) {
        return Err(format!("{name} number must not contain leading zeroes {}", quote(text)));
    }
    parse_uint(text)
}

/// What is wrong with a part of a pre-release.
fn check_pre_release(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("Prerelease is empty".into());
    }
    if is_digits(text) {
        if has_leading_zeroes(text) {
            return Err(format!("Numeric PreRelease version must not contain leading zeroes {}", quote(text)));
        }
        return parse_uint(text).map(|_| ());
    }
    if !is_alphanumeric(text) {
        return Err(format!("Invalid character(s) found in prerelease {}", quote(text)));
    }
    Ok(())
}

/// `semver.Parse`; the error is its text.
pub(super) fn parse(text: &str) -> Result<Version<'_>, String> {
    if text.is_empty() {
        return Err("Version string empty".into());
    }
    let mut parts = text.splitn(3, '.');
    let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("No Major.Minor.Patch elements found".into());
    };
    let (major, minor) = (number(major, "Major")?, number(minor, "Minor")?);
    let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
    let (patch, pre) = rest.split_once('-').map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
    let patch = number(patch, "Patch")?;
    pre.iter().flat_map(|pre| pre.split('.')).try_for_each(check_pre_release)?;
    for part in build.iter().flat_map(|build| build.split('.')) {
        if part.is_empty() {
            return Err("Build meta data is empty".into());
        }
        if !is_alphanumeric(part) {
            return Err(format!("Invalid character(s) found in build meta data {}", quote(part)));
        }
    }
    Ok(Version { major, minor, patch, pre: pre.unwrap_or_default() })
}

/// Upstream's `normalizeAndParse`, up to the parsing: no `v` in front, no leading zeros, three numbers.
pub(super) fn normalize(text: &str) -> Result<String, String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_leading_zeros).collect();
    if parts.len() < 3 {
        if parts.last().is_some_and(|part| part.contains(['+', '-'])) {
            return Err("short version cannot contain PreRelease/Build meta data".into());
        }
        parts.resize(3, "0".into());
    }
    Ok(parts.join("."))
}

fn without_leading_zeros(part: &str) -> String {
    let trimmed = if part.len() > 1 { part.trim_start_matches('0') } else { part };
    let needs_zero = part.len() > 1 && !trimmed.starts_with(|c: char| c.is_ascii_digit());
    if needs_zero { format!("0{trimmed}") } else { trimmed.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(a: &str, b: &str) -> Ordering {
        match (parse(a), parse(b)) {
            (Ok(a), Ok(b)) => a.compare(&b),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn orders_as_the_specification_says() {
        let ascending = [
            "1.0.0-1",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0",
            "1.0.1",
            "1.1.0",
            "2.0.0",
        ];
        for pair in ascending.windows(2) {
            assert_eq!(order(pair[0], pair[1]), Ordering::Less, "{pair:?}");
        }
        assert_eq!(order("1.0.0+a", "1.0.0+b"), Ordering::Equal);
    }

    #[test]
    fn messages() {
        let error = |text| parse(text).err().unwrap_or_default();
        assert_eq!(error(""), "Version string empty");
        assert_eq!(error("1.0"), "No Major.Minor.Patch elements found");
        assert_eq!(error("v1.0.0"), "Invalid character(s) found in major number \"v1\"");
        assert_eq!(error("1.01.0"), "Minor number must not contain leading zeroes \"01\"");
        assert_eq!(error("1..0"), "strconv.ParseUint: parsing \"\": invalid syntax");
        assert_eq!(
            error("1.0.18446744073709551616"),
            "strconv.ParseUint: parsing \"18446744073709551616\": value out of range"
        );
        assert_eq!(error("1.0.0-"), "Prerelease is empty");
        assert_eq!(error("1.0.0-01"), "Numeric PreRelease version must not contain leading zeroes \"01\"");
        assert_eq!(error("1.0.0+"), "Build meta data is empty");
        assert_eq!(error("1.0.0+é"), "Invalid character(s) found in build meta data \"é\"");
    }

    #[test]
    fn normalizing() {
        assert_eq!(normalize("v1"), Ok("1.0.0".into()));
        assert_eq!(normalize("01.02.003-alpha"), Ok("1.2.3-alpha".into()));
        assert_eq!(normalize("00.0.00-x"), Ok("0.0.0-x".into()));
        assert!(normalize("1.2-x").is_err());
    }
}
