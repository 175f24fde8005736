package worlds

import (
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celgate/celgate/go/internal/harness"
)

// staticSuffix ends the names of manifests' policies and bindings.
const staticSuffix = ".static.k8s.io"

// manifests makes policies of manifests with their bindings. A loader refuses params, and gives all defaults.
func (g *Generator) manifests() *harness.Static {
	static := &harness.Static{}
	for i := range pick(g, 0, 1, 2, 2) {
		policy := g.policy(fmt.Sprintf("%sstatic-%d%s", g.prefix, i, staticSuffix))
		policy.Spec.ParamKind = nil
		if policy.Spec.MatchConstraints == nil {
			policy.Spec.MatchConstraints = g.match()
		}
		if len(policy.Spec.MatchConstraints.ResourceRules) > 0 && g.one(2) {
			rule := &policy.Spec.MatchConstraints.ResourceRules[0]
			rule.Operations, rule.Scope, rule.ResourceNames = []v1.OperationType{v1.OperationAll}, nil, nil
			rule.APIGroups, rule.APIVersions = pick(g, []string{"*"}, []string{v1.GroupName}), []string{"*"}
			rule.Resources = pick(g, []string{"*"}, []string{"*/*"}, []string{"validatingadmissionpolicies/*", "validatingadmissionpolicybindings", "mutatingadmissionpolicies"})
		}
		static.Policies = append(static.Policies, policy)
		// None is possible, too: such a policy judges nothing.
		for j := range min(pick(g, 0, 1, 1, 1, 2), g.mostBindings()) {
			binding := g.binding(policy, fmt.Sprintf("%sstatic-%d-b%d%s", g.prefix, i, j, staticSuffix))
			binding.Spec.ParamRef = nil
			static.Bindings = append(static.Bindings, binding)
		}
	}
	static.Default()
	return static
}

// changeStatic makes other manifests, or breaks them.
func (g *Generator) changeStatic() harness.Change {
	if g.one(4) {
		return harness.Change{Static: &harness.Static{Broken: true}}
	}
	return harness.Change{Static: g.manifests()}
}

func bindingOfPolicies(g *Generator, r *harness.Request) runtime.Object {
	binding := g.binding(&v1.ValidatingAdmissionPolicy{}, "")
	binding.ObjectMeta = g.meta(r)
	return binding
}

func policyObject(g *Generator, r *harness.Request) runtime.Object {
	policy := &v1.ValidatingAdmissionPolicy{ObjectMeta: g.meta(r)}
	if g.one(2) {
		policy.Spec.FailurePolicy, policy.Spec.MatchConstraints = pointer(v1.Fail), g.match()
		policy.Spec.Validations = []v1.Validation{{Expression: "true"}}
	}
	return policy
}

func mutatingPolicy(g *Generator, r *harness.Request) runtime.Object {
	return &v1.MutatingAdmissionPolicy{ObjectMeta: g.meta(r), Spec: v1.MutatingAdmissionPolicySpec{MatchConstraints: g.match()}}
}

func mutatingBinding(g *Generator, r *harness.Request) runtime.Object {
	return &v1.MutatingAdmissionPolicyBinding{ObjectMeta: g.meta(r), Spec: v1.MutatingAdmissionPolicyBindingSpec{PolicyName: "p"}}
}

// admissionTargets are what the API's policies may not intercept, but static ones may.
var admissionTargets = []*target{
	{group: v1.GroupName, version: "v1", kind: "ValidatingAdmissionPolicy", resource: "validatingadmissionpolicies", cluster: true, operations: usual, build: policyObject},
	{group: v1.GroupName, version: "v1", kind: "ValidatingAdmissionPolicy", resource: "validatingadmissionpolicies", subresource: "status", cluster: true, operations: update, build: policyObject},
	{group: v1.GroupName, version: "v1", kind: "ValidatingAdmissionPolicyBinding", resource: "validatingadmissionpolicybindings", cluster: true, operations: usual, build: bindingOfPolicies},
	{group: v1.GroupName, version: "v1", kind: "MutatingAdmissionPolicy", resource: "mutatingadmissionpolicies", cluster: true, operations: usual, build: mutatingPolicy},
	{group: v1.GroupName, version: "v1", kind: "MutatingAdmissionPolicyBinding", resource: "mutatingadmissionpolicybindings", cluster: true, operations: usual, build: mutatingBinding},
}
