//! matchConditions: upstream's `webhook/matchconditions`.

use bumpalo::collections::Vec;
use celgate_cel::value::Value;

use crate::compile::Expression;
use crate::mutants::{Mutant, planted};
use crate::request::Unanswered;
use crate::section::{Evaluated, OUT_OF_BUDGET, Section, Stop};
use crate::settled::Settled;

/// Cost that all conditions of a policy may have together.
pub(crate) const BUDGET: u64 = 2_500_000;

/// What the conditions came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome<'a> {
    /// All are true.
    Match,
    /// One is false; so many before it failed.
    Excluded { errors: u32 },
    /// None is false, but some failed, or the budget is used up (then no error is counted).
    Failed { errors: u32, message: &'a str },
}

/// Evaluates all conditions; the first false one decides, before any error, but not before the budget.
///
/// `settled` are those that the kind of the request settles, under the match of this number.
pub(crate) fn evaluate<'a>(
    section: &mut Section<'_, 'a>,
    conditions: &'a [Expression],
    settled: &Settled,
    matched: u32,
) -> Result<Outcome<'a>, Unanswered> {
    let arena = section.arena();
    let mut errors: Vec<'a, &'a str> = Vec::new_in(arena);
    let mut excluded = None;
    for (number, condition) in conditions.iter().enumerate() {
        let evaluated = match settled.get(number, matched) {
            Some((holds, cost)) => match section.charge(cost) {
                // What holds decides nothing.
                Ok(()) if holds => continue,
                charged => charged.map(|()| Evaluated::Value(Value::Bool(false))),
            },
            None => {
                let before = section.spent();
                let evaluated = section.evaluate(condition);
                if let Ok(Evaluated::Value(Value::Bool(value))) = evaluated
                    && condition.is_by_kind()
                {
                    settled.put(number, matched, value, section.spent() - before);
                }
                evaluated
            }
        };
        match evaluated {
            Err(Stop::Unanswered) => return Err(Unanswered),
            Err(Stop::Budget) => return Ok(Outcome::Failed { errors: 0, message: OUT_OF_BUDGET }),
            // Later ones are evaluated all the same, since they can still use the budget up.
            _ if excluded.is_some() => {}
            Ok(Evaluated::Error(error)) => errors.push(error),
            Ok(Evaluated::Value(Value::Bool(false))) => {
                if planted(Mutant::ConditionErrorsWin) && !errors.is_empty() {
                    continue;
                }
                excluded = Some(errors.len() as u32);
                if planted(Mutant::ConditionsStopAtFalse) {
                    break;
                }
            }
            Ok(Evaluated::Value(_)) => {}
        }
    }
    if let Some(errors) = excluded.map(counted) {
        return Ok(Outcome::Excluded { errors });
    }
    if errors.is_empty() {
        return Ok(Outcome::Match);
    }
    let count = counted(errors.len() as u32);
    Ok(Outcome::Failed { errors: count, message: aggregate(arena, &errors) })
}

/// The errors that the metrics hear of: all.
fn counted(errors: u32) -> u32 {
    if planted(Mutant::ConditionErrorsUncounted) { 0 } else { errors }
}

/// apimachinery's `utilerrors.Aggregate` as text: without duplicates, in brackets if there is more than one.
fn aggregate<'a>(arena: &'a bumpalo::Bump, errors: &[&'a str]) -> &'a str {
    let mut distinct: Vec<'a, &'a str> = Vec::new_in(arena);
    for error in errors {
        if !distinct.contains(error) || planted(Mutant::ConditionErrorsRepeat) {
            distinct.push(error);
        }
    }
    match distinct.as_slice() {
        [one] => one,
        several => {
            let mut text = bumpalo::collections::String::from_str_in("[", arena);
            for (i, error) in several.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { ", " });
                text.push_str(error);
            }
            text.push(']');
            text.into_bump_str()
        }
    }
}
