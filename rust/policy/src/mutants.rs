//! Bugs of policies and webhooks that can be planted, one at a time, to show that the differential tests of the plugins find them (feature
//! `mutants`).

use celgate_cel::mutants::is_planted;
#[cfg(feature = "mutants")]
pub use celgate_cel::mutants::plant as plant_expression;

/// A bug: where it is, and what is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mutant {
    /// No bug; others count from here.
    None = 1000,
    /// Rules take a Namespace for a namespaced object.
    NamespacesAreNamespaced,
    /// The resource `*` matches subresources.
    StarHasSubresources,
    /// `pods/*` does not match pods.
    SlashStarNeedsSubresource,
    /// matchPolicy Exact matches equivalent resources.
    ExactIsEquivalent,
    /// A match by an equivalent resource keeps the requested kind.
    EquivalentKeepsKind,
    /// An equivalent resource without a kind does not match, instead of failing.
    UnknownKindIsSkipped,
    /// A rule with resource names is the last that is looked at.
    NamesEndRules,
    /// resourceNames are not looked at.
    NamesAreIgnored,
    /// excludeResourceRules do not match equivalent resources.
    ExcludeIsExact,
    /// excludeResourceRules exclude all names.
    ExcludeIgnoresNames,
    /// Only core `namespaces` without a namespace have namespaceSelectors checked.
    OtherNamespacesExempt,
    /// An objectSelector must match object and oldObject.
    ObjectsMatchBoth,
    /// An objectSelector does not look at oldObject.
    OldObjectIsIgnored,
    /// `NotIn` does not match an object without the label.
    NotInNeedsLabel,
    /// An objectSelector that does not parse matches.
    ObjectSelectorErrorMatches,
    /// A namespaceSelector that does not parse fails requests that no rule matches.
    NamespaceErrorFirst,
    /// The error of a selector is not wrapped.
    SelectorErrorIsPlain,
    /// An error of a binding is told as one of the policy.
    BindingErrorIsPolicys,
    /// A configuration error denies under failurePolicy Ignore.
    IgnoreTellsConfiguration,
    /// A namespace that cannot be looked up does not end the dispatch.
    NamespaceErrorIsIgnored,
    /// paramRef.namespace is not looked at.
    ParamNamespaceIsRequests,
    /// Requests without a namespace look for namespaced params in no namespace.
    ClusterScopedFindsParams,
    /// paramRef.namespace is allowed for cluster-scoped params.
    ClusterParamsTakeNamespace,
    /// parameterNotFoundAction is not looked at.
    MissingParamsAreAllowed,
    /// parameterNotFoundAction is Deny if it is not set.
    MissingParamsDenyByDefault,
    /// A param that the informer does not know is not asked for.
    ParamsAreNotFetched,
    /// A selector selects one param.
    OneParamIsSelected,
    /// A policy is evaluated with one param for all.
    ParamsShareResults,
    /// Deleted params stay.
    DeletedParamsStay,
    /// A paramRef may have name and selector.
    NameAndSelector,
    /// An error of a match condition wins over a later one that is false.
    ConditionErrorsWin,
    /// Match conditions have the budget of validations.
    ConditionsHaveGreatBudget,
    /// Match conditions after a false one are not evaluated.
    ConditionsStopAtFalse,
    /// Match conditions see the namespace.
    ConditionsSeeNamespace,
    /// Match conditions see the matched resource.
    ConditionsSeeMatchedResource,
    /// The same error of several match conditions is told each time.
    ConditionErrorsRepeat,
    /// Errors of match conditions are not counted.
    ConditionErrorsUncounted,
    /// messageExpressions have a budget of their own.
    MessagesHaveOwnBudget,
    /// auditAnnotations have no budget.
    AnnotationsHaveNoBudget,
    /// Variables are not charged.
    VariablesAreFree,
    /// What annotations gave before the budget ended stays.
    BudgetKeepsAnnotations,
    /// The error of the budget is that of the last expression.
    BudgetHasIndex,
    /// auditAnnotations are evaluated after validations used up the budget.
    AnnotationsAfterBudget,
    /// Messages are not trimmed.
    MessagesKeepSpace,
    /// Results of messageExpressions may have several lines.
    MessagesKeepLines,
    /// Results of messageExpressions may have any length.
    LongMessagesStay,
    /// A message is taken before the messageExpression.
    StaticMessageFirst,
    /// The reason of a denial without one is Forbidden.
    ReasonIsForbidden,
    /// failurePolicy Ignore admits failed validations.
    IgnoreAdmitsDenials,
    /// Variables in messages can read the authorizer.
    MessagesSeeAuthorizer,
    /// Values of annotations are not trimmed.
    AnnotationsKeepSpace,
    /// Empty values of annotations are published.
    EmptyAnnotationsStay,
    /// A failed annotation does not deny under Fail.
    AnnotationErrorsIgnored,
    /// A failed annotation denies under Ignore.
    AnnotationErrorsDeny,
    /// Variables in annotations can read the authorizer.
    AnnotationsSeeAuthorizer,
    /// An object that cannot be converted is null.
    ConversionErrorsIgnored,
    /// request.kind is the requested kind.
    RequestKeepsKind,
    /// Validations see all metadata of the namespace.
    NamespaceIsWhole,
    /// Results of any type are accepted.
    DynIsBool,
    /// A webhook without rules matches everything.
    WebhooksNeedNoRules,
    /// A webhook without a selector matches everything.
    WebhooksNeedNoSelector,
    /// An error about a webhook does not end the request.
    WebhookErrorsPass,
    /// A namespace that cannot be looked up for a webhook does not end the request.
    WebhookNamespaceErrorsPass,
    /// Match conditions of a webhook that fail refuse the request under failurePolicy Ignore.
    WebhooksFailUnderIgnore,
    /// Match conditions of a webhook that fail are admitted under failurePolicy Fail.
    WebhooksAreIgnoredUnderFail,
    /// A webhook is called under the first match of the plan.
    WebhooksShareAMatch,
    /// A webhook is called before its conditions are looked at.
    WebhooksIgnoreConditions,
    /// Conditions that the kind of a request settles cost nothing once they are settled.
    SettledIsFree,
    /// The number of bugs, plus one.
    End,
}

/// Whether this bug is planted now.
#[inline(always)]
#[must_use]
pub(crate) fn planted(mutant: Mutant) -> bool {
    is_planted(mutant as u32)
}

/// Whether the differential test of policies, and that of webhooks, must find the bug of a number. Rules of webhooks have no names, so that a
/// webhook matches all requests of a plan in the same way, or none.
#[cfg(feature = "mutants")]
#[must_use]
pub fn shows_in(number: u32) -> (bool, bool) {
    use Mutant as M;
    let number = number.saturating_add(M::None as u32);
    let of_webhooks = number >= M::WebhooksNeedNoRules as u32;
    let shared = [
        M::NamespacesAreNamespaced,
        M::StarHasSubresources,
        M::SlashStarNeedsSubresource,
        M::ExactIsEquivalent,
        M::EquivalentKeepsKind,
        M::UnknownKindIsSkipped,
        M::OtherNamespacesExempt,
        M::ObjectsMatchBoth,
        M::OldObjectIsIgnored,
        M::NotInNeedsLabel,
        M::ObjectSelectorErrorMatches,
        M::ConditionErrorsWin,
        M::ConditionsHaveGreatBudget,
        M::ConditionsStopAtFalse,
        M::ConditionsSeeMatchedResource,
        M::ConditionErrorsRepeat,
        M::ConditionErrorsUncounted,
        M::RequestKeepsKind,
    ];
    let shared = shared.into_iter().any(|mutant| mutant as u32 == number);
    (!of_webhooks, of_webhooks || shared)
}

/// Plants the bug of that number, 0 for none. Returns how many there are: 1 to that number.
#[cfg(feature = "mutants")]
pub fn plant_policy(number: u32) -> u32 {
    plant_expression(if number == 0 { 0 } else { (Mutant::None as u32).saturating_add(number) });
    Mutant::End as u32 - Mutant::None as u32 - 1
}
