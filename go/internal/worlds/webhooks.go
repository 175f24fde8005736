package worlds

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celgate/celgate/go/internal/harness"
)

// WebhookGenerator makes random worlds of webhooks, and what happens in them.
type WebhookGenerator struct {
	*Generator
	server         *harness.WebhookServer
	configurations map[string]*v1.ValidatingWebhookConfiguration
	// static says that the world has manifests.
	static bool
}

// NewWebhookGenerator makes a generator of worlds whose webhooks are on a server.
func NewWebhookGenerator(seed, stream uint64, prefix string, server *harness.WebhookServer) *WebhookGenerator {
	return &WebhookGenerator{Generator: NewGenerator(seed, stream, prefix, nil), server: server, configurations: map[string]*v1.ValidatingWebhookConfiguration{}}
}

// World makes a world without policies.
func (g *WebhookGenerator) World() *harness.World {
	g.kinds = g.someKinds()
	w := &harness.World{Kinds: g.kinds, Authorize: harness.AuthorizeByVerb}
	for _, name := range []string{"prod", "dev", "plain"} {
		w.Namespaces = append(w.Namespaces, namespace(name, namespaces[name]))
	}
	for i := range 1 + g.random.IntN(3) {
		w.Webhooks = append(w.Webhooks, g.configuration(fmt.Sprintf("%sconfiguration-%d", g.prefix, i)))
	}
	return w
}

// Request makes a request, now and then about a webhook configuration itself.
func (g *WebhookGenerator) Request() *harness.Request {
	r := g.Generator.Request()
	own := 30
	if g.static {
		own = 6
	}
	if g.one(own) {
		target := pick(g.Generator, webhookTargets...)
		target.about(g.Generator, r)
		r.Object, r.OldObject = nil, nil
		g.objectsOf(r, target)
		g.options(r)
	}
	return r
}

// webhookTargets are resources that no webhook of the API may intercept.
var webhookTargets = []*target{
	{group: v1.GroupName, version: "v1", kind: "ValidatingWebhookConfiguration", resource: "validatingwebhookconfigurations", cluster: true, operations: usual, build: configurationObject},
	{group: v1.GroupName, version: "v1", kind: "MutatingWebhookConfiguration", resource: "mutatingwebhookconfigurations", cluster: true, operations: usual, build: mutatingObject},
}

func configurationObject(g *Generator, r *harness.Request) runtime.Object {
	return &v1.ValidatingWebhookConfiguration{ObjectMeta: g.meta(r)}
}

func mutatingObject(g *Generator, r *harness.Request) runtime.Object {
	return &v1.MutatingWebhookConfiguration{ObjectMeta: g.meta(r)}
}

// Change makes a change that the API server would allow.
func (g *WebhookGenerator) Change() harness.Change {
	names := slices.Sorted(maps.Keys(g.configurations))
	switch g.random.IntN(8) {
	case 0, 1:
		return g.changeNamespace()
	case 2:
		g.kinds = g.someKinds()
		return harness.Change{Kinds: g.kinds}
	case 3:
		if len(names) > 0 {
			name := pick(g.Generator, names...)
			deleted := g.configurations[name]
			delete(g.configurations, name)
			return harness.Change{Delete: deleted}
		}
	case 4, 5:
		if len(names) > 0 {
			changed := g.configurations[pick(g.Generator, names...)].DeepCopy()
			webhook := &changed.Webhooks[g.random.IntN(len(changed.Webhooks))]
			*webhook = g.webhook(webhook.Name)
			g.configurations[changed.Name] = changed
			return harness.Change{Apply: changed}
		}
	}
	return harness.Change{Apply: g.configuration(fmt.Sprintf("%sconfiguration-%d", g.prefix, g.random.IntN(4)))}
}

func (g *WebhookGenerator) configuration(name string) *v1.ValidatingWebhookConfiguration {
	made := g.unstored(name)
	g.configurations[name] = made
	return made
}

func (g *WebhookGenerator) unstored(name string) *v1.ValidatingWebhookConfiguration {
	made := &v1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for i := range 1 + g.random.IntN(3) {
		// Names are unique in a configuration, but not among several.
		made.Webhooks = append(made.Webhooks, g.webhook(fmt.Sprintf("%swebhook-%d.example.com", name, i)))
	}
	if len(made.Webhooks) > 1 && g.one(15) {
		made.Webhooks[1].Name = made.Webhooks[0].Name // the API server has such from before
	}
	return made
}

// manifests makes configurations of manifests, which judge the API's own configuration of admission, too. If they may be, some are
// refused, as they have selectors that do not parse.
func (g *WebhookGenerator) manifests(refusable bool) (all []*v1.ValidatingWebhookConfiguration) {
	g.static = true
	for i := range pick(g.Generator, 0, 1, 1, 2) {
		made := g.unstored(fmt.Sprintf("%sstatic-%d%s", g.prefix, i, staticSuffix))
		for j := range made.Webhooks {
			webhook := &made.Webhooks[j]
			webhook.ClientConfig = g.server.Config(g.behaviour(), false)
			if refused := g.one(10); !refused || !refusable {
				webhook.NamespaceSelector, webhook.ObjectSelector = parsing(webhook.NamespaceSelector), parsing(webhook.ObjectSelector)
			}
			if len(webhook.Rules) > 0 && g.one(2) {
				rule := &webhook.Rules[0]
				rule.Operations, rule.Scope = []v1.OperationType{v1.OperationAll}, nil
				rule.APIGroups, rule.APIVersions = pick(g.Generator, []string{"*"}, []string{v1.GroupName}), []string{"*"}
				rule.Resources = pick(g.Generator, []string{"*"}, []string{"*/*"}, []string{"validatingwebhookconfigurations"})
			}
		}
		all = append(all, made)
	}
	return all
}

// webhook makes a webhook as the API server stores it: all defaults are there.
func (g *WebhookGenerator) webhook(name string) v1.ValidatingWebhook {
	match := g.match()
	made := v1.ValidatingWebhook{
		Name:                    name,
		ClientConfig:            g.server.Config(g.behaviour(), g.one(4)),
		FailurePolicy:           pointer(pick(g.Generator, v1.Fail, v1.Fail, v1.Ignore)),
		MatchPolicy:             match.MatchPolicy,
		NamespaceSelector:       match.NamespaceSelector,
		ObjectSelector:          match.ObjectSelector,
		SideEffects:             pointer(pick(g.Generator, v1.SideEffectClassNone, v1.SideEffectClassNone, v1.SideEffectClassNoneOnDryRun, v1.SideEffectClassSome, v1.SideEffectClassUnknown)),
		TimeoutSeconds:          pointer(int32(pick(g.Generator, 1, 10, 30))),
		AdmissionReviewVersions: pick(g.Generator, []string{"v1"}, []string{"v1"}, []string{"v1", "v1beta1"}, []string{"v1beta1"}, []string{"v1beta1", "v1"}, []string{"v2", "v1"}, []string{"v2"}),
	}
	for _, rule := range match.ResourceRules {
		if g.one(30) {
			rule.APIVersions = []string{"v0"} // which has no kinds
		}
		made.Rules = append(made.Rules, rule.RuleWithOperations)
	}
	condition, conditions := g.condition, pick(g.Generator, 0, 0, 0, 1, 1, 2, 3, 4)
	if g.one(12) {
		condition, conditions = g.costly, pick(g.Generator, 1, 2, 3, 4, 4)
	}
	for i := range conditions {
		made.MatchConditions = append(made.MatchConditions, v1.MatchCondition{Name: fmt.Sprintf("c%d", i), Expression: condition()})
	}
	switch g.random.IntN(60) {
	case 0:
		made.FailurePolicy = nil
	case 1:
		made.MatchPolicy = nil
	case 2:
		made.NamespaceSelector = nil
	case 3:
		made.ObjectSelector = nil
	case 4:
		made.TimeoutSeconds, made.SideEffects = nil, nil
	case 5:
		made.Rules = nil
	}
	return made
}

// parsing gives a selector, or one of everything if it does not parse.
func parsing(selector *metav1.LabelSelector) *metav1.LabelSelector {
	if _, err := metav1.LabelSelectorAsSelector(selector); err != nil {
		return &metav1.LabelSelector{}
	}
	return selector
}

func (g *WebhookGenerator) behaviour() string {
	switch g.random.IntN(16) {
	case 0, 1, 2, 3:
		return pick(g.Generator, harness.Refusing...)
	case 4:
		return pick(g.Generator, harness.Broken...)
	case 5:
		return pick(g.Generator, "refused", "untrusted", "unresolved", "no-config")
	}
	return pick(g.Generator, harness.Agreeable...)
}

// condition makes a match condition; most hold.
func (g *WebhookGenerator) condition() string {
	if g.one(3) {
		return pick(g.Generator, conditionPool...)
	}
	return pick(g.Generator, harmlessPool...)
}

// costly makes a condition that costs almost the limit of an expression, or more; three of them pass that of all conditions.
func (g *WebhookGenerator) costly() string {
	const size = 10_000
	part := pick(g.Generator, size-500, size-100, size-20, size, size+10)
	return fmt.Sprintf("'%s'.contains('%s')", strings.Repeat("x", size), strings.Repeat(pick(g.Generator, "x", "x", "y"), part)) + pick(g.Generator, "", " || true")
}
