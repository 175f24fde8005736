//! Errors found while compiling, and the text that cel-go prints for them (cel-go `common/error.go`, `common/errors.go`).

use std::fmt;

use crate::ast::{ExprId, SourceInfo};

/// The most errors that are kept; later ones are only counted.
const MAX_REPORTED: usize = 100;
/// The longest source line, in bytes, that is printed under an error.
const MAX_SNIPPET_BYTES: usize = 16_384;
/// The name of the source in messages.
const DESCRIPTION: &str = "<input>";

/// A place in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Line, from 1.
    pub line: i32,
    /// Column in code points, from 0.
    pub column: i32,
}

impl Location {
    /// No place at all; printed as `-1:0`.
    pub const NONE: Location = Location { line: -1, column: -1 };

    /// The place where an expression starts, or [`Location::NONE`].
    pub fn of_expr(source: &SourceInfo, id: ExprId) -> Location {
        source.offsets.get(&id).map_or(Location::NONE, |range| Location::of_offset(source, range.start))
    }

    /// The place of a code-point offset.
    pub fn of_offset(source: &SourceInfo, offset: u32) -> Location {
        let (line, column) = source.location(offset);
        Location { line: line as i32, column: column as i32 }
    }
}

/// One error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The expression it is about; 0 when there is none.
    pub expr_id: ExprId,
    /// Where it is.
    pub location: Location,
    /// What is wrong, without position.
    pub message: String,
}

/// The errors of one expression. [`fmt::Display`] gives cel-go's `Issues.String()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issues {
    text: String,
    errors: Vec<Issue>,
    count: usize,
}

impl Issues {
    /// No errors yet, for an expression with this source text.
    pub fn new(text: &str) -> Issues {
        Issues { text: text.to_owned(), errors: Vec::new(), count: 0 }
    }

    /// A single error that has no place in a source.
    pub fn unplaced(message: String) -> Issues {
        let mut issues = Issues::new("");
        issues.report(0, Location::NONE, message);
        issues
    }

    /// Adds an error. After the first hundred, errors are only counted.
    pub fn report(&mut self, expr_id: ExprId, location: Location, message: String) {
        self.count += 1;
        if self.count <= MAX_REPORTED {
            self.errors.push(Issue { expr_id, location, message });
        }
    }

    /// Adds another list's errors after these, keeping all that it kept.
    pub fn append(&mut self, other: &Issues) {
        self.errors.extend_from_slice(&other.errors);
        self.count += other.errors.len();
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The errors that were kept, in the order in which they were reported.
    pub fn errors(&self) -> &[Issue] {
        &self.errors
    }
}

impl fmt::Display for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sorted: Vec<&Issue> = self.errors.iter().collect();
        sorted.sort_by_key(|issue| issue.location);
        sorted.truncate(MAX_REPORTED);
        for (index, issue) in sorted.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write_issue(f, &self.text, issue)?;
        }
        if self.count > MAX_REPORTED {
            write!(f, "\n{} more errors were truncated", self.count - MAX_REPORTED)?;
        }
        Ok(())
    }
}

impl std::error::Error for Issues {}

fn write_issue(f: &mut fmt::Formatter<'_>, text: &str, issue: &Issue) -> fmt::Result {
    let Location { line, column } = issue.location;
    write!(f, "ERROR: {DESCRIPTION}:{line}:{}: {}", i64::from(column) + 1, issue.message)?;
    let Some(snippet) = line_of(text, line).filter(|snippet| snippet.len() <= MAX_SNIPPET_BYTES) else {
        return Ok(());
    };
    let snippet = snippet.replace('\t', " ");
    write!(f, "\n | {snippet}\n | ")?;
    let mut rest = snippet.chars();
    for char in rest.by_ref().take(usize::try_from(column).unwrap_or(0)) {
        f.write_str(if char.is_ascii() { "." } else { "\u{ff0e}" })?;
    }
    f.write_str(if rest.next().is_none_or(|char| char.is_ascii()) { "^" } else { "\u{ff3e}" })
}

/// The text of a line (from 1) without its newline.
fn line_of(text: &str, line: i32) -> Option<&str> {
    if text.is_empty() {
        return None;
    }
    text.split('\n').nth(usize::try_from(line).ok()?.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str, line: i32, column: i32, message: &str) -> String {
        let mut issues = Issues::new(text);
        issues.report(0, Location { line, column }, message.to_owned());
        issues.to_string()
    }

    #[test]
    fn points_at_the_column() {
        assert_eq!(one("a\n&&b(c", 2, 3, "bad"), "ERROR: <input>:2:4: bad\n | &&b(c\n | ...^");
        assert_eq!(one("\ta", 1, 1, "bad"), "ERROR: <input>:1:2: bad\n |  a\n | .^");
        assert_eq!(one("a", 1, 5, "bad"), "ERROR: <input>:1:6: bad\n | a\n | .^");
    }

    #[test]
    fn wide_characters_get_wide_marks() {
        assert_eq!(one("x\n我a很好", 2, 3, "bad"), "ERROR: <input>:2:4: bad\n | 我a很好\n | ．.．＾");
    }

    #[test]
    fn without_a_place_there_is_no_source_line() {
        assert_eq!(Issues::unplaced("bad".to_owned()).to_string(), "ERROR: <input>:-1:0: bad");
        assert_eq!(one("a", -1, -1, "bad"), "ERROR: <input>:-1:0: bad");
        assert_eq!(one("", 1, 0, "bad"), "ERROR: <input>:1:1: bad");
        let long = "x".repeat(MAX_SNIPPET_BYTES + 1);
        assert_eq!(one(&long, 1, 0, "bad"), "ERROR: <input>:1:1: bad");
    }

    #[test]
    fn sorted_by_place_and_cut_at_a_hundred() {
        let mut issues = Issues::new("ab");
        for _ in 0..150 {
            issues.report(0, Location { line: 1, column: 1 }, "b".to_owned());
        }
        assert_eq!(issues.errors().len(), 100);
        assert!(issues.to_string().ends_with("\n50 more errors were truncated"));
        let mut two = Issues::new("ab");
        two.report(0, Location { line: 1, column: 1 }, "second".to_owned());
        two.report(0, Location { line: 1, column: 0 }, "first".to_owned());
        assert!(two.to_string().starts_with("ERROR: <input>:1:1: first"));
    }
}
