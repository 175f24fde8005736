//! Bare expressions in the environment of stored expressions, or that of a version: for tools and tests, beside the policies that
//! the engine decides.
//!
//! Compiling gives upstream's texts (`CompileCELExpression` in apiserver `pkg/admission/plugin/cel/compile.go`); evaluating gives
//! cel-go's value or error, and its cost.

mod declarations;
mod show;

use std::fmt;

use bumpalo::Bump;
use celgate_cel::check::check;
use celgate_cel::context::{EvalContext, Halt};
use celgate_cel::env::Env;
use celgate_cel::parser::{ParseOptions, parse};
use celgate_cel::plan::{PlanOptions, plan};
use celgate_cel::record::Record;
use celgate_cel::value::Value;
use celgate_k8s::authz::{RequestResource, authorizer_value, request_resource_value};
use celgate_k8s::environment::parse_options;
use celgate_k8s::types::{OptionalVariables, variables};

use crate::authorize::Authorizer;
use crate::compile::COST_LIMIT_EXCEEDED;
use crate::projection::{Analysis, Projections};
use crate::scratch::{Output, Scratch};
use crate::{InvalidRequest, Outcome, environment};
use declarations::Declarations;

/// The variables that expressions may name.
pub struct Environment {
    env: Env,
    parse_options: ParseOptions,
    /// The declared variables by the number of their root in records, then the authorizer's if there are.
    names: Vec<String>,
    /// What `authorizer.requestResource` asks about; `None` without an authorizer.
    request_resource: Option<declarations::Resource>,
    tracked: bool,
}

/// A compiled expression.
pub struct Expression {
    program: celgate_cel::plan::Program,
    output: String,
    projections: Projections,
    /// Of the variables, those that records have.
    roots: u32,
    request_resource: Option<declarations::Resource>,
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("names", &self.names).finish_non_exhaustive()
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expression").field("output", &self.output).finish_non_exhaustive()
    }
}

const AUTHORIZER: [&str; 2] = ["authorizer", "authorizer.requestResource"];

impl Environment {
    /// Reads declarations as docs/abi.md, "Expressions" has them.
    pub fn from_json(json: &[u8]) -> Result<Environment, String> {
        let declared: Declarations = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let (mut all, types) = declared.variables()?;
        let mut names: Vec<String> = all.iter().map(|variable| variable.name.clone()).collect();
        if declared.request_resource.is_some() {
            let optional = OptionalVariables { params: false, authorizer: true };
            all.extend(variables(optional).into_iter().filter(|variable| AUTHORIZER.contains(&&*variable.name)));
            names.extend(AUTHORIZER.map(str::to_owned));
        }
        let version = declared.version();
        Ok(Environment {
            env: environment::bare(version, types, all),
            parse_options: parse_options(version),
            names,
            tracked: declared.tracked,
            request_resource: declared.request_resource,
        })
    }

    /// Compiles an expression of any type; the error is upstream's text.
    pub fn compile(&self, text: &str) -> Result<Expression, String> {
        let failed = |issues| format!("compilation failed: {issues}");
        let ast = parse(text, &self.parse_options).map_err(failed)?;
        let checked = check(ast, &self.env).map_err(failed)?;
        let variables: Vec<&str> = self.names.iter().map(String::as_str).collect();
        let program = plan(&checked, &PlanOptions { variables: &variables, functions: environment::functions() })
            .map_err(|error| format!("program instantiation failed: {error}"))?;
        let mut analysis = Analysis::new();
        analysis.expression(&checked.ast.expr);
        let beside = if self.request_resource.is_some() { AUTHORIZER.len() } else { 0 };
        Ok(Expression {
            program: if self.tracked { program.with_tracking() } else { program },
            output: checked.output.go_string(),
            projections: analysis.finish().unpack(),
            roots: u32::try_from(self.names.len() - beside).unwrap_or(u32::MAX),
            request_resource: self.request_resource.clone(),
        })
    }
}

impl Expression {
    /// The expression's static type, as cel-go prints it.
    pub fn output_type(&self) -> &str {
        &self.output
    }

    /// What the expression reads of `object` and `oldObject`, as JSON (docs/abi.md, "Projections").
    pub fn projections_json(&self) -> String {
        serde_json::to_string(&self.projections).unwrap_or_default()
    }

    /// Evaluates the expression over a record that has a root for each declared variable; one that is absent is not bound.
    ///
    /// `cost_limit` is the cost that it may have. After [`Outcome::Done`] the scratch's output is a line as docs/abi.md,
    /// "Expressions" has it; after [`Outcome::NeedsInput`] it is the questions. The scratch belongs to this evaluation until it is
    /// done or the scratch is reset.
    pub fn evaluate(
        &self,
        scratch: &mut Scratch,
        record: &[u8],
        answers: &[u8],
        cost_limit: u64,
    ) -> Result<Outcome, InvalidRequest> {
        scratch.output = Output::Nothing;
        scratch.arena.reset();
        let Scratch { arena, answers: answered, pending, questions, report, kept, .. } = scratch;
        answered.take(pending.get_mut(), answers)?;
        let record = Record::parse(record).map_err(|error| InvalidRequest::new(format!("record: {error:?}")))?;
        if record.roots() != self.roots {
            return Err(InvalidRequest::new(format!("record: {} roots, not {}", record.roots(), self.roots)));
        }
        let host = Authorizer { answers: answered, pending };
        kept.memo.begin();
        let ctx = EvalContext::new(arena, &host, cost_limit).remembering(&kept.memo, &record);
        let value = self.program.eval(&ctx, self.variables(arena, &ctx, &record));
        report.clear();
        match (ctx.halt(), value) {
            (Some(Halt::NeedsInput), _) => {
                pending.borrow().write(questions);
                scratch.output = Output::Questions;
                return Ok(Outcome::NeedsInput);
            }
            (Some(Halt::Panic(message)), _) => show::error(report, ctx.cost(), message),
            (Some(_), _) => show::error(report, ctx.cost(), COST_LIMIT_EXCEEDED),
            (None, Value::Error(error)) => show::error(report, ctx.cost(), error.message),
            (None, value) => {
                let cost = ctx.cost();
                show::value(report, &ctx, cost, value);
            }
        }
        scratch.output = Output::Report;
        Ok(Outcome::Done)
    }

    fn variables<'a>(&self, arena: &'a Bump, ctx: &EvalContext<'a>, record: &'a Record<'a>) -> &'a [Option<Value<'a>>] {
        let mut values = bumpalo::collections::Vec::with_capacity_in(self.roots as usize + AUTHORIZER.len(), arena);
        values.extend((0..self.roots).map(|root| record.root(root)));
        if let Some(resource) = &self.request_resource {
            let text = |text: &str| -> &'a str { arena.alloc_str(text) };
            values.push(Some(authorizer_value(ctx)));
            values.push(Some(request_resource_value(
                ctx,
                &RequestResource {
                    group: text(&resource.group),
                    resource: text(&resource.resource),
                    subresource: text(&resource.subresource),
                    namespace: text(&resource.namespace),
                    name: text(&resource.name),
                },
            )));
        }
        values.into_bump_slice()
    }
}
