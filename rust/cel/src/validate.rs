//! Validators that run on an expression that passed the checker (cel-go `cel/validator.go`, `ext/formatting.go`).

mod format;
mod literals;

use crate::ast::{Comprehension, Expr, ExprId, ExprKind, Literal, MapEntry};
use crate::check::Checked;
use crate::issues::{Issues, Location};
use crate::mutants::{Mutant, planted};
use crate::types::Type;

/// One of cel-go's AST validators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Validator {
    /// `duration('...')` has a valid text (`ValidateDurationLiterals`).
    DurationLiterals,
    /// `timestamp('...')` has a valid text (`ValidateTimestampLiterals`).
    TimestampLiterals,
    /// The first argument of `matches`, if it is a literal, is a valid regular expression (`ValidateRegexLiterals`).
    RegexLiterals,
    /// All elements of a list, keys of a map and values of a map have one type, outside of arguments of `format` if
    /// [`Validator::StringFormat`] is there too (`ValidateHomogeneousAggregateLiterals`).
    HomogeneousLiterals,
    /// `'...'.format([...])` has arguments that fit the text (`ext.Strings` before version 4).
    StringFormat,
}

/// Runs the validators in order and reports what they find.
pub(crate) fn run(validators: &[Validator], checked: &Checked, issues: &mut Issues) {
    let exempts_format = validators.contains(&Validator::StringFormat);
    let mut found = Found { exempts_format, ..Found::default() };
    found.visit(&checked.ast.expr);
    let mut report = Report { checked, issues };
    for validator in validators {
        match validator {
            Validator::DurationLiterals => report.bad_literals("duration", &found.durations, literals::is_duration),
            Validator::TimestampLiterals => report.bad_literals("timestamp", &found.timestamps, literals::is_timestamp),
            Validator::RegexLiterals => report.bad_literals("matches", &found.patterns, literals::is_pattern),
            Validator::HomogeneousLiterals if planted(Mutant::MixedLiteralsPass) => {}
            Validator::HomogeneousLiterals => report.mixed_literals(&found),
            Validator::StringFormat => report.bad_formats(&found.formats),
        }
    }
}

/// The expressions that validators look at, each kind from the leaves up.
#[derive(Default)]
struct Found<'a> {
    durations: Vec<&'a Expr>,
    timestamps: Vec<&'a Expr>,
    patterns: Vec<&'a Expr>,
    lists: Vec<(&'a [Expr], &'a [u32])>,
    maps: Vec<&'a [MapEntry]>,
    formats: Vec<FormatCall<'a>>,
    exempts_format: bool,
    /// How many calls of `format` enclose the expression that is being visited.
    inside_format: usize,
}

/// `text.format([args])`
struct FormatCall<'a> {
    id: ExprId,
    text: &'a str,
    args: &'a [Expr],
}

impl<'a> Found<'a> {
    fn visit(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => {}
            ExprKind::Select { operand, .. } => self.visit(operand),
            ExprKind::Call { target, function, args } => self.visit_call(expr.id, target.as_deref(), function, args),
            ExprKind::List { elements, optional_indices } => {
                self.visit_all(elements);
                if self.inside_format == 0 && elements.len() > 1 {
                    self.lists.push((elements, optional_indices));
                }
            }
            ExprKind::Map { entries } => {
                for entry in entries {
                    self.visit(&entry.key);
                    self.visit(&entry.value);
                }
                if self.inside_format == 0 && entries.len() > 1 {
                    self.maps.push(entries);
                }
            }
            ExprKind::Struct { fields, .. } => fields.iter().for_each(|field| self.visit(&field.value)),
            ExprKind::Comprehension(comprehension) => self.visit_comprehension(comprehension),
        }
    }

    fn visit_all(&mut self, exprs: &'a [Expr]) {
        exprs.iter().for_each(|expr| self.visit(expr));
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        let Comprehension { iter_range, accu_init, loop_condition, loop_step, result, .. } = comprehension;
        [iter_range, accu_init, loop_condition, loop_step, result].into_iter().for_each(|expr| self.visit(expr));
    }

    fn visit_call(&mut self, id: ExprId, target: Option<&'a Expr>, function: &str, args: &'a [Expr]) {
        let exempt = usize::from(self.exempts_format && function == "format");
        self.inside_format += exempt;
        if let Some(target) = target {
            self.visit(target);
        }
        self.visit_all(args);
        self.inside_format -= exempt;
        let literals = match function {
            "duration" => &mut self.durations,
            "timestamp" => &mut self.timestamps,
            "matches" => &mut self.patterns,
            "format" => return self.visit_format(id, target, args),
            _ => return,
        };
        literals.extend(args.first().filter(|arg| matches!(arg.kind, ExprKind::Literal(_))));
    }

    fn visit_format(&mut self, id: ExprId, target: Option<&'a Expr>, args: &'a [Expr]) {
        if let Some(Expr { kind: ExprKind::Literal(Literal::String(text)), .. }) = target
            && let [Expr { kind: ExprKind::List { elements, .. }, .. }] = args
        {
            self.formats.push(FormatCall { id, text, args: elements });
        }
    }
}

struct Report<'a> {
    checked: &'a Checked,
    issues: &'a mut Issues,
}

impl Report<'_> {
    fn report(&mut self, id: ExprId, message: String) {
        self.issues.report(id, Location::of_expr(&self.checked.ast.source, id), message);
    }

    fn bad_literals(&mut self, function: &str, args: &[&Expr], valid: fn(&Literal) -> bool) {
        for arg in args {
            if let ExprKind::Literal(literal) = &arg.kind
                && !valid(literal)
            {
                self.report(arg.id, format!("invalid {function} argument"));
            }
        }
    }

    fn mixed_literals(&mut self, found: &Found<'_>) {
        for (elements, optional_indices) in &found.lists {
            let mut expected = None;
            for (index, element) in elements.iter().enumerate() {
                let optional = optional_indices.iter().any(|optional| *optional as usize == index);
                if self.differs(&mut expected, element, optional) {
                    break;
                }
            }
        }
        for entries in &found.maps {
            let (mut keys, mut values) = (None, None);
            for entry in *entries {
                self.differs(&mut keys, &entry.key, false);
                self.differs(&mut values, &entry.value, entry.optional);
            }
        }
    }

    /// Reports an element whose type is not the first one's. cel-go panics where an element marked with `?` is `dyn`.
    fn differs(&mut self, expected: &mut Option<Type>, element: &Expr, optional: bool) -> bool {
        let ty = self.checked.types.get(&element.id).cloned().unwrap_or(Type::Dyn);
        let ty = if optional { ty.optional_inner().cloned().unwrap_or(Type::Dyn) } else { ty };
        let expected = expected.get_or_insert_with(|| ty.clone());
        let differs = !expected.is_equivalent(&ty);
        if differs {
            let message = format!("expected type '{expected}' but found '{ty}'");
            self.report(element.id, message);
        }
        differs
    }

    fn bad_formats(&mut self, calls: &[FormatCall<'_>]) {
        for call in calls {
            let overloads = self.checked.references.get(&call.id).map_or(&[][..], |r| &r.overloads);
            if !overloads.is_empty() && !overloads.contains(&"string_format") {
                continue;
            }
            if let Err(error) = format::check(call.text, call.args, &self.checked.types) {
                self.report(error.argument.unwrap_or(call.id), error.message);
            }
        }
    }
}

#[cfg(test)]
mod tests;
