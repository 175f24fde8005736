package worlds

import (
	"fmt"
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celgate/celgate/go/internal/harness"
)

// Generator makes random scripts. The same seed, prefix and corpus give the same ones.
type Generator struct {
	random *rand.Rand
	// prefix begins the names of all policies and bindings.
	prefix string
	corpus *Corpus
	// small worlds have few policies, bindings and params, so that upstream's random order can be met by trying, and nothing that
	// differs by intention between the sources: a kind that is served stays (docs/differences.md, param informers).
	small bool
	// real worlds have only what fake clients can do.
	real bool
	// themed worlds have fewer policies from the pools than ones about one thing.
	themed bool

	// What the world being made holds now.
	policies map[string]*v1.ValidatingAdmissionPolicy
	bindings map[string]*v1.ValidatingAdmissionPolicyBinding
	kinds    []harness.Kind
	// scripted worlds can have manifests, static says that this one has: their changes are seen one at a time, between requests.
	scripted, static bool
	// objects of the corpus's policies that were chosen.
	objects []runtime.Object
}

// NewGenerator makes a generator; corpus may be nil.
func NewGenerator(seed, stream uint64, prefix string, corpus *Corpus) *Generator {
	return &Generator{random: rand.New(rand.NewPCG(seed, stream)), prefix: prefix, corpus: corpus}
}

// Themed makes most policies about one thing each, so that few of them show much.
func (g *Generator) Themed() *Generator {
	g.themed = true
	return g
}

// one says true once in n times.
func (g *Generator) one(n int) bool { return g.random.IntN(n) == 0 }

func pick[T any](g *Generator, from ...T) T { return from[g.random.IntN(len(from))] }

// some gives up to n picks, in order and without repetition.
func some[T any](g *Generator, n int, from []T) []T {
	var picked []T
	for _, i := range g.random.Perm(len(from))[:g.random.IntN(min(n, len(from))+1)] {
		picked = append(picked, from[i])
	}
	return picked
}

// Script makes a world and requests in it.
func (g *Generator) Script(requests int) *harness.Script {
	g.scripted = true
	script := &harness.Script{World: g.World()}
	for range requests {
		step := harness.Step{}
		if g.one(6) {
			for range 1 + g.random.IntN(2) {
				step.Changes = append(step.Changes, g.Change())
			}
		}
		step.Request = g.Request()
		script.Steps = append(script.Steps, step)
	}
	return script
}

// namespaces by name, with the labels that they begin with; "late" comes with a change, "missing" never.
var namespaces = map[string]map[string]string{
	"prod":  {"env": "prod", "team": "a", "pss.security.kolteq.com/enforce": "restricted", "pss.security.kolteq.com/audit": "baseline"},
	"dev":   {"env": "dev", "pss.security.kolteq.com/warn": "restricted"},
	"plain": nil,
}

// World makes a world, which later changes change.
func (g *Generator) World() *harness.World {
	g.policies, g.bindings, g.objects = map[string]*v1.ValidatingAdmissionPolicy{}, map[string]*v1.ValidatingAdmissionPolicyBinding{}, nil
	g.kinds = g.someKinds()
	w := &harness.World{Kinds: g.kinds, Authorize: harness.AuthorizeByVerb}
	if g.static = g.scripted && g.one(4); g.static {
		w.Static = g.manifests()
	}
	for _, name := range []string{"prod", "dev", "plain"} {
		w.Namespaces = append(w.Namespaces, namespace(name, namespaces[name]))
	}
	count := 2 + g.random.IntN(5)
	if g.small {
		count = 1 + g.random.IntN(2)
	}
	for i := range count {
		name := fmt.Sprintf("%spolicy-%d", g.prefix, i)
		if g.static && g.one(12) {
			// As manifests have it; the API server takes no such names, but may have some from before.
			name = fmt.Sprintf("%sstatic-%d%s", g.prefix, i, staticSuffix)
		}
		policy, bindings, params := g.boundPolicy(name)
		w.Policies = append(w.Policies, policy)
		w.Bindings = append(w.Bindings, bindings...)
		w.Params = append(w.Params, params...)
	}
	for _, params := range [][]runtime.Object{g.params(), w.Params} {
		for _, param := range params {
			w.Params = slices.DeleteFunc(w.Params, func(other runtime.Object) bool { return param != other && sameObject(param, other) })
			if !slices.Contains(w.Params, param) {
				w.Params = append(w.Params, param)
			}
		}
	}
	return w
}

// Resume makes a world that the generator has made before the one that later changes change.
func (g *Generator) Resume(w *harness.World) {
	g.policies, g.bindings, g.objects = map[string]*v1.ValidatingAdmissionPolicy{}, map[string]*v1.ValidatingAdmissionPolicyBinding{}, nil
	for _, policy := range w.Policies {
		g.policies[policy.Name] = policy
	}
	for _, binding := range w.Bindings {
		g.bindings[binding.Name] = binding
	}
	g.kinds, g.static = w.Kinds, w.Static != nil
}

func namespace(name string, labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: "uid-of-namespace", Labels: labels,
		// What expressions see of a namespace leaves these out.
		ManagedFields:   []metav1.ManagedFieldsEntry{{Manager: "m", Operation: metav1.ManagedFieldsOperationUpdate}},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "u"}},
	}}
}

// sameObject says whether two objects are of one kind and name.
func sameObject(a, b runtime.Object) bool {
	x, okA := a.(metav1.Object)
	y, okB := b.(metav1.Object)
	return okA && okB && fmt.Sprintf("%T", a) == fmt.Sprintf("%T", b) && x.GetName() == y.GetName() && x.GetNamespace() == y.GetNamespace() &&
		a.GetObjectKind().GroupVersionKind().GroupKind() == b.GetObjectKind().GroupVersionKind().GroupKind()
}

// boundPolicy makes a policy with its bindings, and the params that it needs if it is one of the corpus.
func (g *Generator) boundPolicy(name string) (*v1.ValidatingAdmissionPolicy, []*v1.ValidatingAdmissionPolicyBinding, []runtime.Object) {
	if g.corpus != nil && g.one(5) {
		chosen := pick(g, g.corpus.entries...)
		policy, bindings := chosen.named(g, name)
		g.remember(policy, bindings)
		g.objects = append(g.objects, chosen.objects...)
		return policy, bindings, chosen.params
	}
	policy := g.policy(name)
	var bindings []*v1.ValidatingAdmissionPolicyBinding
	for j := range min(pick(g, 1, 1, 1, 1, 2, 3), g.mostBindings()) {
		bindings = append(bindings, g.binding(policy, fmt.Sprintf("%s-b%d", name, j)))
	}
	g.remember(policy, bindings)
	return policy, bindings, nil
}

func (g *Generator) mostBindings() int {
	if g.small {
		return 2
	}
	return 3
}

func (g *Generator) remember(policy *v1.ValidatingAdmissionPolicy, bindings []*v1.ValidatingAdmissionPolicyBinding) {
	g.policies[policy.Name] = policy
	for _, binding := range bindings {
		g.bindings[binding.Name] = binding
	}
}

// customKinds are the kinds that worlds can have, all of example.com.
var customKinds = []struct {
	kind, resource string
	versions       []string
	namespaced     bool
}{
	{"Limit", "limits", []string{"v1", "v2"}, false},
	{"Quota", "quotas", []string{"v1", "v1beta1"}, true},
	{harness.WidgetKind, "widgets", []string{"v1", "v2", "v3"}, true},
}

func (g *Generator) someKinds() []harness.Kind {
	kinds := []harness.Kind{}
	for _, custom := range customKinds {
		for _, version := range custom.versions {
			if g.one(7) && !g.small {
				continue
			}
			gv := schema.GroupVersion{Group: "example.com", Version: version}
			kinds = append(kinds, harness.Kind{Kind: gv.WithKind(custom.kind), Resource: gv.WithResource(custom.resource), Namespaced: custom.namespaced})
		}
	}
	if g.corpus != nil {
		kinds = append(kinds, g.corpus.kinds...)
	}
	return kinds
}
