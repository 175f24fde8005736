//! Unicode as Go knows it: categories, scripts, and which characters are equal without regard to case.
//!
//! Go's tables are those of an older Unicode version than regex-syntax's; a test compares every class with Go's.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::class::{MAX, of_ranges};

/// The characters that Unicode 15.0 has, the version of Go's tables (`unicode.Version`).
static ASSIGNED: LazyLock<ClassUnicode> = LazyLock::new(|| {
    let mut class = query("age=15.0");
    // Some code points are set aside in that version, and will never be characters.
    class.difference(&query("Cn"));
    class
});

/// A spacing mark since Unicode 16.
const NOT_SPACING: char = '\u{1171e}';

/// A character and all that are equal to it without regard to case.
pub(super) fn folded(c: char) -> ClassUnicode {
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
    fold(&mut class);
    class
}

/// Equal to another one of them without regard to case, but only since Unicode 15.1.
const NOT_FOLDED: [char; 6] = ['\u{390}', '\u{3b0}', '\u{1fd3}', '\u{1fe3}', '\u{fb05}', '\u{fb06}'];

/// Adds all characters that are equal to those of the class without regard to case.
pub(super) fn fold(class: &mut ClassUnicode) {
    // What ASCII is equal to has not changed, and patterns have little else.
    if class.is_ascii() {
        let _ = class.try_case_fold_simple();
        return;
    }
    let mut folded = class.clone();
    folded.intersect(&ASSIGNED);
    folded.difference(&ClassUnicode::new(NOT_FOLDED.map(|c| ClassUnicodeRange::new(c, c))));
    // Fails only without regex-syntax's tables of cases, which are compiled in.
    let _ = folded.try_case_fold_simple();
    folded.intersect(&ASSIGNED);
    class.union(&folded);
}

/// Unicode categories and scripts by the names that Go knows, with what is equal to them if the case is to be ignored.
pub(super) fn class(name: &str, fold_case: bool) -> Option<ClassUnicode> {
    let canonical: String = name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect();
    let mut letters = canonical.chars();
    let first = letters.next()?.to_ascii_uppercase();
    let canonical: String = std::iter::once(first).chain(letters.map(|c| c.to_ascii_lowercase())).collect();
    let known = CATEGORIES.contains(&canonical.as_str()) || SCRIPTS.split(' ').any(|script| script == canonical);
    let mut class = match canonical.as_str() {
        "Any" => of_ranges(&[(0, MAX)], false, false),
        "Ascii" => of_ranges(&[(0, 0x7f)], false, false),
        "Assigned" => ASSIGNED.clone(),
        "Cn" | "Unassigned" => unassigned(),
        // Texts have none.
        "Cs" | "Surrogate" => ClassUnicode::empty(),
        name if known => assigned(name),
        _ => return None,
    };
    // Go has no table for folding this one.
    if fold_case && !matches!(canonical.as_str(), "Lc" | "Casedletter") {
        fold(&mut class);
    }
    Some(class)
}

fn assigned(name: &str) -> ClassUnicode {
    let mut class = query(name);
    class.intersect(&ASSIGNED);
    let moved = ClassUnicode::new([ClassUnicodeRange::new(NOT_SPACING, NOT_SPACING)]);
    match name {
        "C" | "Other" => class.union(&unassigned()),
        "Mc" | "Spacingmark" => class.difference(&moved),
        "Mn" | "Nonspacingmark" => class.union(&moved),
        _ => {}
    }
    class
}

fn unassigned() -> ClassUnicode {
    let mut class = ASSIGNED.clone();
    class.negate();
    class
}

/// A class of regex-syntax; empty if it has none of the name.
fn query(name: &str) -> ClassUnicode {
    match regex_syntax::parse(&format!("\\p{{{name}}}")).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        // A class of one character is a literal.
        Ok(HirKind::Literal(literal)) => {
            let text = std::str::from_utf8(&literal.0).unwrap_or_default();
            ClassUnicode::new(text.chars().map(|c| ClassUnicodeRange::new(c, c)))
        }
        _ => ClassUnicode::empty(),
    }
}

/// Short names, and Go's aliases without their underscores.
const CATEGORIES: [&str; 80] = [
    "C",
    "Cc",
    "Cf",
    "Cn",
    "Co",
    "Cs",
    "L",
    "Lc",
    "Ll",
    "Lm",
    "Lo",
    "Lt",
    "Lu",
    "M",
    "Mc",
    "Me",
    "Mn",
    "N",
    "Nd",
    "Nl",
    "No",
    "P",
    "Pc",
    "Pd",
    "Pe",
    "Pf",
    "Pi",
    "Po",
    "Ps",
    "S",
    "Sc",
    "Sk",
    "Sm",
    "So",
    "Z",
    "Zl",
    "Zp",
    "Zs",
    "Casedletter",
    "Closepunctuation",
    "Combiningmark",
    "Connectorpunctuation",
    "Control",
    "Currencysymbol",
    "Dashpunctuation",
    "Decimalnumber",
    "Enclosingmark",
    "Finalpunctuation",
    "Format",
    "Initialpunctuation",
    "Letter",
    "Letternumber",
    "Lineseparator",
    "Lowercaseletter",
    "Mark",
    "Mathsymbol",
    "Modifierletter",
    "Modifiersymbol",
    "Nonspacingmark",
    "Number",
    "Openpunctuation",
    "Other",
    "Otherletter",
    "Othernumber",
    "Otherpunctuation",
    "Othersymbol",
    "Paragraphseparator",
    "Privateuse",
    "Punctuation",
    "Separator",
    "Spaceseparator",
    "Spacingmark",
    "Surrogate",
    "Symbol",
    "Titlecaseletter",
    "Unassigned",
    "Uppercaseletter",
    "Cntrl",
    "Digit",
    "Punct",
];

/// The scripts that Go finds: it no longer finds those whose names have several words.
const SCRIPTS: &str = "Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese \
    Buhid Carian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Dogra Duployan \
    Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo Hatran Hebrew \
    Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Lisu \
    Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Medefaidrin Miao Modi Mongolian Mro Multani Myanmar \
    Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage Osmanya Palmyrene Phoenician Rejang Runic Samaritan Saurashtra \
    Sharada Shavian Siddham Sinhala Sogdian Soyombo Sundanese Syriac Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana \
    Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Yezidi Yi";
