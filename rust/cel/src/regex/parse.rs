//! RE2's syntax as Go's `regexp/syntax` parses it with the flags of `regexp.Compile`, into a regex-syntax tree.
//!
//! A stack machine as Go's, so that the same patterns are rejected with the same messages, and depth costs no stack.

use regex_syntax::hir::{Class, ClassUnicode, Dot, Hir, Look, Repetition};

use super::{class, unicode};

/// The greatest number of copies of one thing that nested counted repetitions may make.
const MAX_REPEAT: u64 = 1000;
/// The greatest height of a tree.
const MAX_HEIGHT: u32 = 1000;
/// The greatest number of instructions of Go's program.
const MAX_SIZE: u64 = (128 << 20) / 40;
/// The greatest number of ends of ranges in all classes.
const MAX_RUNES: usize = (128 << 20) / 4;

/// What is wrong with a pattern, as Go's `syntax.ErrorCode`.
#[derive(Clone, Copy)]
pub(super) enum Code {
    InvalidCharRange,
    InvalidEscape,
    InvalidNamedCapture,
    InvalidPerlOp,
    InvalidRepeatOp,
    InvalidRepeatSize,
    MissingBracket,
    MissingParen,
    MissingRepeatArgument,
    TrailingBackslash,
    UnexpectedParen,
    NestingDepth,
    Large,
}

impl Code {
    fn text(self) -> &'static str {
        match self {
            Code::InvalidCharRange => "invalid character class range",
            Code::InvalidEscape => "invalid escape sequence",
            Code::InvalidNamedCapture => "invalid named capture",
            Code::InvalidPerlOp => "invalid or unsupported Perl syntax",
            Code::InvalidRepeatOp => "invalid nested repetition operator",
            Code::InvalidRepeatSize => "invalid repeat count",
            Code::MissingBracket => "missing closing ]",
            Code::MissingParen => "missing closing )",
            Code::MissingRepeatArgument => "missing argument to repetition operator",
            Code::TrailingBackslash => "trailing backslash at end of expression",
            Code::UnexpectedParen => "unexpected )",
            Code::NestingDepth => "expression nests too deeply",
            Code::Large => "expression too large",
        }
    }
}

/// The message of an error in the part `text` of a pattern.
pub(super) fn message(code: Code, text: &str) -> String {
    format!("error parsing regexp: {}: `{text}`", code.text())
}

#[derive(Clone, Copy, Default)]
struct Flags {
    fold: bool,
    dot_newline: bool,
    multi_line: bool,
    lazy: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Literal { fold: bool },
    Concat,
    Alternate,
    Other,
}

/// A parsed part, with what Go's limits are measured by.
struct Part {
    hir: Hir,
    kind: Kind,
    height: u32,
    size: u64,
    /// The smallest budget of copies that the counted repetitions inside fit in.
    copies: u64,
}

enum Item {
    Part(Part),
    Open { flags: Flags, capture: bool },
    Bar,
}

struct Parser<'p> {
    pattern: &'p str,
    at: usize,
    flags: Flags,
    stack: Vec<Item>,
    runes: usize,
}

/// Parses a pattern.
///
/// # Errors
///
/// Go's message.
pub(super) fn parse(pattern: &str) -> Result<Hir, String> {
    Parser { pattern, at: 0, flags: Flags::default(), stack: Vec::new(), runes: 0 }.run()
}

impl<'p> Parser<'p> {
    fn rest(&self) -> &'p str {
        self.pattern.get(self.at..).unwrap_or("")
    }

    fn since(&self, start: usize) -> &'p str {
        self.pattern.get(start..self.at).unwrap_or("")
    }

    fn whole<T>(&self, code: Code) -> Result<T, String> {
        Err(message(code, self.pattern))
    }

    fn run(mut self) -> Result<Hir, String> {
        // Where the repetition operator that was just read begins.
        let mut last_repeat: Option<usize> = None;
        while let Some(c) = self.rest().chars().next() {
            let start = self.at;
            let mut repeat = None;
            match c {
                '(' => self.open()?,
                '|' => {
                    self.at += 1;
                    self.bar()?;
                }
                ')' => self.close()?,
                '^' => self.look(1, if self.flags.multi_line { Look::StartLF } else { Look::Start })?,
                '$' => self.look(1, if self.flags.multi_line { Look::EndLF } else { Look::End })?,
                '.' => {
                    self.at += 1;
                    let dot = if self.flags.dot_newline { Dot::AnyChar } else { Dot::AnyCharExceptLF };
                    self.push(Hir::dot(dot), Kind::Other)?;
                }
                '[' => {
                    let class = class::bracketed(self.pattern, &mut self.at, self.flags.fold)?;
                    self.push_class(class)?;
                }
                '*' | '+' | '?' => {
                    self.at += 1;
                    let (min, max) = match c {
                        '*' => (0, None),
                        '+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    self.repeat(min, max, false, start, last_repeat)?;
                    repeat = Some(start);
                }
                '{' => {
                    if self.counted(start, last_repeat)? {
                        repeat = Some(start);
                    }
                }
                '\\' => self.escape()?,
                c => {
                    self.at += c.len_utf8();
                    self.literal(u32::from(c))?;
                }
            }
            last_repeat = repeat;
        }
        self.concat()?;
        self.swap_bar();
        self.drop_bar();
        self.alternate()?;
        let mut items = self.stack.drain(..);
        match (items.next(), items.next()) {
            (Some(Item::Part(part)), None) => Ok(part.hir),
            _ => Err(message(Code::MissingParen, self.pattern)),
        }
    }

    fn look(&mut self, len: usize, look: Look) -> Result<(), String> {
        self.at += len;
        self.push(Hir::look(look), Kind::Other)
    }

    fn literal(&mut self, c: u32) -> Result<(), String> {
        let hir = match char::from_u32(c) {
            Some(c) if self.flags.fold => Hir::class(Class::Unicode(unicode::folded(c))),
            Some(c) => Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes()),
            // A surrogate, which no text has.
            None => Hir::fail(),
        };
        let fold = self.flags.fold;
        self.push(hir, Kind::Literal { fold })
    }

    fn push_class(&mut self, class: ClassUnicode) -> Result<(), String> {
        self.runes = self.runes.saturating_add(class.ranges().len() * 2);
        if self.runes > MAX_RUNES {
            return self.whole(Code::Large);
        }
        self.push(Hir::class(Class::Unicode(class)), Kind::Other)
    }

    fn push(&mut self, hir: Hir, kind: Kind) -> Result<(), String> {
        self.push_part(Part { hir, kind, height: 1, size: 1, copies: 0 })
    }

    fn push_part(&mut self, part: Part) -> Result<(), String> {
        if part.size > MAX_SIZE {
            return self.whole(Code::Large);
        }
        if part.height > MAX_HEIGHT {
            return self.whole(Code::NestingDepth);
        }
        self.stack.push(Item::Part(part));
        Ok(())
    }

    fn open(&mut self) -> Result<(), String> {
        if self.rest().starts_with("(?") {
            return self.perl_flags();
        }
        self.at += 1;
        self.stack.push(Item::Open { flags: self.flags, capture: true });
        Ok(())
    }

    /// `(?i)`, `(?i:`, `(?P<name>`, `(?<name>`.
    fn perl_flags(&mut self) -> Result<(), String> {
        let start = self.at;
        let text = self.rest();
        let name_at = if text.len() > 4 && text.starts_with("(?P<") {
            Some(4)
        } else if text.len() > 3 && text.starts_with("(?<") {
            Some(3)
        } else {
            None
        };
        if let Some(name_at) = name_at {
            let Some(end) = text.find('>') else {
                return Err(message(Code::InvalidNamedCapture, text));
            };
            self.at += end + 1;
            let name = text.get(name_at..end).unwrap_or("");
            if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
                return Err(message(Code::InvalidNamedCapture, self.since(start)));
            }
            self.stack.push(Item::Open { flags: self.flags, capture: true });
            return Ok(());
        }
        self.at += 2;
        let mut flags = self.flags;
        let (mut on, mut saw_flag) = (true, false);
        while let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            match c {
                'i' => flags.fold = on,
                'm' => flags.multi_line = on,
                's' => flags.dot_newline = on,
                'U' => flags.lazy = on,
                '-' if on => {
                    (on, saw_flag) = (false, false);
                    continue;
                }
                ':' | ')' if on || saw_flag => {
                    if c == ':' {
                        self.stack.push(Item::Open { flags: self.flags, capture: false });
                    }
                    self.flags = flags;
                    return Ok(());
                }
                _ => return Err(message(Code::InvalidPerlOp, self.since(start))),
            }
            saw_flag = true;
        }
        Err(message(Code::InvalidPerlOp, self.since(start)))
    }

    fn close(&mut self) -> Result<(), String> {
        self.at += 1;
        self.concat()?;
        self.swap_bar();
        self.drop_bar();
        self.alternate()?;
        let (inner, outer) = (self.stack.pop(), self.stack.pop());
        let (Some(Item::Part(mut part)), Some(Item::Open { flags, capture })) = (inner, outer) else {
            return self.whole(Code::UnexpectedParen);
        };
        self.flags = flags;
        if capture {
            part.height += 1;
            part.size += 2;
            part.kind = Kind::Other;
        }
        self.push_part(part)
    }

    fn bar(&mut self) -> Result<(), String> {
        self.concat()?;
        if !self.swap_bar() {
            self.stack.push(Item::Bar);
        }
        Ok(())
    }

    /// Puts the part on top below the bar under it, where alternatives gather.
    fn swap_bar(&mut self) -> bool {
        let len = self.stack.len();
        let below = len >= 2 && matches!(self.stack.get(len - 2), Some(Item::Bar));
        if below {
            self.stack.swap(len - 1, len - 2);
        }
        below
    }

    fn drop_bar(&mut self) {
        if let Some(Item::Bar) = self.stack.last() {
            self.stack.pop();
        }
    }

    /// The parts above the topmost bar or parenthesis.
    fn take_parts(&mut self) -> Vec<Part> {
        let parts = self.stack.iter().rev().take_while(|item| matches!(item, Item::Part(_))).count();
        let first = self.stack.len() - parts;
        let part = |item| match item {
            Item::Part(part) => Some(part),
            Item::Open { .. } | Item::Bar => None,
        };
        self.stack.drain(first..).filter_map(part).collect()
    }

    fn concat(&mut self) -> Result<(), String> {
        let parts = self.take_parts();
        if parts.is_empty() {
            return self.push(Hir::empty(), Kind::Other);
        }
        let literal = match parts.first().map(|part| part.kind) {
            Some(kind @ Kind::Literal { .. }) if parts.iter().all(|part| part.kind == kind) => Some(kind),
            _ => None,
        };
        let mut joined = collapse(parts, Kind::Concat);
        if let Some(kind) = literal {
            (joined.kind, joined.height) = (kind, 1);
        }
        self.push_part(joined)
    }

    fn alternate(&mut self) -> Result<(), String> {
        let parts = self.take_parts();
        if parts.is_empty() {
            return self.push(Hir::fail(), Kind::Other);
        }
        self.push_part(collapse(parts, Kind::Alternate))
    }

    /// `{2}`, `{2,}`, `{2,3}`; a brace that begins none of these is a literal, and the result is false.
    fn counted(&mut self, start: usize, last_repeat: Option<usize>) -> Result<bool, String> {
        let Some((min, max, len)) = counts(self.rest()) else {
            self.at += 1;
            self.literal(u32::from('{'))?;
            return Ok(false);
        };
        self.at += len;
        let too_big = |count: u32| u64::from(count) > MAX_REPEAT;
        if too_big(min) || max.is_some_and(|max| too_big(max) || min > max) {
            return Err(message(Code::InvalidRepeatSize, self.since(start)));
        }
        self.repeat(min, max, true, start, last_repeat)?;
        Ok(true)
    }

    fn repeat(
        &mut self,
        min: u32,
        max: Option<u32>,
        counted: bool,
        start: usize,
        last_repeat: Option<usize>,
    ) -> Result<(), String> {
        let mut greedy = !self.flags.lazy;
        if self.rest().starts_with('?') {
            self.at += 1;
            greedy = !greedy;
        }
        if let Some(last) = last_repeat {
            return Err(message(Code::InvalidRepeatOp, self.since(last)));
        }
        let Some(Item::Part(part)) = self.stack.pop_if(|item| matches!(item, Item::Part(_))) else {
            return Err(message(Code::MissingRepeatArgument, self.since(start)));
        };
        let copies = if counted { copies(min, max, part.copies) } else { part.copies };
        let size = if counted {
            counted_size(min, max, part.size)
        } else {
            part.size + if min == 0 && max.is_none() { 2 } else { 1 }
        };
        let hir = Hir::repetition(Repetition { min, max, greedy, sub: Box::new(part.hir) });
        self.push_part(Part { hir, kind: Kind::Other, height: part.height + 1, size, copies })?;
        if counted && (min >= 2 || max.is_some_and(|max| max >= 2)) && copies > MAX_REPEAT {
            return Err(message(Code::InvalidRepeatSize, self.since(start)));
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), String> {
        let start = self.at;
        match self.rest().as_bytes().get(1) {
            Some(b'A') => return self.look(2, Look::Start),
            Some(b'z') => return self.look(2, Look::End),
            Some(b'b') => return self.look(2, Look::WordAscii),
            Some(b'B') => return self.look(2, Look::WordAsciiNegate),
            Some(b'C') => {
                self.at += 2;
                return Err(message(Code::InvalidEscape, self.since(start)));
            }
            Some(b'Q') => return self.quoted(),
            _ => {}
        }
        if let Some(class) = class::escaped(self.pattern, &mut self.at, self.flags.fold)? {
            return self.push_class(class);
        }
        let c = class::escape_char(self.pattern, &mut self.at)?;
        self.literal(c)
    }

    /// `\Q...\E`
    fn quoted(&mut self) -> Result<(), String> {
        let text = self.rest().get(2..).unwrap_or("");
        let (literal, len) = match text.find("\\E") {
            Some(end) => (text.get(..end).unwrap_or(""), end + 2),
            None => (text, text.len()),
        };
        self.at += 2 + len;
        literal.chars().try_for_each(|c| self.literal(u32::from(c)))
    }
}

/// Joins parts; what is itself such a join loses its own level.
fn collapse(mut parts: Vec<Part>, kind: Kind) -> Part {
    if parts.len() == 1
        && let Some(only) = parts.pop()
    {
        return only;
    }
    let inner = parts.iter().map(|part| if part.kind == kind { part.height.saturating_sub(1) } else { part.height });
    let height = inner.max().unwrap_or(0) + 1;
    let branches = if kind == Kind::Alternate { parts.len() as u64 - 1 } else { 0 };
    let size = parts.iter().fold(branches, |size, part| size.saturating_add(part.size));
    let copies = parts.iter().map(|part| part.copies).max().unwrap_or(0);
    let parts: Vec<Hir> = parts.into_iter().map(|part| part.hir).collect();
    let hir = if kind == Kind::Alternate { Hir::alternation(parts) } else { Hir::concat(parts) };
    Part { hir, kind, height, size, copies }
}

/// The budget of copies that a counted repetition needs, given that of what it repeats (Go `repeatIsValid`).
fn copies(min: u32, max: Option<u32>, inner: u64) -> u64 {
    match (max, max.unwrap_or(min)) {
        (Some(0), _) => 0,
        (None, 0) => inner,
        (_, count) => u64::from(count).saturating_mul(inner.max(1)),
    }
}

/// Go's count of instructions of a counted repetition.
fn counted_size(min: u32, max: Option<u32>, inner: u64) -> u64 {
    let (min, inner_max) = (u64::from(min), max.map(u64::from));
    let size = match inner_max {
        None if min == 0 => inner.saturating_add(2),
        None => min.saturating_mul(inner).saturating_add(1),
        Some(max) => max.saturating_mul(inner).saturating_add(max.saturating_sub(min)),
    };
    size.max(1)
}

/// Minimum, maximum and length of a counted repetition; counts too big to read are given as the greatest number.
fn counts(text: &str) -> Option<(u32, Option<u32>, usize)> {
    let (min, rest) = count(text.strip_prefix('{')?)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => count(rest).map(|(max, rest)| (Some(max), rest))?,
    };
    let rest = rest.strip_prefix('}')?;
    Some((min, max, text.len() - rest.len()))
}

/// A decimal number without leading zeros.
fn count(text: &str) -> Option<(u32, &str)> {
    let len = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(len)?;
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some((digits.parse().unwrap_or(u32::MAX), rest))
}
