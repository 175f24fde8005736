//! Which libraries an expression sees (`k8s.io/apiserver/pkg/cel/environment/base.go`).
//!
//! Each entry knows the Kubernetes version that introduced it, and the one that removed it, if any. Stored expressions see
//! everything that the newest version has ([`Version::STORED`]); the registry checks new expressions against an older
//! version, so that one release back can still read them. A library that grew is there once for each of its versions.

use celgate_cel::env::EnvBuilder;
use celgate_cel::function::{FunctionTable, Library};
use celgate_cel::library::{comprehensions, lists as cel_lists, optional, sets, standard, strings};
use celgate_cel::macros::{self, Macro};
use celgate_cel::parser::ParseOptions;
use celgate_cel::types::Type;
use celgate_cel::validate::Validator;

use crate::{authz, cidr, format, ip, lists, quantity, regex, semver, urls};

/// A Kubernetes version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major version.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
}

impl Version {
    /// What stored expressions are compatible with: later than every version.
    pub const STORED: Version = Version { major: u32::MAX, minor: u32::MAX };

    /// Version 1.`minor`.
    pub const fn minor(minor: u32) -> Version {
        Version { major: 1, minor }
    }
}

/// One thing that an environment has.
#[derive(Clone, Copy)]
enum Feature {
    Library(&'static Library),
    /// A type whose name is an identifier.
    OpaqueType(&'static str),
    /// The identifier `optional_type`.
    OptionalType,
    CrossTypeNumericComparisons,
    Validator(Validator),
    /// The macros that there are, of this version or an older one.
    Macros(&'static [Macro]),
    /// `a.?b`, `a[?b]`, `[?a]` and `{?k: v}`.
    OptionalSyntax,
    /// `a.namespace` is the property of that name, which is declared as `__namespace__`.
    KeywordsAsFields,
}

/// A feature and the versions that have it.
struct Entry {
    introduced: Version,
    removed: Option<Version>,
    feature: Feature,
}

const fn since(minor: u32, feature: Feature) -> Entry {
    Entry { introduced: Version::minor(minor), removed: None, feature }
}

const fn until(introduced: u32, removed: u32, feature: Feature) -> Entry {
    Entry { removed: Some(Version::minor(removed)), ..since(introduced, feature) }
}

/// Upstream's order: it decides which overload of a function comes first.
static BASE: &[Entry] = &[
    since(0, Feature::Library(&standard::LIBRARY)),
    since(0, Feature::Macros(macros::STANDARD)),
    since(0, Feature::Validator(Validator::HomogeneousLiterals)),
    since(0, Feature::Library(&urls::LIBRARY)),
    since(0, Feature::Library(&regex::LIBRARY)),
    until(0, 37, Feature::Library(&lists::LIBRARY_0)),
    since(27, Feature::Library(&authz::LIBRARY)),
    since(28, Feature::CrossTypeNumericComparisons),
    since(28, Feature::OptionalType),
    since(28, Feature::OptionalSyntax),
    since(28, Feature::Macros(macros::WITH_OPTIONAL)),
    since(28, Feature::Library(&optional::LIBRARY)),
    since(28, Feature::Library(&quantity::LIBRARY)),
    since(29, Feature::Validator(Validator::DurationLiterals)),
    since(29, Feature::Validator(Validator::TimestampLiterals)),
    since(29, Feature::Validator(Validator::RegexLiterals)),
    until(0, 29, Feature::Library(&strings::LIBRARY_0)),
    since(29, Feature::Library(&strings::LIBRARY)),
    since(29, Feature::Validator(Validator::StringFormat)),
    since(29, Feature::Library(&sets::LIBRARY)),
    since(30, Feature::OpaqueType(ip::TYPE_NAME)),
    since(30, Feature::Library(&ip::LIBRARY)),
    since(30, Feature::OpaqueType(cidr::TYPE_NAME)),
    since(30, Feature::Library(&cidr::LIBRARY)),
    since(31, Feature::Library(&format::LIBRARY)),
    since(31, Feature::Library(&authz::SELECTORS_LIBRARY)),
    since(31, Feature::KeywordsAsFields),
    since(32, Feature::Macros(macros::WITH_TWO_VARIABLES)),
    since(32, Feature::Library(&comprehensions::LIBRARY)),
    since(33, Feature::Library(&semver::LIBRARY)),
    since(34, Feature::Macros(macros::KUBERNETES)),
    since(34, Feature::Library(&cel_lists::LIBRARY)),
    since(37, Feature::Library(&lists::LIBRARY)),
];

fn features(version: Version) -> impl Iterator<Item = Feature> {
    let has =
        move |entry: &&Entry| version >= entry.introduced && entry.removed.is_none_or(|removed| version < removed);
    BASE.iter().filter(has).map(|entry| entry.feature)
}

/// The libraries of a version, in upstream's order.
pub fn libraries(version: Version) -> impl Iterator<Item = &'static Library> {
    features(version).filter_map(|feature| match feature {
        Feature::Library(library) => Some(library),
        _ => None,
    })
}

/// The functions of a version's libraries, for planning.
pub fn function_table(version: Version) -> FunctionTable {
    FunctionTable::new(libraries(version))
}

/// What a version's parser accepts.
pub fn parse_options(version: Version) -> ParseOptions {
    let none = ParseOptions { macros: &[], optional_syntax: false, ..ParseOptions::kubernetes() };
    features(version).fold(none, |options, feature| match feature {
        Feature::Macros(macros) => ParseOptions { macros, ..options },
        Feature::OptionalSyntax => ParseOptions { optional_syntax: true, ..options },
        _ => options,
    })
}

/// Whether a version finds properties whose names are reserved words by those words (`openapi::DeclaredTypes::new`).
pub fn keywords_as_fields(version: Version) -> bool {
    features(version).any(|feature| matches!(feature, Feature::KeywordsAsFields))
}

/// A version's environment for checking, without variables and struct types.
pub fn env_builder(version: Version) -> EnvBuilder {
    let builder = EnvBuilder::new().cross_type_numeric_comparisons(false);
    features(version).fold(builder, |builder, feature| match feature {
        Feature::Library(library) => builder.functions((library.functions)()),
        Feature::OpaqueType(name) => builder.type_name(Type::opaque(name)),
        Feature::OptionalType => builder.optional_type_name(),
        Feature::CrossTypeNumericComparisons => builder.cross_type_numeric_comparisons(true),
        Feature::Validator(validator) => builder.validator(validator),
        Feature::Macros(_) | Feature::OptionalSyntax | Feature::KeywordsAsFields => builder,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(version: Version) -> Vec<&'static str> {
        libraries(version).map(|library| library.name).collect()
    }

    #[test]
    fn stored_expressions_see_everything_once() {
        let names = names(Version::STORED);
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!((names.len(), unique.len()), (16, 16), "{names:?}");
    }

    #[test]
    fn older_versions_see_less() {
        assert!(!names(Version::minor(36)).is_empty());
        let has = |version, function: &str| {
            libraries(Version::minor(version)).flat_map(|l| (l.functions)()).any(|f| f.name == function)
        };
        assert!(!has(36, "includes") && has(37, "includes"));
        assert!(has(36, "isSorted") && has(37, "isSorted"));
        assert!(!has(32, "semver") && has(33, "semver"));
        assert!(!has(29, "ip") && has(30, "ip"));
    }

    #[test]
    fn stored_expressions_are_parsed_with_all_there_is() {
        let (stored, all) = (parse_options(Version::STORED), ParseOptions::kubernetes());
        assert_eq!((stored.macros.len(), stored.optional_syntax), (all.macros.len(), all.optional_syntax));
        let old = parse_options(Version::minor(27));
        assert_eq!((old.macros.len(), old.optional_syntax), (macros::STANDARD.len(), false));
    }

    #[test]
    fn every_declared_overload_has_an_implementation() {
        for library in libraries(Version::STORED).filter(|library| library.name.starts_with("kubernetes.")) {
            for function in (library.functions)() {
                for overload in function.overloads {
                    let id = overload.id;
                    assert!(library.implementations.iter().any(|i| i.id == id), "{} {id}", library.name);
                }
            }
        }
    }
}
