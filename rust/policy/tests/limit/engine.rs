//! A policy's validations as the engine evaluates them: with its variables, cost counted, and nothing of a policy around them.

use std::cell::Cell;
use std::sync::Arc;

use bumpalo::Bump;
use celgate_cel::check::{Checked, check};
use celgate_cel::context::EvalContext;
use celgate_cel::env::Env;
use celgate_cel::function::FunctionTable;
use celgate_cel::parser::{ParseOptions, parse};
use celgate_cel::plan::{PlanOptions, Program, plan};
use celgate_cel::value::{LazyMap, Value};
use celgate_k8s::environment::{Version, env_builder, function_table};
use celgate_k8s::types::{AdmissionTypes, OptionalVariables, VARIABLES, variable_type, variables, variables_variable};
use serde_json::Value as Json;

use super::read::{Check, Error};

const NAMES: [&str; 3] = ["object", "params", "variables"];

type Inputs<'a> = [Option<Value<'a>>; NAMES.len()];

pub(crate) struct Expressions {
    variables: Vec<(String, Program)>,
    validations: Vec<Program>,
}

impl Expressions {
    /// Compiles the validations of a policy's spec, and what they can read of its variables.
    pub(crate) fn new(spec: &Json) -> Expressions {
        let functions = function_table(Version::STORED);
        let optional = OptionalVariables { params: true, authorizer: false };
        let declared = variables(optional).into_iter().chain([variables_variable()]);
        let base = env_builder(Version::STORED).build().with_provider(Arc::new(AdmissionTypes));
        let mut env = base.with_variables(declared);
        let mut variables = Vec::new();
        for variable in entries(spec, "variables") {
            let name = variable["name"].as_str().unwrap();
            let (program, checked) = program(&variable["expression"], &env, &functions);
            env = env.with_struct_field(VARIABLES, name, variable_type(&checked.output));
            variables.push((name.to_owned(), program));
        }
        let validations = entries(spec, "validations");
        let validations = validations.map(|validation| program(&validation["expression"], &env, &functions).0);
        Expressions { validations: validations.collect(), variables }
    }

    /// Evaluates all validations: false if one does not hold, otherwise an error if there is one. The other result is their cost.
    pub(crate) fn evaluate<'a>(&'a self, ctx: &EvalContext<'a>, object: Value<'a>, params: Value<'a>) -> (Check, u64) {
        ctx.renew();
        let variables: &'a Variables<'a> = ctx.arena.alloc(Variables::new(self, ctx.arena));
        let inputs: &'a Inputs<'a> = ctx.arena.alloc([Some(object), Some(params), Some(Value::Lazy(variables))]);
        variables.inputs.set(Some(inputs));
        let (mut verdict, mut cost) = (Ok(true), 0);
        for program in &self.validations {
            match program.eval(ctx, inputs) {
                Value::Bool(true) => {}
                Value::Bool(false) => verdict = Ok(false),
                _ => verdict = verdict.and_then(|holds| if holds { Err(Error) } else { Ok(false) }),
            }
            cost += ctx.leave(0) + variables.cost.take();
        }
        (verdict, cost)
    }
}

fn entries<'j>(spec: &'j Json, section: &str) -> impl Iterator<Item = &'j Json> {
    spec[section].as_array().into_iter().flatten()
}

fn program(text: &Json, env: &Env, functions: &FunctionTable) -> (Program, Checked) {
    let ast = parse(text.as_str().unwrap(), &ParseOptions::kubernetes());
    let checked = ast.and_then(|ast| check(ast, env)).unwrap();
    let mut program = plan(&checked, &PlanOptions { variables: &NAMES, functions }).unwrap();
    program.keep_patterns(&mut (1 << 20));
    (program, checked)
}

/// Variables of one evaluation of a policy.
struct Variables<'a> {
    expressions: &'a Expressions,
    values: &'a [Cell<Option<Value<'a>>>],
    inputs: Cell<Option<&'a Inputs<'a>>>,
    cost: Cell<u64>,
}

impl<'a> Variables<'a> {
    fn new(expressions: &'a Expressions, arena: &'a Bump) -> Variables<'a> {
        let values = arena.alloc_slice_fill_with(expressions.variables.len(), |_| Cell::new(None));
        Variables { expressions, values, inputs: Cell::new(None), cost: Cell::new(0) }
    }
}

impl<'a> LazyMap<'a> for Variables<'a> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn key(&self, index: usize) -> &'a str {
        self.expressions.variables.get(index).map_or("", |(name, _)| name)
    }

    fn index_of(&self, key: &str) -> Option<usize> {
        self.expressions.variables.iter().position(|(name, _)| name == key)
    }

    fn get(&self, ctx: &EvalContext<'a>, index: usize) -> Value<'a> {
        if let Some(value) = self.values[index].get() {
            return value;
        }
        let outer = ctx.enter();
        let value = self.expressions.variables[index].1.eval(ctx, self.inputs.get().unwrap());
        self.cost.set(self.cost.get() + ctx.leave(outer));
        self.values[index].set(Some(value));
        value
    }
}
