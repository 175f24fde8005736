package worlds

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (g *Generator) policy(name string) *v1.ValidatingAdmissionPolicy {
	policy := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	policy.Spec.MatchConstraints = g.match()
	policy.Spec.FailurePolicy = pointer(pick(g, v1.Fail, v1.Fail, v1.Ignore))
	policy.Spec.ParamKind = g.paramKind()
	themes := 18
	if g.themed {
		themes = 10
	}
	switch g.random.IntN(themes) {
	case 0, 1:
		g.budgets(policy)
	case 2:
		g.sizes(policy)
	case 3:
		g.equivalents(policy)
	case 4:
		g.authorized(policy)
	case 5:
		g.parametrized(policy)
	case 6:
		g.conditioned(policy)
	case 7:
		g.selected(policy)
	default:
		g.expressions(policy)
	}
	if variables := policy.Spec.Variables; len(variables) > 0 && g.one(8) {
		// The API server takes a name twice. One that reads itself then would be the end of upstream's process.
		i := g.random.IntN(len(variables))
		again := v1.Variable{Name: variables[i].Name, Expression: pick(g, "'again'", "2", "[1, 2]", "object", "request.name", "nosuch", "1 / 0")}
		policy.Spec.Variables = slices.Insert(variables, i+1+g.random.IntN(len(variables)-i), again)
	}
	// What the API server's defaults give, where upstream's code and the core have the same default.
	if g.one(40) {
		g.empty(policy.Spec.MatchConstraints)
	}
	if g.one(60) {
		policy.Spec.MatchConstraints = nil
	}
	if g.one(20) {
		policy.Spec.FailurePolicy = nil
	}
	return policy
}

func (g *Generator) paramKind() *v1.ParamKind {
	if g.one(2) {
		return nil
	}
	kind := func(apiVersion, kind string) *v1.ParamKind { return &v1.ParamKind{APIVersion: apiVersion, Kind: kind} }
	switch g.random.IntN(16) {
	case 0, 1, 2, 3:
		return kind("v1", "ConfigMap")
	case 4, 5:
		return kind("example.com/v1", "Limit")
	case 6:
		return kind("example.com/v2", "Limit")
	case 7, 8:
		return kind("example.com/v1", "Quota")
	case 9:
		return kind("example.com/v1beta1", "Quota")
	case 10:
		return kind("v1", "Namespace")
	case 11:
		return kind("v1", "Node")
	case 12:
		return kind("apps/v1", "Deployment")
	case 13:
		return kind("example.com/v2", "Widget")
	case 14:
		return pick(g, nil, nil, kind("example.com/v1", "Nobody"))
	default:
		return pick(g, nil, nil, kind("too/many/parts", "ConfigMap"))
	}
}

// expressions fills a policy from the pools.
func (g *Generator) expressions(policy *v1.ValidatingAdmissionPolicy) {
	if g.one(4) {
		for _, expression := range some(g, 2, conditionPool) {
			addCondition(policy, expression)
		}
	}
	if conditions := &policy.Spec.MatchConditions; len(*conditions) > 0 && g.one(4) {
		*conditions = append(*conditions, v1.MatchCondition{Name: "again", Expression: (*conditions)[0].Expression})
	}
	for i, expression := range some(g, pick(g, 0, 3), variablePool) {
		policy.Spec.Variables = append(policy.Spec.Variables, v1.Variable{Name: fmt.Sprintf("v%d", i), Expression: expression})
	}
	// Few that are true by themselves, or most requests would be denied.
	pool := validationPool
	if !g.one(4) {
		pool = harmlessPool
	}
	for _, expression := range some(g, 4, pool) {
		if g.one(10) {
			expression = "  " + expression + "\n"
		}
		policy.Spec.Validations = append(policy.Spec.Validations, g.validation(expression))
	}
	if g.one(60) {
		for range 30 {
			policy.Spec.Validations = append(policy.Spec.Validations, v1.Validation{Expression: "false"})
		}
	}
	if g.one(2) {
		for _, expression := range some(g, 3, annotationPool) {
			addAnnotation(policy, expression)
		}
	}
}

// addCondition and addAnnotation name what they add by its number.
func addCondition(policy *v1.ValidatingAdmissionPolicy, expression string) {
	conditions := &policy.Spec.MatchConditions
	*conditions = append(*conditions, v1.MatchCondition{Name: fmt.Sprintf("c%d", len(*conditions)), Expression: expression})
}

func addAnnotation(policy *v1.ValidatingAdmissionPolicy, expression string) {
	annotations := &policy.Spec.AuditAnnotations
	*annotations = append(*annotations, v1.AuditAnnotation{Key: fmt.Sprintf("k%d", len(*annotations)), ValueExpression: expression})
}

func (g *Generator) validation(expression string) v1.Validation {
	validation := v1.Validation{Expression: expression}
	if g.one(3) {
		validation.Message = pick(g, "a message", " padded ", "two\nlines", "compilation of rules", "validation failed due to running out of cost budget")
	}
	if g.one(3) {
		validation.MessageExpression = pick(g, messagePool...)
	}
	if g.one(4) {
		validation.Reason = pointer(pick(g, metav1.StatusReasonForbidden, metav1.StatusReasonUnauthorized, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge))
	}
	return validation
}

func (g *Generator) binding(policy *v1.ValidatingAdmissionPolicy, name string) *v1.ValidatingAdmissionPolicyBinding {
	binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
	binding.Spec.PolicyName = policy.Name
	binding.Spec.ValidationActions = pick(g, []v1.ValidationAction{v1.Deny}, []v1.ValidationAction{v1.Deny}, []v1.ValidationAction{v1.Deny}, []v1.ValidationAction{v1.Warn},
		[]v1.ValidationAction{v1.Audit}, []v1.ValidationAction{v1.Warn, v1.Audit}, []v1.ValidationAction{v1.Deny, v1.Audit}, []v1.ValidationAction{v1.Audit, v1.Deny})
	if g.one(4) {
		binding.Spec.MatchResources = g.match()
		if g.one(10) {
			g.empty(binding.Spec.MatchResources)
		}
		if g.one(2) {
			binding.Spec.MatchResources.ResourceRules = nil
		}
		if g.one(6) {
			binding.Spec.MatchResources = g.emptyMatch()
		}
	}
	if policy.Spec.ParamKind != nil && !g.one(6) || g.one(20) {
		binding.Spec.ParamRef = g.paramRef()
	}
	return binding
}

func (g *Generator) paramRef() *v1.ParamRef {
	ref := &v1.ParamRef{ParameterNotFoundAction: pointer(pick(g, v1.DenyAction, v1.AllowAction, v1.AllowAction))}
	if g.one(2) {
		ref.Name = pick(g, "one", "one", "two", "missing", "prod")
	}
	if ref.Name == "" || g.one(12) {
		ref.Selector = pick(g, &metav1.LabelSelector{}, &metav1.LabelSelector{MatchLabels: map[string]string{"use": "yes"}},
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "use", Operator: metav1.LabelSelectorOpExists}}},
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "use", Operator: metav1.LabelSelectorOpIn, Values: []string{"no", "yes"}}}},
			&metav1.LabelSelector{MatchLabels: map[string]string{"use": "never"}},
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "use", Operator: "Near"}}})
	}
	if g.one(40) {
		ref.Name, ref.Selector = "", nil
	}
	if g.one(4) {
		ref.Namespace = pick(g, "prod", "dev", "missing")
	}
	if g.one(10) {
		ref.ParameterNotFoundAction = nil
	}
	return ref
}
