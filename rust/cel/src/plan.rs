//! From a checked expression to a program (cel-go `interpreter/planner.go`, with the decorators that Kubernetes turns on:
//! constants are folded, constant lists become sets, constant patterns are compiled).

mod attributes;
mod calls;
mod fold;
mod names;
mod optimize;
pub(crate) mod paths;
mod program;
mod set;
mod tracking;

pub(crate) use names::Name;
pub use program::Program;
use program::Rare;
pub(crate) use program::{
    Aggregate, Attribute, Base, Call, Comparison, Constant, Fold, Hint, MessageLiteral, Node, Operation, Qualifier,
    QualifierKind, Search, Span,
};

use std::fmt;

use crate::ast::{Expr, ExprId, ExprKind, Literal};
use crate::check::Checked;
use crate::function::FunctionTable;
use crate::regex::Regex;
use crate::types::{Kind, Type};
use names::Names;
use paths::Path;
use set::Set;

/// What a program is planned for.
#[derive(Clone, Copy)]
pub struct PlanOptions<'o> {
    /// The variables that the caller will provide; a variable's index is the slot by which evaluation asks for it.
    pub variables: &'o [&'o str],
    /// The functions of the environment that the expression was checked in.
    pub functions: &'o FunctionTable,
}

/// Why an expression that passed the checker is no program: the text after cel-go's "program instantiation failed: ".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError(String);

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PlanError {}

/// Plans an expression.
///
/// # Errors
///
/// A conversion of a constant that fails, a constant pattern that is no regular expression, a constant that cannot be an
/// index: also in branches that would never run.
pub fn plan(checked: &Checked, options: &PlanOptions<'_>) -> Result<Program, PlanError> {
    let mut planner = Planner::new(checked, options);
    let root = planner.node(&checked.ast.expr)?;
    Ok(planner.finish(root))
}

/// Whether evaluation knows the type that a name denotes. A provider's struct types, and other names for the language's own
/// types (`google.protobuf.Struct` for `map`), are for the checker only.
fn exists_at_run_time(name: &str, ty: &Type) -> bool {
    match ty {
        Type::Type(of) => match &**of {
            Type::Any => false,
            Type::Object(_) => name.starts_with("google."),
            other => other.type_name() == name,
        },
        _ => true,
    }
}

/// An attribute under construction.
struct Draft {
    base: Base,
    /// Indices into the planner's qualifiers.
    path: Vec<u32>,
    /// The id of the base.
    id: u32,
}

/// A variable of an enclosing comprehension.
struct Scope<'e> {
    name: &'e str,
    base: Base,
}

struct Planner<'e, 'o> {
    checked: &'e Checked,
    options: &'o PlanOptions<'o>,
    scopes: Vec<Scope<'e>>,
    nodes: Vec<Node>,
    /// The expression ids of nodes.
    node_ids: Vec<u32>,
    constants: Vec<Constant>,
    drafts: Vec<Draft>,
    qualifiers: Vec<Qualifier>,
    calls: Vec<Call>,
    folds: Vec<Fold>,
    aggregates: Vec<Aggregate>,
    messages: Vec<MessageLiteral>,
    sets: Vec<Set>,
    regexes: Vec<Regex>,
    /// Bytes of all constant patterns so far.
    pattern_bytes: usize,
    names: Names,
    operands: Vec<u32>,
    locals: u32,
    ids: u32,
}

impl<'e, 'o> Planner<'e, 'o> {
    fn new(checked: &'e Checked, options: &'o PlanOptions<'o>) -> Self {
        Planner {
            checked,
            options,
            scopes: Vec::new(),
            nodes: Vec::new(),
            node_ids: Vec::new(),
            constants: Vec::new(),
            drafts: Vec::new(),
            qualifiers: Vec::new(),
            calls: Vec::new(),
            folds: Vec::new(),
            aggregates: Vec::new(),
            messages: Vec::new(),
            sets: Vec::new(),
            regexes: Vec::new(),
            pattern_bytes: 0,
            names: Names::default(),
            operands: Vec::new(),
            locals: 0,
            ids: 0,
        }
    }

    /// Expression ids are small and positive; those of a program are kept in 32 bits.
    fn id(&mut self, id: ExprId) -> u32 {
        let id = u32::try_from(id).unwrap_or(0);
        self.ids = self.ids.max(id.saturating_add(1));
        id
    }

    fn push(&mut self, id: ExprId, node: Node) -> u32 {
        let id = self.id(id);
        self.nodes.push(node);
        self.node_ids.push(id);
        self.nodes.len() as u32 - 1
    }

    fn get(&self, node: u32) -> Option<Node> {
        self.nodes.get(node as usize).copied()
    }

    /// Recursion is bounded by the parser, which limits the depth of an expression.
    fn node(&mut self, expr: &'e Expr) -> Result<u32, PlanError> {
        match &expr.kind {
            ExprKind::Call { target, function, args } => self.call(expr.id, target.as_deref(), function, args),
            ExprKind::Ident(name) => self.ident(expr.id, name),
            ExprKind::Literal(literal) => Ok(self.constant(expr.id, of_literal(literal))),
            ExprKind::Select { operand, field, test_only } => self.select(expr.id, operand, field, *test_only),
            ExprKind::List { elements, optional_indices } => self.list(expr.id, elements, optional_indices),
            ExprKind::Map { entries } => self.map(expr.id, entries),
            ExprKind::Struct { type_name, fields } => self.message(expr.id, type_name, fields),
            ExprKind::Comprehension(comprehension) => self.comprehension(expr.id, comprehension),
            ExprKind::Unspecified => Err(PlanError("unsupported expr: ".to_owned())),
        }
    }

    fn constant(&mut self, id: ExprId, constant: Constant) -> u32 {
        let kind = match constant {
            Constant::Bool(b) => Node::Bool(b),
            Constant::String(text) => Node::Text(self.names.add(&text)),
            Constant::Int(i) => {
                i32::try_from(i).map_or_else(|_| Node::Constant(self.keep(Constant::Int(i))), Node::Int)
            }
            other => {
                let in_place = matches!(other, Constant::List(_)) && !other.has_map();
                let index = self.keep(other);
                if in_place { Node::ConstantList(index) } else { Node::Constant(index) }
            }
        };
        self.push(id, kind)
    }

    fn keep(&mut self, constant: Constant) -> u32 {
        self.constants.push(constant);
        self.constants.len() as u32 - 1
    }

    /// The value of a constant node.
    fn constant_of(&self, node: u32) -> Option<Constant> {
        match self.get(node)? {
            Node::Bool(b) => Some(Constant::Bool(b)),
            Node::Text(name) => Some(Constant::String(Box::from(self.names.text(name)))),
            Node::Int(i) => Some(Constant::Int(i.into())),
            Node::Constant(index) | Node::ConstantList(index) => self.constants.get(index as usize).cloned(),
            _ => None,
        }
    }

    fn ident(&mut self, id: ExprId, name: &str) -> Result<u32, PlanError> {
        let reference = self.checked.references.get(&id);
        if let Some(value) = reference.and_then(|reference| reference.value.as_ref()) {
            return Ok(self.constant(id, of_literal(value)));
        }
        let name = match reference {
            Some(reference) if !reference.name.is_empty() => reference.name.as_str(),
            _ => name,
        };
        if let Some(ty) = self.checked.types.get(&id).filter(|ty| ty.kind() == Kind::Type) {
            // cel-go takes any name of type `type` for that of a type, variables too.
            let is_variable = self.local(name).is_some() || self.options.variables.contains(&name);
            if is_variable || !exists_at_run_time(name, ty) {
                return Err(PlanError(format!("reference to undefined type: {name}")));
            }
            return Ok(self.constant(id, Constant::Type(Box::from(name))));
        }
        let base = self.variable(name);
        Ok(self.attribute(id, base))
    }

    fn local(&self, name: &str) -> Option<Base> {
        self.scopes.iter().rev().find(|scope| scope.name == name).map(|scope| scope.base)
    }

    /// A name with a leading dot is a variable of the caller, whatever comprehensions call theirs.
    fn variable(&mut self, name: &str) -> Base {
        let (global, local) = match name.strip_prefix('.') {
            Some(global) => (global, None),
            None => (name, self.local(name)),
        };
        if let Some(base) = local {
            return base;
        }
        let slot = self.options.variables.iter().position(|known| *known == global);
        let name = self.names.add(global);
        slot.map_or(Base::Missing(name), |slot| Base::Slot(slot as u32, name))
    }

    fn operands(&mut self, nodes: &[u32]) -> Span {
        let first = self.operands.len() as u32;
        self.operands.extend_from_slice(nodes);
        Span { first, len: nodes.len() as u32 }
    }

    /// Lays out attributes, now that their paths are complete, and gives their nodes the ids that cel-go has for them.
    fn finish(mut self, root: u32) -> Program {
        let mut attributes: Vec<Attribute> = Vec::with_capacity(self.drafts.len());
        let mut qualifiers: Vec<Qualifier> = Vec::with_capacity(self.qualifiers.len());
        for index in 0..self.drafts.len() {
            let id = self.attribute_id(index as u32);
            let Some(draft) = self.drafts.get(index) else {
                continue;
            };
            let first = qualifiers.len();
            qualifiers.extend(draft.path.iter().filter_map(|at| self.qualifiers.get(*at as usize)).map(copy_of));
            let path = qualifiers.get(first..).unwrap_or_default();
            let is_field = |qualifier: &Qualifier| {
                !qualifier.optional && matches!(qualifier.kind, QualifierKind::String(_) | QualifierKind::Test(_))
            };
            let plain = matches!(draft.base, Base::Slot(..) | Base::Local(_)) && path.iter().all(is_field);
            let tests = matches!(path, [.., Qualifier { kind: QualifierKind::Test(_), .. }]);
            let numbered = if plain { Path::new(path, &self.names) } else { Path::NONE };
            let path = Span { first: first as u32, len: path.len() as u32 };
            attributes.push(Attribute { base: draft.base, path, id, numbered, plain, tests });
        }
        for (node, id) in self.nodes.iter_mut().zip(&mut self.node_ids) {
            if let Node::Attribute(attribute) = *node
                && let Some(attribute) = attributes.get(attribute as usize)
            {
                *id = attribute.id;
                if let (Base::Local(place), 0) = (attribute.base, attribute.path.len) {
                    *node = Node::Local(place);
                }
            }
        }
        let builders = if self.folds.iter().any(|fold| fold.builds) { self.locals } else { 0 };
        let laid_out = if self.constants.iter().any(Constant::has_map) { self.constants.len() as u32 } else { 0 };
        let mut program = Program {
            nodes: self.nodes.into(),
            root,
            attributes: attributes.into(),
            qualifiers: qualifiers.into(),
            calls: self.calls.into(),
            folds: self.folds.into(),
            rare: Rare {
                sets: self.sets,
                constants: self.constants,
                regexes: self.regexes,
                aggregates: self.aggregates,
                messages: self.messages,
            }
            .kept(),
            texts: self.names.finish(),
            operands: self.operands.into(),
            locals: self.locals,
            builders,
            laid_out,
            node_ids: self.node_ids.into(),
            ids: self.ids,
            tracked: false,
        };
        program.tracked = tracking::needed(&program);
        program
    }
}

/// The same selection once more: a conditional distributes one to both branches.
fn copy_of(qualifier: &Qualifier) -> Qualifier {
    let Qualifier { id, optional, kind, .. } = *qualifier;
    Qualifier { id, optional, kind, hint: Hint::default() }
}

fn of_literal(literal: &Literal) -> Constant {
    match literal {
        Literal::Null => Constant::Null,
        Literal::Bool(b) => Constant::Bool(*b),
        Literal::Int(i) => Constant::Int(*i),
        Literal::Uint(u) => Constant::Uint(*u),
        Literal::Double(d) => Constant::Double(*d),
        Literal::String(text) => Constant::String(Box::from(text.as_str())),
        Literal::Bytes(bytes) => Constant::Bytes(Box::from(bytes.as_slice())),
    }
}
