package validating_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	webhookinitializer "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	webhooktesting "k8s.io/apiserver/pkg/admission/plugin/webhook/testing"
	upstream "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/component-base/metrics/legacyregistry"
	"sigs.k8s.io/yaml"

	"github.com/celgate/celgate/go/admission/webhook/validating"
	"github.com/celgate/celgate/go/internal/harness"
)

func pointer[T any](value T) *T { return &value }

func startServer(t testing.TB) *harness.WebhookServer {
	t.Helper()
	server, err := harness.StartWebhookServer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// webhook is one for all pods, as the API stores it.
func webhook(name string, config v1.WebhookClientConfig, conditions ...string) v1.ValidatingWebhook {
	made := v1.ValidatingWebhook{
		Name: name, ClientConfig: config, FailurePolicy: pointer(v1.Fail), MatchPolicy: pointer(v1.Equivalent),
		NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{}, SideEffects: pointer(v1.SideEffectClassNone),
		TimeoutSeconds: pointer(int32(10)), AdmissionReviewVersions: []string{"v1"},
		Rules: []v1.RuleWithOperations{{Operations: []v1.OperationType{v1.OperationAll}, Rule: v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}, Scope: pointer(v1.AllScopes)}}},
	}
	for _, expression := range conditions {
		made.MatchConditions = append(made.MatchConditions, v1.MatchCondition{Name: "c", Expression: expression})
	}
	return made
}

func configuration(name string, webhooks ...v1.ValidatingWebhook) *v1.ValidatingWebhookConfiguration {
	return &v1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: webhooks}
}

func world(configurations ...*v1.ValidatingWebhookConfiguration) *harness.World {
	return &harness.World{Webhooks: configurations, Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{"env": "test"}}}}}
}

func startPair(t testing.TB, server *harness.WebhookServer, world *harness.World) *harness.WebhookPair {
	t.Helper()
	state, err := harness.NewState(world)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := harness.NewWebhookPair(state, server)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func pod(name string) *harness.Request {
	object := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"}}
	request, err := harness.Create(object)
	if err != nil {
		panic(err)
	}
	return request
}

// both sends a request to both plugins, whose outcomes must be the same.
func both(t *testing.T, pair *harness.WebhookPair, request *harness.Request) harness.WebhookOutcome {
	t.Helper()
	theirs, ours := pair.Do(t.Context(), pair.Upstream, request), pair.Do(t.Context(), pair.Celgate, request)
	if !theirs.Equal(&ours) {
		t.Errorf("upstream: %s\ncelgate: %s", theirs.Text(), ours.Text())
	}
	return ours
}

// Each behaviour of a webhook, under both failure policies, also in a dry run.
func TestBehaviours(t *testing.T) {
	server := startServer(t)
	var behaviours []string
	for _, some := range [][]string{harness.Agreeable, harness.Refusing, harness.Broken, {"refused", "untrusted", "unresolved", "no-config", "slow"}} {
		behaviours = append(behaviours, some...)
	}
	for _, behaviour := range behaviours {
		for _, policy := range []v1.FailurePolicyType{v1.Fail, v1.Ignore} {
			t.Run(behaviour+"/"+string(policy), func(t *testing.T) {
				asked := webhook("w.example.com", server.Config(behaviour, false))
				asked.FailurePolicy, asked.TimeoutSeconds = &policy, pointer(int32(1))
				pair := startPair(t, server, world(configuration("a", asked)))
				outcome := both(t, pair, pod("web"))
				if refused := outcome.Status != ""; refused != mustRefuse(behaviour, policy) {
					t.Errorf("%s: %s", policy, outcome.Text())
				}
				dry := pod("web")
				dry.DryRun = true
				both(t, pair, dry)
			})
		}
	}
}

func mustRefuse(behaviour string, policy v1.FailurePolicyType) bool {
	switch {
	case strings.HasPrefix(behaviour, "deny"):
		return true
	case behaviour == "allow", behaviour == "warn", behaviour == "annotate":
		return false
	}
	return policy == v1.Fail
}

func TestSideEffectsAndVersions(t *testing.T) {
	server := startServer(t)
	effects := []*v1.SideEffectClass{nil, pointer(v1.SideEffectClassNone), pointer(v1.SideEffectClassNoneOnDryRun), pointer(v1.SideEffectClassSome), pointer(v1.SideEffectClassUnknown)}
	for _, effect := range effects {
		for _, versions := range [][]string{{"v1"}, {"v1beta1"}, {"v2", "v1beta1"}, {"v2"}, nil} {
			for _, policy := range []v1.FailurePolicyType{v1.Fail, v1.Ignore} {
				asked := webhook("w.example.com", server.Config("allow", true))
				asked.SideEffects, asked.AdmissionReviewVersions, asked.FailurePolicy = effect, versions, &policy
				request := pod("web")
				request.DryRun = true
				both(t, startPair(t, server, world(configuration("a", asked))), request)
			}
		}
	}
}

// A configuration that changes is in force at once.
func TestChanges(t *testing.T) {
	server := startServer(t)
	pair := startPair(t, server, world(configuration("a", webhook("a.example.com", server.Config("deny", false)))))
	if outcome := both(t, pair, pod("web")); outcome.Status == "" {
		t.Fatal("not denied")
	}
	steps := []struct {
		change harness.Change
		denied bool
	}{
		{harness.Change{Apply: configuration("a", webhook("a.example.com", server.Config("deny", false), "object.metadata.name != 'web'"))}, false},
		{harness.Change{Apply: configuration("b", webhook("b.example.com", server.Config("deny", false), "true"))}, true},
		{harness.Change{Delete: configuration("b")}, false},
		{harness.Change{Delete: configuration("a")}, false},
	}
	for i, step := range steps {
		if err := pair.State.Apply(step.change); err != nil {
			t.Fatal(err)
		}
		if outcome := both(t, pair, pod("web")); (outcome.Status != "") != step.denied {
			t.Errorf("step %d: %s", i, outcome.Text())
		}
	}
}

// A panic on the way to a webhook is not the server's end.
func TestPanickingCall(t *testing.T) {
	for _, policy := range []v1.FailurePolicyType{v1.Fail, v1.Ignore} {
		server := startServer(t)
		asked := webhook("w.example.com", server.Config("allow", true))
		asked.FailurePolicy = &policy
		pair := startPair(t, server, world(configuration("a", asked)))
		for _, plugin := range []harness.Validator{pair.Upstream, pair.Celgate} {
			plugin.(webhookinitializer.WantsServiceResolver).SetServiceResolver(webhooktesting.NewPanickingServiceResolver("no such thing"))
		}
		outcome := both(t, pair, pod("web"))
		if (outcome.Status != "") != (policy == v1.Fail) {
			t.Errorf("%s: %s", policy, outcome.Text())
		}
	}
}

// Without any webhook that matches, nothing is allocated; nor where match conditions exclude all.
func TestAllocations(t *testing.T) {
	server := startServer(t)
	pair := startPair(t, server, world(configuration("a", webhook("a.example.com", server.Config("deny", false), "object.metadata.name != 'web'"))))
	request := pod("web")
	matching := admission.NewAttributesRecord(request.Object, nil, request.Kind, "ns", "web", request.Resource, "", admission.Create, nil, false, request.User)
	for name, c := range map[string]struct {
		a    admission.Attributes
		most float64
	}{
		"no match": {admission.NewAttributesRecord(request.Object, nil, request.Kind, "ns", "web", schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, "", admission.Create, nil, false, nil), 0},
		// The time of matching is observed, and the counters are compared with those that are registered.
		"excluded": {matching, 12},
	} {
		validate := func() {
			if err := pair.Celgate.Validate(context.Background(), c.a, pair.State.Objects()); err != nil {
				t.Fatal(err)
			}
		}
		validate()
		if got := testing.AllocsPerRun(200, validate); got > c.most {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

// Metrics that are reset count anew.
func TestMetricsAreReset(t *testing.T) {
	server := startServer(t)
	pair := startPair(t, server, world(configuration("a", webhook("reset.example.com", server.Config("deny", false), "object.metadata.name != 'web'"))))
	const key = `admission_match_condition_exclusions_total kind="webhook" name="reset.example.com" operation="CREATE" type="validate"`
	for round := range 2 {
		for want := uint64(1); want <= 3; want++ {
			if outcome := pair.Do(t.Context(), pair.Celgate, pod("web")); outcome.Status != "" {
				t.Fatal(outcome.Text())
			}
			counts, err := harness.GatherCounts("reset.example.com")
			if err != nil {
				t.Fatal(err)
			}
			if counts[key] != want {
				t.Errorf("round %d: %d counted, want %d: %v", round, counts[key], want, counts)
			}
		}
		legacyregistry.Reset()
	}
}

// Requests go on while configurations change.
func TestConcurrentChanges(t *testing.T) {
	server := startServer(t)
	pair := startPair(t, server, world(configuration("a", webhook("a.example.com", server.Config("deny", false), "object.metadata.name == 'web'"))))
	var requests sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		requests.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				outcome := harness.Observe(context.Background(), pair.Celgate, pod("web"), pair.State.Objects())
				if !strings.Contains(outcome.Status, "a.example.com") {
					t.Errorf("not denied by a.example.com: %s", outcome)
					return
				}
			}
		})
	}
	for i := range 50 {
		change := harness.Change{Apply: configuration("b", webhook("b.example.com", server.Config("allow", false), "object.metadata.name == 'other'"))}
		if i%2 == 1 {
			change = harness.Change{Delete: configuration("b")}
		}
		if err := pair.State.Apply(change); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	close(stop)
	requests.Wait()
}

// Before its informers have synced a plugin refuses, but for what no webhook may intercept.
func TestUnready(t *testing.T) {
	theirs, err := upstream.NewValidatingAdmissionWebhook(nil)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := validating.NewValidatingAdmissionWebhook(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, plugin := range map[string]admission.ValidationInterface{"upstream": theirs, "celgate": ours} {
		client := fake.NewClientset()
		wants := plugin.(interface {
			initializer.WantsExternalKubeInformerFactory
			initializer.WantsExternalKubeClientSet
			admission.InitializationValidator
		})
		wants.SetExternalKubeInformerFactory(informers.NewSharedInformerFactory(client, 0))
		wants.SetExternalKubeClientSet(client)
		if err := wants.ValidateInitialization(); err != nil {
			t.Fatal(err)
		}
		own, err := harness.Create(&v1.ValidatingWebhookConfiguration{TypeMeta: metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		if outcome := harness.Observe(t.Context(), plugin, own, harness.Objects()); outcome.Status != "" {
			t.Errorf("%s: its own configuration is refused: %s", name, outcome)
		}
	}
}

// Webhooks of manifests come first, judge the admission configuration's own resources too, and are reloaded.
func TestStaticManifests(t *testing.T) {
	server := startServer(t)
	dir := t.TempDir()
	write := func(behaviour string) {
		static := webhook("static.example.com.static.k8s.io", server.Config(behaviour, false))
		static.Rules[0].APIGroups, static.Rules[0].Resources = []string{"*"}, []string{"*"}
		manifest := configuration("static.static.k8s.io", static)
		manifest.TypeMeta = metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration"}
		data, err := yaml.Marshal(manifest)
		if err != nil {
			t.Fatal(err)
		}
		// Renamed, lest half a manifest be read.
		written := filepath.Join(dir, "written")
		if err := os.WriteFile(written, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(written, filepath.Join(dir, "webhooks.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	write("deny")
	pair, err := harness.NewStaticWebhookPair(t.Context(), world(configuration("api", webhook("api.example.com", server.Config("deny", false)))), server, dir)
	if err != nil {
		t.Fatal(err)
	}
	own, err := harness.Create(&v1.ValidatingWebhookConfiguration{TypeMeta: metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if outcome := both(t, pair, own); !strings.Contains(outcome.Status, "static.example.com") {
		t.Errorf("not denied by the static webhook: %s", outcome.Text())
	}
	write("allow")
	deadline := time.Now().Add(30 * time.Second)
	for _, plugin := range []harness.Validator{pair.Upstream, pair.Celgate} {
		for harness.Observe(t.Context(), plugin, own.Copy(), pair.State.Objects()).Status != "" {
			if time.Now().After(deadline) {
				t.Fatal("the manifests are not reloaded")
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	if outcome := both(t, pair, pod("web")); !strings.Contains(outcome.Status, "api.example.com") || len(outcome.Calls) != 2 {
		t.Errorf("the webhook of the API should deny, and both be called: %s", outcome.Text())
	}
}
