//! auditAnnotations, the last part of upstream's `validator.Validate`.

use celgate_cel::value::Value;

use crate::compile::Annotation;
use crate::mutants::{Mutant, planted};
use crate::report::Action;
use crate::results::Unfinished;
use crate::section::{Evaluated, Section, Stop};

/// Evaluates the annotations and adds those that are published or, under failurePolicy Fail, failed.
pub(crate) fn evaluate<'a>(
    section: &mut Section<'_, 'a>,
    annotations: &'a [Annotation],
    on_error: Action,
    results: &mut Unfinished<'_>,
) -> Result<(), Stop> {
    for annotation in annotations {
        match section.evaluate(&annotation.expression)? {
            Evaluated::Error(error) if denies(on_error) => results.annotation(true, &annotation.key, error),
            Evaluated::Value(Value::String(value))
                if !value.trim().is_empty() || planted(Mutant::EmptyAnnotationsStay) =>
            {
                let value = if planted(Mutant::AnnotationsKeepSpace) { value } else { value.trim() };
                results.annotation(false, &annotation.key, value);
            }
            // Null, nothing but space, or an error that failurePolicy ignores. The checker admits no other types.
            Evaluated::Error(_) | Evaluated::Value(_) => {}
        }
    }
    Ok(())
}

/// Whether a failed annotation denies the request.
fn denies(on_error: Action) -> bool {
    match on_error {
        Action::Deny => !planted(Mutant::AnnotationErrorsIgnored),
        Action::Admit => planted(Mutant::AnnotationErrorsDeny),
    }
}
