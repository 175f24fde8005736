//! Regular expressions with RE2's syntax and meaning, as Go's package `regexp` has them.

mod class;
mod parse;
#[cfg(test)]
mod tests;
mod unicode;

use std::cell::RefCell;
use std::ops::Deref;
use std::sync::Arc;

use regex_automata::meta;
use regex_automata::nfa::thompson::WhichCaptures;

use crate::context::EvalContext;

/// A compiled pattern.
pub struct Regex {
    pattern: Box<str>,
    engine: meta::Regex,
}

/// A pattern that an evaluation uses: the program's own, or one compiled during the evaluation.
pub enum RegexRef<'a> {
    /// Compiled with the program.
    Prepared(&'a Regex),
    /// Compiled when an evaluation first saw it.
    Computed(Arc<Regex>),
}

impl Deref for RegexRef<'_> {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        match self {
            RegexRef::Prepared(regex) => regex,
            RegexRef::Computed(regex) => regex,
        }
    }
}

/// The greatest size of a compiled pattern.
const MAX_BYTES: usize = 16 << 20;
/// The size of the cache in which matching builds an automaton.
const CACHE_BYTES: usize = 256 << 10;

/// Patterns that expressions compute, compiled, for this evaluation and those that follow. Which are kept changes no result.
#[derive(Default)]
pub struct Patterns {
    kept: RefCell<Vec<Arc<Regex>>>,
}

impl Patterns {
    /// How many are kept at most.
    const COUNT: usize = 32;
    /// How many bytes these may have together.
    const BYTES: usize = 4 << 20;

    fn get(&self, pattern: &str) -> Result<Arc<Regex>, String> {
        let mut kept = self.kept.borrow_mut();
        if let Some(known) = kept.iter().find(|known| *known.pattern == *pattern) {
            return Ok(known.clone());
        }
        let compiled = Arc::new(Regex::new(pattern)?);
        let bytes = |regex: &Arc<Regex>| regex.engine.memory_usage() + CACHE_BYTES / 4;
        let mut room = Self::BYTES.saturating_sub(bytes(&compiled));
        // The latest that fit.
        let fitting = kept.iter().rev().take(Self::COUNT - 1).take_while(|regex| {
            let fits = bytes(regex) <= room;
            room = room.saturating_sub(bytes(regex));
            fits
        });
        let leaving = kept.len() - fitting.count();
        kept.drain(..leaving);
        kept.push(compiled.clone());
        Ok(compiled)
    }
}

impl std::fmt::Debug for Patterns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Patterns({})", self.kept.borrow().len())
    }
}

/// Using a computed pattern takes steps of an evaluation: one, and one for so many bytes of its compiled form. Kubernetes charges by
/// the pattern's text, of which a few characters can stand for megabytes. It is the same whether the pattern is kept or compiled anew.
const BYTES_PER_STEP: usize = 64;

/// The compiled form of `pattern`, or the text of Go's error.
pub fn get<'a>(ctx: &EvalContext<'a>, pattern: &str) -> Result<RegexRef<'a>, String> {
    match ctx.prepared.get() {
        Some(prepared) if *prepared.pattern == *pattern => Ok(RegexRef::Prepared(prepared)),
        _ => {
            let computed = ctx.patterns().get(pattern)?;
            // Past the limit the evaluation halts, and what comes of this call does not matter.
            ctx.step(1 + (computed.memory() / BYTES_PER_STEP) as u64);
            Ok(RegexRef::Computed(computed))
        }
    }
}

impl Regex {
    /// Compiles a pattern.
    ///
    /// # Errors
    ///
    /// The text of Go's error, `error parsing regexp: ...`.
    pub fn new(pattern: &str) -> Result<Regex, String> {
        let hir = parse::parse(pattern)?;
        let config = meta::Config::new()
            .which_captures(WhichCaptures::Implicit)
            .nfa_size_limit(Some(MAX_BYTES))
            .hybrid_cache_capacity(CACHE_BYTES)
            .onepass_size_limit(Some(CACHE_BYTES));
        // Go's own limit is on instructions, of which one holds a whole class of characters.
        let too_large = |_| parse::message(parse::Code::Large, pattern);
        let engine = meta::Builder::new().configure(config).build_from_hir(&hir).map_err(too_large)?;
        Ok(Regex { pattern: Box::from(pattern), engine })
    }

    /// Bytes that the compiled pattern takes.
    pub(crate) fn memory(&self) -> usize {
        self.engine.memory_usage()
    }

    /// Whether the pattern matches anywhere in `text` (Go `MatchString`).
    pub fn is_match(&self, text: &str) -> bool {
        self.engine.is_match(text)
    }

    /// The leftmost match (Go `FindString`).
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        self.engine.find(text).and_then(|found| text.get(found.range()))
    }

    /// All matches that do not overlap (Go `FindAllString`).
    pub fn find_all<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.engine.find_iter(text).filter_map(move |found| text.get(found.range()))
    }
}
