package harness

import (
	"fmt"
	"math/rand/v2"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// Generator makes random worlds and requests for them. The same seed gives the same ones.
type Generator struct{ random *rand.Rand }

// NewGenerator makes a generator.
func NewGenerator(seed uint64) *Generator {
	return &Generator{random: rand.New(rand.NewPCG(seed, 0))}
}

// one says true once in n times.
func (g *Generator) one(n int) bool { return g.random.IntN(n) == 0 }

func pick[T any](g *Generator, from ...T) T { return from[g.random.IntN(len(from))] }

// some gives up to n picks, in order and without repetition.
func some[T any](g *Generator, n int, from []T) []T {
	var picked []T
	for _, i := range g.random.Perm(len(from))[:g.random.IntN(n+1)] {
		picked = append(picked, from[i])
	}
	return picked
}

// World makes a world with up to six policies.
func (g *Generator) World() *World {
	w := &World{Kinds: []Kind{
		{Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Limit"}, Resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "limits"}},
	}}
	for _, namespace := range []struct {
		name   string
		labels map[string]string
	}{{"prod", map[string]string{"env": "prod", "team": "a"}}, {"dev", map[string]string{"env": "dev"}}, {"plain", nil}} {
		w.Namespaces = append(w.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace.name, Labels: namespace.labels}})
	}
	for i := range 1 + g.random.IntN(6) {
		policy := g.policy(fmt.Sprintf("policy-%d", i))
		w.Policies = append(w.Policies, policy)
		for j := range pick(g, 0, 1, 1, 2, 3) {
			w.Bindings = append(w.Bindings, g.binding(policy, fmt.Sprintf("binding-%d-%d", i, j)))
		}
	}
	w.Params = g.params()
	w.Default()
	g.undefault(w)
	w.Authorize = func(a authorizer.Attributes) (authorizer.Decision, string, error) {
		switch a.GetVerb() {
		case "allow":
			return authorizer.DecisionAllow, "allowed " + a.GetResource(), nil
		case "deny":
			return authorizer.DecisionDeny, "denied " + a.GetUser().GetName(), nil
		case "explode":
			return authorizer.DecisionNoOpinion, "", fmt.Errorf("no answer for %s%s", a.GetResource(), a.GetPath())
		}
		return authorizer.DecisionNoOpinion, "", nil
	}
	return w
}

// undefault leaves things out that the API server's defaults give, where upstream's code and the core have the same default.
func (g *Generator) undefault(w *World) {
	for _, policy := range w.Policies {
		if g.one(60) {
			policy.Spec.MatchConstraints = nil
		}
		if g.one(20) {
			policy.Spec.FailurePolicy = nil
		}
	}
	for _, binding := range w.Bindings {
		if ref := binding.Spec.ParamRef; ref != nil && g.one(10) {
			ref.ParameterNotFoundAction = nil
		}
	}
}

func (g *Generator) policy(name string) *v1.ValidatingAdmissionPolicy {
	policy := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"}}
	policy.Spec.MatchConstraints = g.match()
	failurePolicy := pick(g, v1.Fail, v1.Fail, v1.Ignore)
	policy.Spec.FailurePolicy = &failurePolicy
	switch g.random.IntN(10) {
	case 0, 1:
		policy.Spec.ParamKind = &v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	case 2, 3:
		policy.Spec.ParamKind = &v1.ParamKind{APIVersion: "example.com/v1", Kind: "Limit"}
	case 4:
		if g.one(4) {
			policy.Spec.ParamKind = &v1.ParamKind{APIVersion: "example.com/v1", Kind: "Nobody"}
		}
	}
	if g.one(3) {
		for i, expression := range some(g, 3, conditionPool) {
			policy.Spec.MatchConditions = append(policy.Spec.MatchConditions, v1.MatchCondition{Name: fmt.Sprintf("c%d", i), Expression: expression})
		}
	}
	for i, expression := range some(g, 3, variablePool) {
		policy.Spec.Variables = append(policy.Spec.Variables, v1.Variable{Name: fmt.Sprintf("v%d", i), Expression: expression})
	}
	for _, expression := range some(g, 4, validationPool) {
		validation := v1.Validation{Expression: expression}
		if g.one(3) {
			validation.Message = pick(g, "a message", " padded ", "two\nlines", "compilation of rules")
		}
		if g.one(3) {
			validation.MessageExpression = pick(g, messagePool...)
		}
		if g.one(4) {
			reason := pick(g, metav1.StatusReasonForbidden, metav1.StatusReasonUnauthorized, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge)
			validation.Reason = &reason
		}
		policy.Spec.Validations = append(policy.Spec.Validations, validation)
	}
	if g.one(2) {
		for i, expression := range some(g, 3, annotationPool) {
			policy.Spec.AuditAnnotations = append(policy.Spec.AuditAnnotations, v1.AuditAnnotation{Key: fmt.Sprintf("k%d", i), ValueExpression: expression})
		}
	}
	return policy
}

func (g *Generator) binding(policy *v1.ValidatingAdmissionPolicy, name string) *v1.ValidatingAdmissionPolicyBinding {
	binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"}}
	binding.Spec.PolicyName = policy.Name
	binding.Spec.ValidationActions = pick(g, []v1.ValidationAction{v1.Deny}, []v1.ValidationAction{v1.Deny}, []v1.ValidationAction{v1.Warn},
		[]v1.ValidationAction{v1.Audit}, []v1.ValidationAction{v1.Warn, v1.Audit}, []v1.ValidationAction{v1.Deny, v1.Audit})
	if g.one(3) {
		binding.Spec.MatchResources = g.match()
		if g.one(2) {
			binding.Spec.MatchResources.ResourceRules = nil
		}
	}
	if policy.Spec.ParamKind != nil && !g.one(5) || g.one(20) {
		ref := &v1.ParamRef{}
		if g.one(2) {
			ref.Name = pick(g, "one", "two", "missing")
		} else {
			ref.Selector = pick(g, &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"use": "yes"}},
				&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "use", Operator: metav1.LabelSelectorOpExists}}},
				&metav1.LabelSelector{MatchLabels: map[string]string{"use": "never"}})
		}
		if g.one(4) {
			ref.Namespace = pick(g, "prod", "dev")
		}
		action := pick(g, v1.DenyAction, v1.AllowAction)
		ref.ParameterNotFoundAction = &action
		binding.Spec.ParamRef = ref
	}
	return binding
}

// match makes constraints on requests.
func (g *Generator) match() *v1.MatchResources {
	match := &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{g.rule()}}
	if g.one(3) {
		match.ResourceRules = append(match.ResourceRules, g.rule())
	}
	if g.one(5) {
		match.ExcludeResourceRules = []v1.NamedRuleWithOperations{g.rule()}
	}
	if g.one(4) {
		match.NamespaceSelector = g.selector("env", "prod", "team")
	}
	if g.one(4) {
		match.ObjectSelector = g.selector("app", "web", "tier")
	}
	policy := pick(g, v1.Equivalent, v1.Equivalent, v1.Exact)
	match.MatchPolicy = &policy
	return match
}

func (g *Generator) rule() v1.NamedRuleWithOperations {
	rule := v1.NamedRuleWithOperations{RuleWithOperations: v1.RuleWithOperations{
		Operations: pick(g, []v1.OperationType{v1.OperationAll}, []v1.OperationType{v1.OperationAll}, []v1.OperationType{v1.Create}, []v1.OperationType{v1.Create, v1.Update}, []v1.OperationType{v1.Delete, v1.Connect}),
		Rule: v1.Rule{
			APIGroups:   pick(g, []string{"*"}, []string{"*"}, []string{""}, []string{"apps", "example.com"}),
			APIVersions: pick(g, []string{"*"}, []string{"*"}, []string{"v1"}, []string{"v1beta1", "v2"}, []string{"v3"}, []string{"v0", "v1"}),
			Resources:   pick(g, []string{"*"}, []string{"*"}, []string{"*/*"}, []string{"pods", "deployments"}, []string{"widgets", "configmaps"}, []string{"namespaces", "nodes"}, []string{"pods/*", "*/status"}),
		},
	}}
	if g.one(5) {
		scope := pick(g, v1.NamespacedScope, v1.ClusterScope)
		rule.Scope = &scope
	}
	if g.one(8) {
		rule.ResourceNames = []string{pick(g, "web", "db", "prod")}
	}
	return rule
}

func (g *Generator) selector(key, value, other string) *metav1.LabelSelector {
	return pick(g,
		&metav1.LabelSelector{MatchLabels: map[string]string{key: value}},
		&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpNotIn, Values: []string{value}}}},
		&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: other, Operator: metav1.LabelSelectorOpDoesNotExist}}},
		&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: other, Operator: metav1.LabelSelectorOpExists}}},
		&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: "Near", Values: []string{value}}}},
		&metav1.LabelSelector{MatchLabels: map[string]string{key: "not a label value!"}},
	)
}

func (g *Generator) params() []runtime.Object {
	var params []runtime.Object
	for _, namespace := range []string{"prod", "dev"} {
		for _, name := range some(g, 2, []string{"one", "two"}) {
			params = append(params, &corev1.ConfigMap{
				ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"use": pick(g, "yes", "no")}},
				Data:       map[string]string{"max": fmt.Sprint(g.random.IntN(4)), "name": pick(g, "web", "db")},
			})
		}
	}
	for _, name := range some(g, 2, []string{"one", "two"}) {
		limit := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"max": pick[any](g, int64(1), 3.0, 2.5, "many"), "name": "web"}}}
		limit.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Limit"})
		limit.SetName(name)
		limit.SetLabels(map[string]string{"use": pick(g, "yes", "no")})
		params = append(params, limit)
	}
	return params
}
