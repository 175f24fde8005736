//! Comprehensions, which macros expand to.

use crate::ast::{Comprehension, ExprId};
use crate::types::Type;

use super::Checker;

impl Checker<'_> {
    pub(super) fn comprehension(&mut self, id: ExprId, comprehension: &mut Comprehension) {
        self.check(&mut comprehension.iter_range);
        self.check(&mut comprehension.accu_init);
        let range = self.unifier.substitute(&self.type_of(&comprehension.iter_range), false);
        let accumulator = self.type_of(&comprehension.accu_init);
        self.all_overloads = true;
        let outer = self.scopes.len();
        self.scopes.push((comprehension.accu_var.clone(), accumulator.clone()));

        let (first, second) = self.iteration_types(comprehension, &range);
        let two = !comprehension.iter_var2.is_empty();
        let inner = self.scopes.len();
        let same_name = two && comprehension.iter_var == comprehension.iter_var2;
        self.scopes.push((comprehension.iter_var.clone(), first.clone()));
        if two && (!same_name || first.is_equivalent(&second)) {
            self.scopes.push((comprehension.iter_var2.clone(), second));
        }
        self.check(&mut comprehension.loop_condition);
        self.assert_type(&comprehension.loop_condition, &Type::Bool);
        self.check(&mut comprehension.loop_step);
        self.assert_type(&comprehension.loop_step, &accumulator);

        self.scopes.truncate(inner);
        self.check(&mut comprehension.result);
        self.scopes.truncate(outer);
        let result = self.unifier.substitute(&self.type_of(&comprehension.result), false);
        self.set_type(id, result);
    }

    /// The types of the first and second iteration variable. With one variable the second is unused.
    fn iteration_types(&mut self, comprehension: &Comprehension, range: &Type) -> (Type, Type) {
        let two = !comprehension.iter_var2.is_empty();
        match range {
            Type::List(elem) if two => (Type::Int, (**elem).clone()),
            Type::List(elem) => ((**elem).clone(), Type::Dyn),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Param(_) | Type::Var(_) => {
                self.unifier.assignable(&Type::Dyn, range);
                (Type::Dyn, Type::Dyn)
            }
            _ => {
                let message = format!(
                    "expression of type '{range}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.report(comprehension.iter_range.id, message);
                (Type::Error, Type::Error)
            }
        }
    }
}
