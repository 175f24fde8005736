//! A planned expression with what the policy layer must know about it.

use std::fmt;

use celgate_cel::ast::{Expr, ExprKind};
use celgate_cel::check::Checked;
use celgate_cel::context::EvalContext;
use celgate_cel::function::FunctionTable;
use celgate_cel::plan::{self, PlanError, PlanOptions};
use celgate_cel::value::Value;

use crate::inputs::{Input, Inputs};
use crate::settled::by_kind;

/// A program whose variables are the policy's inputs.
#[repr(C)]
pub(crate) struct Compiled {
    program: plan::Program,
    depth: u32,
    by_kind: bool,
}

impl Compiled {
    /// Plans a checked expression. `pattern_room` is how many bytes of compiled patterns the policy may still keep.
    pub(crate) fn new(
        checked: &Checked,
        functions: &FunctionTable,
        pattern_room: &mut usize,
    ) -> Result<Compiled, PlanError> {
        let mut program = plan::plan(checked, &PlanOptions { variables: &Input::NAMES, functions })?;
        program.keep_patterns(pattern_room);
        Ok(Compiled { program, depth: depth(&checked.ast.expr), by_kind: by_kind(&checked.ast.expr) })
    }

    /// Whether the kind of a request settles it.
    pub(crate) fn is_by_kind(&self) -> bool {
        self.by_kind
    }

    /// How deep evaluation recurses, in expressions.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    /// Evaluates the expression, charging the context.
    pub(crate) fn eval<'a>(&'a self, ctx: &EvalContext<'a>, inputs: &Inputs<'a>) -> Value<'a> {
        self.program.eval(ctx, inputs)
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled").field("depth", &self.depth).finish_non_exhaustive()
    }
}

/// The depth of an expression, which the parser bounds.
fn depth(expr: &Expr) -> u32 {
    fn deepest<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> u32 {
        exprs.into_iter().map(depth).max().unwrap_or(0)
    }
    let below = match &expr.kind {
        ExprKind::Unspecified | ExprKind::Literal(_) | ExprKind::Ident(_) => 0,
        ExprKind::Select { operand, .. } => depth(operand),
        ExprKind::Call { target, args, .. } => deepest(target.iter().map(|target| &**target).chain(args)),
        ExprKind::List { elements, .. } => deepest(elements),
        ExprKind::Map { entries } => deepest(entries.iter().flat_map(|entry| [&entry.key, &entry.value])),
        ExprKind::Struct { fields, .. } => deepest(fields.iter().map(|field| &field.value)),
        ExprKind::Comprehension(c) => {
            deepest([&c.iter_range, &c.accu_init, &c.loop_condition, &c.loop_step, &c.result])
        }
    };
    below + 1
}
