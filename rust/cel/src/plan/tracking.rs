//! Whether a program's cost needs cel-go's stack of observed values, or can be charged where it arises.

use super::Program;

/// True if calls can be left uncharged by what an earlier round of a comprehension left on the stack.
pub(crate) fn needed(program: &Program) -> bool {
    !program.folds.is_empty()
}
