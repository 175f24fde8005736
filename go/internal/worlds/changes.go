package worlds

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/celgate/celgate/go/internal/harness"
)

// Change makes a change that the API server would allow.
func (g *Generator) Change() harness.Change {
	if g.small && len(g.policies) >= 3 && g.one(4) {
		name := pick(g, slices.Sorted(maps.Keys(g.policies))...)
		deleted := g.policies[name]
		delete(g.policies, name)
		return harness.Change{Delete: deleted}
	}
	if g.static && g.one(4) {
		return g.changeStatic()
	}
	switch g.random.IntN(12) {
	case 0, 1, 2:
		return g.changePolicy()
	case 3, 4:
		return g.changeBinding()
	case 5, 6, 7, 8:
		return g.changeParam()
	case 9, 10:
		return g.changeNamespace()
	default:
		g.kinds = g.someKinds()
		return harness.Change{Kinds: g.kinds}
	}
}

// changePolicy makes a policy, replaces one, changes a detail of one, or deletes one.
func (g *Generator) changePolicy() harness.Change {
	names := slices.Sorted(maps.Keys(g.policies))
	if len(names) == 0 || g.one(6) {
		return harness.Change{Apply: g.newPolicy(fmt.Sprintf("%spolicy-%d", g.prefix, g.random.IntN(2*g.mostBindings())))}
	}
	name := pick(g, names...)
	switch g.random.IntN(6) {
	case 0:
		deleted := g.policies[name]
		delete(g.policies, name)
		return harness.Change{Delete: deleted}
	case 1, 2:
		return harness.Change{Apply: g.newPolicy(name)}
	default:
		policy := g.policies[name].DeepCopy()
		if g.one(2) {
			policy.Spec.FailurePolicy = pointer(pick(g, v1.Fail, v1.Ignore))
		} else {
			policy.Spec.MatchConstraints = g.match()
		}
		g.policies[name] = policy
		return harness.Change{Apply: policy}
	}
}

func (g *Generator) newPolicy(name string) *v1.ValidatingAdmissionPolicy {
	g.policies[name] = g.policy(name)
	return g.policies[name]
}

// changeBinding makes, replaces or deletes a binding; its policy may not exist.
func (g *Generator) changeBinding() harness.Change {
	names := slices.Sorted(maps.Keys(g.bindings))
	if len(names) > 2 && g.one(4) {
		name := pick(g, names...)
		deleted := g.bindings[name]
		delete(g.bindings, name)
		return harness.Change{Delete: deleted}
	}
	policies := slices.Sorted(maps.Keys(g.policies))
	if len(policies) == 0 {
		return harness.Change{Apply: g.newPolicy(g.prefix + "policy-0")}
	}
	policy := g.policies[pick(g, policies...)]
	name := fmt.Sprintf("%s-b%d", policy.Name, g.random.IntN(g.mostBindings()))
	if len(names) > 0 && g.one(4) {
		name = pick(g, names...) // may have been another policy's
	}
	g.bindings[name] = g.binding(policy, name)
	return harness.Change{Apply: g.bindings[name]}
}

// changeParam makes, replaces or deletes a param.
func (g *Generator) changeParam() harness.Change {
	change := harness.Change{Unseen: g.one(2) && !g.real}
	if param := g.param(); g.one(3) {
		change.Delete = param
	} else {
		change.Apply = param
	}
	return change
}

func (g *Generator) changeNamespace() harness.Change {
	name := pick(g, "prod", "dev", "plain", "late", "late")
	labels := pick(g, namespaces[name], map[string]string{"env": "prod"}, map[string]string{"env": "test", "team": "b"}, nil)
	if g.one(4) {
		return harness.Change{Delete: namespace(name, nil), Unseen: g.one(4) && !g.real}
	}
	return harness.Change{Apply: namespace(name, labels), Unseen: g.one(3) && !g.real}
}

func pointer[T any](value T) *T { return &value }
