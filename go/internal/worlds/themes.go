package worlds

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
)

// Policies about one thing each, which policies from the pools seldom come to.

// budgets fills a policy with expressions whose costs come near their limits: an expression's 1,000,000, the 2,500,000 of match conditions
// and the 10,000,000 of validations with their messages, and of annotations. `contains` costs a tenth of each size multiplied. In some the
// expressions are cheap, and each reads a variable of its own, which costs.
func (g *Generator) budgets(policy *v1.ValidatingAdmissionPolicy) {
	text := func(size int) string { return fmt.Sprintf("'%s'", strings.Repeat("x", size)) }
	policy.Spec.Variables = []v1.Variable{
		{Name: "text", Expression: text(10_000)},
		// Mostly just below an expression's limit.
		{Name: "part", Expression: text(pick(g, 9_500, 9_900, 9_990, 9_980, 10_000, 10_010))},
		{Name: "half", Expression: text(pick(g, 4_990, 5_000))},
		{Name: "other", Expression: "variables.text.contains(variables.part)"},
	}
	const whole = "variables.text.contains(variables.part)"
	few, inVariables := pick(g, 2, 12, 100), g.one(2)
	costly := func() string {
		if !inVariables {
			return whole
		}
		name := fmt.Sprintf("costly%d", len(policy.Spec.Variables))
		policy.Spec.Variables = append(policy.Spec.Variables, v1.Variable{Name: name, Expression: whole})
		return "variables." + name
	}
	expression := func() string {
		if !g.one(few) {
			return costly() + pick(g, "", " || true")
		}
		return pick(g, "variables.text.contains(variables.half)", "!variables.text.contains(variables.half)", "variables.other || true",
			"object == null || object.metadata.name != 'web'", "false")
	}
	for range pick(g, 0, 0, 2, 3, 4) {
		addCondition(policy, expression())
	}
	if conditions := policy.Spec.MatchConditions; len(conditions) > 2 && g.one(2) {
		conditions[0].Expression = "false"
	}
	messages := g.one(2)
	for range pick(g, 1, 3, 6, 9, 10, 11, 12, 12) {
		validation := v1.Validation{Expression: expression()}
		if messages {
			validation.MessageExpression = fmt.Sprintf("string(%s)", expression())
		}
		policy.Spec.Validations = append(policy.Spec.Validations, validation)
	}
	for range pick(g, 0, 1, 9, 11, 12) {
		addAnnotation(policy, fmt.Sprintf("string(%s)", expression()))
	}
}

// sizes fills a policy with texts near the limits of messages and annotations.
func (g *Generator) sizes(policy *v1.ValidatingAdmissionPolicy) {
	long := func(limit int) string {
		size := limit + g.random.IntN(5) - 2
		return pick(g, strings.Repeat("x", size), "a"+strings.Repeat("é", size/2), "  "+strings.Repeat("y", size-1)+" ", strings.Repeat("z", size/2-1)+"日"+strings.Repeat("z", size/2-1))
	}
	for range 1 + g.random.IntN(2) {
		validation := v1.Validation{Expression: "object == null || object.metadata.name != 'web'", MessageExpression: fmt.Sprintf("'%s'", long(5*1024))}
		if g.one(2) {
			validation.Message = long(40)
		}
		if g.one(4) {
			validation.MessageExpression = "'two\\nlines'"
		}
		policy.Spec.Validations = append(policy.Spec.Validations, validation)
	}
	for range 1 + g.random.IntN(2) {
		addAnnotation(policy, fmt.Sprintf("'%s'", pick(g, long(10*1024), long(10*1024), "", " ")))
	}
}

// equivalents makes a policy for one version of a resource that has several, about the differences that this makes.
func (g *Generator) equivalents(policy *v1.ValidatingAdmissionPolicy) {
	rule := &policy.Spec.MatchConstraints.ResourceRules[0]
	rule.Operations, rule.Scope, rule.ResourceNames = []v1.OperationType{v1.OperationAll}, nil, nil
	rule.Rule = pick(g,
		v1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments", "deployments/*"}},
		v1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1beta1"}, Resources: []string{"deployments", "deployments/scale"}},
		v1.Rule{APIGroups: []string{"example.com"}, APIVersions: []string{"v1"}, Resources: []string{"widgets"}},
		v1.Rule{APIGroups: []string{"example.com"}, APIVersions: []string{"v2", "v3"}, Resources: []string{"widgets"}})
	policy.Spec.MatchConstraints.ResourceRules = policy.Spec.MatchConstraints.ResourceRules[:1]
	about := []string{"request.kind == request.requestKind", "request.resource == request.requestResource", "request.kind.version == 'v1'", "request.resource.version == 'v1'",
		"request.requestResource.version == 'v1'", "object == null || object.apiVersion == 'apps/v1'", "object.spec.convertedTo == 'v2'", "request.subResource == request.requestSubResource", "true"}
	if g.one(2) {
		expression := pick(g, pick(g, about...), "request.resource == request.requestResource")
		policy.Spec.MatchConditions = []v1.MatchCondition{{Name: "c", Expression: expression}}
	}
	addAnnotation(policy, "request.kind.version + ' ' + request.resource.version")
	for _, expression := range some(g, 3, about) {
		policy.Spec.Validations = append(policy.Spec.Validations, g.validation(expression))
	}
	for _, expression := range some(g, 2, about) {
		addAnnotation(policy, fmt.Sprintf("string(%s)", expression))
	}
}

// conditioned makes a policy with several match conditions of which some fail, some are false, some cost much, in any order.
func (g *Generator) conditioned(policy *v1.ValidatingAdmissionPolicy) {
	long := strings.Repeat("x", 9_900)
	policy.Spec.Variables = []v1.Variable{{Name: "text", Expression: fmt.Sprintf("'%s'", long)}, {Name: "costly", Expression: "variables.text.contains(variables.text)"}}
	about := []string{"true", "object == null || object.metadata.name != 'web'", "request.operation != 'CREATE'", "object.spec.nope == 1", "object.spec.nope == 1", "object.spec.none == 1",
		"namespaceObject == null", "namespaceObject.metadata.name == 'prod'", "request.resource == request.requestResource", "variables.text.contains(variables.text)", "variables.costly"}
	for range 1 + g.random.IntN(5) {
		addCondition(policy, pick(g, about...))
	}
	for range 1 + g.random.IntN(2) {
		policy.Spec.Validations = append(policy.Spec.Validations, g.validation(pick(g, "false", "object.spec.nope == 1", "request.name == 'web'")))
	}
}

// selected makes a policy for everything but what its selectors and exclusions leave out.
func (g *Generator) selected(policy *v1.ValidatingAdmissionPolicy) {
	match := policy.Spec.MatchConstraints
	everything := v1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*/*"}}
	match.ResourceRules = []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{Operations: []v1.OperationType{v1.OperationAll}, Rule: everything}}}
	if g.one(2) {
		match.NamespaceSelector = g.selector("env", "prod", "team")
	}
	if g.one(2) {
		match.ObjectSelector = g.selector("app", "web", "tier")
	}
	if g.one(2) {
		match.ExcludeResourceRules = []v1.NamedRuleWithOperations{g.rule()}
		match.ExcludeResourceRules[0].Rule = pick(g,
			v1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1beta1"}, Resources: []string{"deployments/*"}},
			v1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			v1.Rule{APIGroups: []string{"extensions"}, APIVersions: []string{"v1beta1"}, Resources: []string{"deployments"}},
			v1.Rule{APIGroups: []string{"example.com"}, APIVersions: []string{"v1", "v2"}, Resources: []string{"*"}})
	}
	policy.Spec.Validations = []v1.Validation{g.validation(pick(g, "false", "request.operation == 'DELETE'"))}
}

// authorized makes a policy whose variables ask the authorizer, and whose other parts read them.
func (g *Generator) authorized(policy *v1.ValidatingAdmissionPolicy) {
	policy.Spec.Variables = []v1.Variable{
		{Name: "check", Expression: fmt.Sprintf("authorizer.group('apps').resource('deployments').check('%s')", pick(g, "allow", "deny", "explode", "other"))},
		{Name: "allowed", Expression: pick(g, "variables.check.allowed()", "authorizer.requestResource.check('allow').allowed()", "!variables.check.allowed()")},
	}
	about := []string{"variables.allowed", "variables.check.allowed()", "!variables.allowed", "variables.check.reason() == ''", "variables.check.errored()", "true"}
	for _, expression := range some(g, 1, about) {
		addCondition(policy, expression)
	}
	for _, expression := range some(g, 3, about) {
		validation := g.validation(expression)
		if g.one(2) {
			validation.MessageExpression = pick(g, "'allowed: ' + string(variables.allowed)", "variables.check.reason() + '!'")
		}
		policy.Spec.Validations = append(policy.Spec.Validations, validation)
	}
	for _, expression := range some(g, 1, about) {
		addAnnotation(policy, fmt.Sprintf("string(%s)", expression))
	}
}

// parametrized makes a policy whose outcome is another for each param.
func (g *Generator) parametrized(policy *v1.ValidatingAdmissionPolicy) {
	if policy.Spec.ParamKind == nil {
		policy.Spec.ParamKind = &v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	}
	about := []string{"params == null || params.metadata.name == 'one'", "params.metadata.labels.use == 'yes'", "params.data.max == '2'", "params.spec.max == 1", "params.kind != ''",
		"params == null || params.?metadata.namespace.orValue('') == request.namespace", "params.metadata.resourceVersion != ''"}
	for _, expression := range some(g, 3, about) {
		validation := g.validation(expression)
		if g.one(2) {
			validation.MessageExpression = "params.metadata.name + ' of ' + params.kind"
		}
		policy.Spec.Validations = append(policy.Spec.Validations, validation)
	}
	if g.one(2) {
		policy.Spec.AuditAnnotations = []v1.AuditAnnotation{{Key: "param", ValueExpression: "params == null ? 'null' : string(params.metadata.name)"}}
	}
}
