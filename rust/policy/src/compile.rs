//! Expressions of a policy or webhook → programs: upstream's `compilePolicy`, `CompositedCompiler` and `CompileCELExpression`.

use celgate_cel::check::{Checked, check};
use celgate_cel::env::Env;
use celgate_cel::parser::{ParseOptions, parse};
use celgate_cel::types::Type;
use celgate_k8s::escaping::unescape;
use celgate_k8s::types::{OptionalVariables, variable_type};

use crate::api::{NamedExpression, PolicySpec};
pub(crate) use crate::compiled::Compiled;
use crate::environment;
use crate::mutants::{Mutant, planted};
use crate::projection::{Analysis, Packed};
use crate::reads::Reads;

/// The cost that one expression or variable may have (apiserver `pkg/apis/cel/config.go`, `PerCallLimit`).
pub(crate) const COST_LIMIT: u64 = 1_000_000;

/// cel-go's text when an expression passes that limit.
pub(crate) const COST_LIMIT_EXCEEDED: &str = "operation cancelled: actual cost limit exceeded";

/// A policy keeps no more of its constant patterns compiled than this; the others are compiled when they are used.
const PATTERN_BYTES: usize = 64 << 20;

/// All expressions of a policy, or the conditions of a webhook. Where one does not compile, it holds upstream's error.
#[derive(Debug)]
pub(crate) struct Program {
    /// Distinct names, in order of their declaration.
    pub(crate) variables: Box<[Variable]>,
    pub(crate) conditions: Box<[Expression]>,
    pub(crate) validations: Box<[Validation]>,
    pub(crate) annotations: Box<[Annotation]>,
    /// Whether any validation has a messageExpression.
    pub(crate) has_messages: bool,
    pub(crate) reads: Reads,
    /// The parts of object and oldObject that are read.
    pub(crate) projections: Packed,
}

/// One expression.
#[derive(Debug)]
pub(crate) struct Expression {
    pub(crate) text: Box<str>,
    pub(crate) program: Result<Compiled, Box<str>>,
}

impl Expression {
    /// Whether the kind of a request settles it.
    pub(crate) fn is_by_kind(&self) -> bool {
        self.program.as_ref().is_ok_and(Compiled::is_by_kind)
    }
}

#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: Box<str>,
    /// Names are unescaped when they are looked up: one that looks escaped is never found.
    pub(crate) reachable: bool,
    pub(crate) program: Result<Compiled, Box<str>>,
}

#[derive(Debug)]
pub(crate) struct Validation {
    pub(crate) expression: Expression,
    pub(crate) message_expression: Option<Box<Expression>>,
    /// Not trimmed.
    pub(crate) message: Box<str>,
    pub(crate) reason: Option<Box<str>>,
}

#[derive(Debug)]
pub(crate) struct Annotation {
    pub(crate) key: Box<str>,
    pub(crate) expression: Expression,
}

/// Compiles expressions one after the other; variables are added to what later ones see.
struct Compiler {
    /// With `authorizer` declared, and without.
    with_authorizer: Env,
    without_authorizer: Env,
    reads: Reads,
    analysis: Analysis,
    /// Bytes of compiled patterns that the policy may still keep.
    pattern_room: usize,
}

impl Program {
    /// Compiles a policy's expressions for evaluation by the newest environment, as stored policies are.
    pub(crate) fn compile(spec: &PolicySpec, has_params: bool) -> Program {
        let mut compiler =
            Compiler::new(|authorizer| environment::env(OptionalVariables { params: has_params, authorizer }));
        let mut variables: Vec<Variable> = Vec::with_capacity(spec.variables.len());
        for variable in &spec.variables {
            let program = compiler.variable(&variable.name, &variable.expression);
            match variables.iter_mut().find(|known| *known.name == *variable.name) {
                // Upstream keeps them by name: the last one stays.
                Some(known) => known.program = program,
                None => variables.push(Variable {
                    reachable: unescape(&variable.name).is_some_and(|name| name == variable.name),
                    name: variable.name.as_str().into(),
                    program,
                }),
            }
        }
        let conditions = compiler.conditions(&spec.match_conditions);
        let validations = spec.validations.iter().map(|validation| Validation {
            expression: compiler.expression(&validation.expression, &[Type::Bool], true),
            message_expression: (!validation.message_expression.is_empty())
                .then(|| Box::new(compiler.expression(&validation.message_expression, &[Type::String], false))),
            message: validation.message.as_str().into(),
            reason: validation.reason.as_deref().map(Into::into),
        });
        let validations: Box<[Validation]> = validations.collect();
        let annotations = spec.audit_annotations.iter().map(|annotation| Annotation {
            key: annotation.key.as_str().into(),
            expression: compiler.expression(&annotation.value_expression, &[Type::String, Type::Null], true),
        });
        let annotations = annotations.collect();
        Program {
            variables: variables.into(),
            conditions,
            has_messages: validations.iter().any(|validation| validation.message_expression.is_some()),
            validations,
            annotations,
            reads: compiler.reads,
            projections: compiler.analysis.finish(),
        }
    }
}

impl Program {
    /// Compiles a webhook's conditions.
    pub(crate) fn of_webhook(conditions: &[NamedExpression]) -> Program {
        let mut compiler =
            Compiler::new(|authorizer| environment::without_variables(OptionalVariables { params: false, authorizer }));
        Program {
            variables: Box::default(),
            conditions: compiler.conditions(conditions),
            validations: Box::default(),
            annotations: Box::default(),
            has_messages: false,
            reads: compiler.reads,
            projections: compiler.analysis.finish(),
        }
    }
}

impl Compiler {
    fn new(env: impl Fn(bool) -> Env) -> Compiler {
        Compiler {
            with_authorizer: env(true),
            without_authorizer: env(false),
            reads: Reads::default(),
            analysis: Analysis::new(),
            pattern_room: PATTERN_BYTES,
        }
    }

    fn variable(&mut self, name: &str, text: &str) -> Result<Compiled, Box<str>> {
        let (program, ty) = match self.compile(text, None, true) {
            Ok((program, checked)) => {
                self.analysis.variable(name, &checked.ast.expr);
                (Ok(program), variable_type(&checked.output))
            }
            Err(error) => (Err(error), Type::Dyn),
        };
        self.with_authorizer = environment::with_variable(&self.with_authorizer, name, &ty);
        self.without_authorizer = environment::with_variable(&self.without_authorizer, name, &ty);
        program
    }

    fn conditions(&mut self, conditions: &[NamedExpression]) -> Box<[Expression]> {
        conditions.iter().map(|condition| self.expression(&condition.expression, &[Type::Bool], true)).collect()
    }

    fn expression(&mut self, text: &str, accepted: &[Type], authorizer: bool) -> Expression {
        let program = self.compile(text, Some(accepted), authorizer).map(|(program, checked)| {
            self.analysis.expression(&checked.ast.expr);
            program
        });
        Expression { text: text.into(), program }
    }

    /// The program and what it was made of, or upstream's text of what is wrong.
    fn compile(
        &mut self,
        text: &str,
        accepted: Option<&[Type]>,
        authorizer: bool,
    ) -> Result<(Compiled, Checked), Box<str>> {
        let env = if authorizer { &self.with_authorizer } else { &self.without_authorizer };
        let failed = |issues| format!("compilation failed: {issues}").into_boxed_str();
        let ast = parse(text, &ParseOptions::kubernetes()).map_err(failed)?;
        let checked = check(ast, env).map_err(failed)?;
        if let Some(accepted) = accepted {
            accept(accepted, &checked.output)?;
        }
        self.reads |= Reads::of(&checked.ast.expr);
        let program = Compiled::new(&checked, environment::functions(), &mut self.pattern_room)
            .map_err(|error| format!("program instantiation failed: {error}"))?;
        Ok((program, checked))
    }
}

/// Whether an expression's type is one of those that its place takes.
fn accept(accepted: &[Type], output: &Type) -> Result<(), Box<str>> {
    if accepted.iter().any(|accepted| output.is_exact(accepted)) || planted(Mutant::DynIsBool) {
        return Ok(());
    }
    let got = output.go_string();
    Err(match accepted {
        [one] => format!("must evaluate to {} but got {got}", one.go_string()),
        several => {
            let names: Vec<String> = several.iter().map(Type::go_string).collect();
            format!("must evaluate to one of [{}] but got {got}", names.join(" "))
        }
    }
    .into())
}
