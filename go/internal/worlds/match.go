package worlds

import (
	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// match makes constraints on requests.
func (g *Generator) match() *v1.MatchResources {
	match := &v1.MatchResources{
		ResourceRules:     []v1.NamedRuleWithOperations{g.rule()},
		NamespaceSelector: &metav1.LabelSelector{},
		ObjectSelector:    &metav1.LabelSelector{},
		MatchPolicy:       pointer(pick(g, v1.Equivalent, v1.Equivalent, v1.Exact)),
	}
	for g.one(2) {
		match.ResourceRules = append(match.ResourceRules, g.rule())
	}
	if g.one(8) {
		match.ExcludeResourceRules = []v1.NamedRuleWithOperations{g.rule()}
	}
	if g.one(5) {
		match.NamespaceSelector = g.selector("env", "prod", "team")
	}
	if g.one(6) {
		match.ObjectSelector = g.selector("app", "web", "tier")
	}
	return match
}

// emptyMatch makes constraints that are what the API's defaults make of none.
func (g *Generator) emptyMatch() *v1.MatchResources {
	return &v1.MatchResources{
		ResourceRules:     pick(g, nil, []v1.NamedRuleWithOperations{}),
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: pick(g, nil, map[string]string{})},
		ObjectSelector:    &metav1.LabelSelector{MatchExpressions: pick(g, nil, []metav1.LabelSelectorRequirement{})},
		MatchPolicy:       pointer(v1.Equivalent),
	}
}

// empty takes away a part of constraints.
func (g *Generator) empty(match *v1.MatchResources) {
	rule := &match.ResourceRules[0]
	switch g.random.IntN(7) {
	case 0:
		match.ResourceRules = pick(g, nil, []v1.NamedRuleWithOperations{})
	case 1:
		*rule = v1.NamedRuleWithOperations{}
	case 2:
		rule.APIGroups = nil
	case 3:
		rule.APIVersions = []string{}
	case 4:
		rule.Resources = nil
	case 5:
		rule.Operations = nil
	default:
		rule.ResourceNames = []string{}
	}
}

func (g *Generator) rule() v1.NamedRuleWithOperations {
	all := []v1.OperationType{v1.OperationAll}
	rule := v1.NamedRuleWithOperations{RuleWithOperations: v1.RuleWithOperations{
		Operations: pick(g, all, all, all, all, all, []v1.OperationType{v1.Create}, []v1.OperationType{v1.Create, v1.Update}, []v1.OperationType{v1.Delete, v1.Connect}),
		Rule: v1.Rule{
			APIGroups:   pick(g, []string{"*"}, []string{"*"}, []string{"*"}, []string{"", "apps"}, []string{"apps", "example.com"}),
			APIVersions: pick(g, []string{"*"}, []string{"*"}, []string{"*"}, []string{"*"}, []string{"v1"}, []string{"v1beta1", "v2"}, []string{"v3"}, []string{"v0", "v1"}),
			Resources: pick(g, []string{"*"}, []string{"*"}, []string{"*/*"}, []string{"*/*"}, []string{"*/*"}, []string{"*/*"}, []string{"*/*"}, []string{"pods", "deployments"}, []string{"pods", "deployments", "widgets"}, []string{"widgets", "configmaps"}, []string{"namespaces", "nodes"},
				[]string{"pods/*", "*/status"}, []string{"*/scale", "deployments/status"}, []string{"pods/exec", "pods/eviction", "serviceaccounts/token"}),
		},
	}}
	rule.Scope = pointer(pick(g, v1.AllScopes, v1.AllScopes, v1.AllScopes, v1.AllScopes, v1.AllScopes, v1.NamespacedScope, v1.ClusterScope))
	if g.one(40) {
		rule.Scope = nil
	}
	if g.one(5) {
		rule.ResourceNames = pick(g, []string{"web"}, []string{"db", "prod"}, []string{"prod"})
	}
	return rule
}

func (g *Generator) selector(key, value, other string) *metav1.LabelSelector {
	requirement := func(key string, operator metav1.LabelSelectorOperator, values ...string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: operator, Values: values}}}
	}
	return pick(g,
		&metav1.LabelSelector{MatchLabels: map[string]string{key: value}},
		requirement(key, metav1.LabelSelectorOpNotIn, value),
		requirement(key, metav1.LabelSelectorOpIn, value, "dev", "other"),
		requirement(other, metav1.LabelSelectorOpDoesNotExist),
		requirement(other, metav1.LabelSelectorOpExists),
		&metav1.LabelSelector{MatchLabels: map[string]string{key: value}, MatchExpressions: requirement(other, metav1.LabelSelectorOpExists).MatchExpressions},
		requirement(key, "Near", value),
		&metav1.LabelSelector{MatchLabels: map[string]string{key: "not a label value!"}},
	)
}
