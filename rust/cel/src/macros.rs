//! Macros: calls that are replaced by other expressions while parsing (cel-go `parser/macro.go` and its libraries' macros).

mod copy;
mod expander;
mod lists;
mod optional;
mod standard;
mod two_variables;

pub(crate) use expander::{ExpandError, Expander};

use crate::ast::Expr;

/// The name of the accumulator in expansions; no source text can name it.
const ACCUMULATOR: &str = "@result";
/// The accumulator's name of old, which iteration variables must not have either.
const OLD_ACCUMULATOR: &str = "__result__";
/// The iteration variable of a loop that never runs.
const UNUSED: &str = "#unused";

type Expand = fn(&mut Expander<'_>, Option<Expr>, Vec<Expr>) -> Result<Expr, ExpandError>;

/// One macro: the calls that it replaces, and by what.
#[derive(Clone, Copy)]
pub struct Macro {
    function: &'static str,
    args: usize,
    member: bool,
    expand: Expand,
}

impl Macro {
    const fn global(function: &'static str, args: usize, expand: Expand) -> Macro {
        Macro { function, args, member: false, expand }
    }

    const fn member(function: &'static str, args: usize, expand: Expand) -> Macro {
        Macro { function, args, member: true, expand }
    }
}

/// The macros of Kubernetes' CEL environments, in the order in which they came: older environments have the first of them.
/// (`existsOne` of one variable is not among cel-go's `StandardMacros`.)
pub const KUBERNETES: &[Macro] = &[
    Macro::global("has", 1, standard::has),
    Macro::member("all", 2, standard::all),
    Macro::member("exists", 2, standard::exists),
    Macro::member("exists_one", 2, standard::exists_one),
    Macro::member("map", 2, standard::map),
    Macro::member("map", 3, standard::map),
    Macro::member("filter", 2, standard::filter),
    Macro::member("optMap", 2, optional::opt_map),
    Macro::member("optFlatMap", 2, optional::opt_flat_map),
    Macro::member("all", 3, two_variables::all),
    Macro::member("exists", 3, two_variables::exists),
    Macro::member("existsOne", 3, two_variables::exists_one),
    Macro::member("exists_one", 3, two_variables::exists_one),
    Macro::member("transformList", 3, two_variables::transform_list),
    Macro::member("transformList", 4, two_variables::transform_list),
    Macro::member("transformMap", 3, two_variables::transform_map),
    Macro::member("transformMap", 4, two_variables::transform_map),
    Macro::member("transformMapEntry", 3, two_variables::transform_map_entry),
    Macro::member("transformMapEntry", 4, two_variables::transform_map_entry),
    Macro::member("sortBy", 2, lists::sort_by),
];

/// cel-go's `StandardMacros`.
pub const STANDARD: &[Macro] = KUBERNETES.split_at(7).0;

/// Those, and the ones on optional values.
pub const WITH_OPTIONAL: &[Macro] = KUBERNETES.split_at(9).0;

/// Those, and comprehensions of two variables.
pub const WITH_TWO_VARIABLES: &[Macro] = KUBERNETES.split_at(19).0;

/// The expansion of a call, if it is a macro's.
pub(crate) fn find(macros: &[Macro], function: &str, args: usize, member: bool) -> Option<Expand> {
    let matches = |it: &&Macro| it.args == args && it.member == member && it.function == function;
    macros.iter().find(matches).map(|it| it.expand)
}
