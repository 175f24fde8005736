//! Variables, selections and indexing (cel-go `interpreter/attributes.go`, `planSelect`, `planCallIndex`).

use super::{Base, Constant, Draft, Hint, Node, PlanError, Planner, Qualifier, QualifierKind};
use crate::ast::{Expr, ExprId};

impl<'e> Planner<'e, '_> {
    /// A new attribute and the node that evaluates it.
    pub(super) fn attribute(&mut self, id: ExprId, base: Base) -> u32 {
        let attribute = self.draft(id, base);
        self.push(id, Node::Attribute(attribute))
    }

    fn draft(&mut self, id: ExprId, base: Base) -> u32 {
        let id = self.id(id);
        self.drafts.push(Draft { base, path: Vec::new(), id });
        self.drafts.len() as u32 - 1
    }

    /// The attribute that a node evaluates or tests.
    fn attribute_of(&self, node: u32) -> Option<u32> {
        match self.get(node)? {
            Node::Attribute(attribute) | Node::Test(attribute) => Some(attribute),
            _ => None,
        }
    }

    /// The node as an attribute to select from; whatever is none yet becomes the base of one.
    fn selectable(&mut self, node: u32) -> (u32, u32) {
        if let Some(attribute) = self.attribute_of(node) {
            return (node, attribute);
        }
        let id = self.node_ids.get(node as usize).map_or(0, |id| ExprId::from(*id));
        let attribute = self.draft(id, Base::Node(node));
        (self.push(id, Node::Attribute(attribute)), attribute)
    }

    /// Adds a selection; a conditional hands it on to both branches.
    fn add_qualifier(&mut self, attribute: u32, qualifier: u32) {
        let Some(draft) = self.drafts.get_mut(attribute as usize) else {
            return;
        };
        if let Base::Conditional(_, truthy, falsy) = draft.base {
            self.add_qualifier(truthy, qualifier);
            self.add_qualifier(falsy, qualifier);
        } else {
            draft.path.push(qualifier);
        }
    }

    fn qualifier(&mut self, id: ExprId, optional: bool, kind: QualifierKind) -> u32 {
        let id = self.id(id);
        self.qualifiers.push(Qualifier { id, optional, kind, hint: Hint::default() });
        self.qualifiers.len() as u32 - 1
    }

    /// `operand.field` and `has(operand.field)`.
    pub(super) fn select(
        &mut self,
        id: ExprId,
        operand: &'e Expr,
        field: &'e str,
        test_only: bool,
    ) -> Result<u32, PlanError> {
        if self.checked.references.get(&id).is_some_and(|reference| !reference.name.is_empty()) {
            return self.ident(id, field);
        }
        let operand = self.node(operand)?;
        let (node, attribute) = self.selectable(operand);
        let field = self.names.add(field);
        let kind = if test_only { QualifierKind::Test(field) } else { QualifierKind::String(field) };
        let qualifier = self.qualifier(id, false, kind);
        self.add_qualifier(attribute, qualifier);
        if test_only {
            return Ok(self.push(id, Node::Test(attribute)));
        }
        Ok(node)
    }

    /// `operand[index]`, `operand[?index]` and `operand.?field`.
    pub(super) fn index(&mut self, id: ExprId, operand: u32, index: u32, optional: bool) -> Result<u32, PlanError> {
        let (node, attribute) = self.selectable(operand);
        let kind = match (self.constant_of(index), self.attribute_of(index)) {
            (Some(constant), _) => self.constant_index(constant)?,
            (None, Some(attribute)) => QualifierKind::Attribute(attribute),
            (None, None) => QualifierKind::Computed(self.draft(id, Base::Node(index))),
        };
        let qualifier = self.qualifier(id, optional, kind);
        self.add_qualifier(attribute, qualifier);
        Ok(node)
    }

    fn constant_index(&mut self, constant: Constant) -> Result<QualifierKind, PlanError> {
        let go_type = match constant {
            Constant::String(text) => return Ok(QualifierKind::String(self.names.add(&text))),
            Constant::Int(_) | Constant::Uint(_) | Constant::Double(_) | Constant::Bool(_) => {
                return Ok(QualifierKind::Constant(self.keep(constant)));
            }
            Constant::Null => "types.Null",
            Constant::Bytes(_) => "types.Bytes",
            Constant::Duration(_) => "types.Duration",
            Constant::Timestamp(_) => "types.Timestamp",
            Constant::Type(_) => "*types.Type",
            Constant::List(_) => "*types.baseList",
            Constant::Map(_) => "*types.baseMap",
            Constant::Error(_) => "*types.Err",
        };
        Err(PlanError(format!("invalid qualifier type: {go_type}")))
    }

    /// `condition ? truthy : falsy`: the branches become attributes, so that selections can be handed on to them.
    pub(super) fn conditional(&mut self, id: ExprId, condition: u32, truthy: u32, falsy: u32) -> u32 {
        let truthy = self.branch(truthy);
        let falsy = self.branch(falsy);
        self.attribute(id, Base::Conditional(condition, truthy, falsy))
    }

    fn branch(&mut self, node: u32) -> u32 {
        if let Some(attribute) = self.attribute_of(node) {
            return attribute;
        }
        let id = self.node_ids.get(node as usize).map_or(0, |id| ExprId::from(*id));
        self.draft(id, Base::Node(node))
    }

    /// The id that cel-go has for an attribute: that of its last selection.
    pub(super) fn attribute_id(&self, attribute: u32) -> u32 {
        let Some(draft) = self.drafts.get(attribute as usize) else {
            return 0;
        };
        if let Base::Conditional(_, truthy, falsy) = draft.base {
            let (truthy, falsy) = (self.attribute_id(truthy), self.attribute_id(falsy));
            return if truthy == falsy { truthy } else { draft.id };
        }
        let last = draft.path.last().and_then(|at| self.qualifiers.get(*at as usize));
        last.map_or(draft.id, |qualifier| qualifier.id)
    }
}
