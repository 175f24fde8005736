package validating_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/celgate/celgate/go/admission/policy/validating"
	"github.com/celgate/celgate/go/internal/harness"
)

func newPlugin(t testing.TB) *validating.Plugin {
	t.Helper()
	plugin, err := validating.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	return plugin
}

// startCluster runs the plugin over a world until the test ends.
func startCluster(t testing.TB, world *harness.World) *harness.Cluster {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	world.Default()
	cluster, err := harness.Start(ctx, newPlugin(t), world)
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

// quick makes the sources of a test look for changes often.
func quick(t *testing.T) {
	t.Cleanup(validating.SetRefreshInterval(10 * time.Millisecond))
}

func podPolicy(name string, expressions ...string) *v1.ValidatingAdmissionPolicy {
	policy := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"}}
	policy.Spec.MatchConstraints = &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.OperationAll},
		Rule:       v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
	}}}}
	for _, expression := range expressions {
		policy.Spec.Validations = append(policy.Spec.Validations, v1.Validation{Expression: expression})
	}
	return policy
}

func bind(policy, name string, actions ...v1.ValidationAction) *v1.ValidatingAdmissionPolicyBinding {
	binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1"}}
	binding.Spec.PolicyName, binding.Spec.ValidationActions = policy, actions
	return binding
}

func world(policies ...*v1.ValidatingAdmissionPolicy) *harness.World {
	w := &harness.World{Policies: policies, Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}}}
	for _, policy := range policies {
		w.Bindings = append(w.Bindings, bind(policy.Name, policy.Name, v1.Deny))
	}
	return w
}

func pod(name string) *harness.Request {
	object := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"}}
	request, err := harness.Create(object)
	if err != nil {
		panic(err)
	}
	return request
}

func attributes(object runtime.Object, resource string, kind string) admission.Attributes {
	return admission.NewAttributesRecord(object, nil, schema.GroupVersionKind{Version: "v1", Kind: kind}, "ns", "x",
		schema.GroupVersionResource{Version: "v1", Resource: resource}, "", admission.Create, nil, false, &user.DefaultInfo{Name: "alice"})
}

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestDeniesAndAllows(t *testing.T) {
	cluster := startCluster(t, world(podPolicy("p", "object.metadata.name != 'bad'")))
	if outcome := cluster.Do(t.Context(), pod("good")); outcome.Status != "" {
		t.Errorf("good: %s", outcome)
	}
	outcome := cluster.Do(t.Context(), pod("bad"))
	if !strings.Contains(outcome.Status, "ValidatingAdmissionPolicy 'p' with binding 'p' denied request: failed expression: object.metadata.name != 'bad'") {
		t.Errorf("bad: %s", outcome)
	}
}

// evaluations reads the metric of a policy; -1 if there is none.
func evaluations(t *testing.T, policy string) float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "celgate_policy_evaluations_total" && metric.GetLabel()[0].GetValue() == policy {
				return metric.GetCounter().GetValue()
			}
		}
	}
	return -1
}

func TestEvaluationsAreCountedByPolicy(t *testing.T) {
	quick(t)
	w := world(podPolicy("counted", "object.metadata.name != 'bad'"), podPolicy("other", "true"))
	cluster := startCluster(t, w)
	for _, name := range []string{"good", "bad", "good"} {
		cluster.Do(t.Context(), pod(name))
	}
	if got := evaluations(t, "counted"); got != 3 {
		t.Errorf("want 3 evaluations, those that admitted included, got %v", got)
	}
	edited := w.Policies[0].DeepCopy()
	edited.Spec.Validations[0].Expression, edited.ResourceVersion = "object.metadata.name != 'good'", "2"
	if _, err := cluster.Client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Update(t.Context(), edited, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	tries := 0
	eventually(t, "the edited policy denies", func() bool {
		tries++
		return cluster.Do(t.Context(), pod("good")).Status != ""
	})
	if got := evaluations(t, "counted"); got != float64(3+tries) {
		t.Errorf("want %d evaluations over both versions, got %v", 3+tries, got)
	}
	if got := evaluations(t, "nosuch"); got != -1 {
		t.Errorf("a policy that is not there: %v", got)
	}
}

func TestNotReady(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cluster, err := harness.Prepare(ctx, newPlugin(t), world(podPolicy("p", "true")))
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range []schema.GroupVersionResource{
		{Group: "authentication.k8s.io", Version: "v1", Resource: "tokenreviews"},
		{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"},
	} {
		request := pod("x")
		request.Resource = resource
		if outcome := cluster.Do(ctx, request); outcome.Status != "" {
			t.Errorf("%s must not wait for policies: %s", resource, outcome)
		}
	}
	if testing.Short() {
		t.Skip("the wait for readiness takes 10 seconds")
	}
	if outcome := cluster.Do(ctx, pod("x")); !strings.Contains(outcome.Status, `pods \"x\" is forbidden: not yet ready to handle request`) {
		t.Errorf("a request before the policies are known: %s", outcome)
	}
}

func TestDisabled(t *testing.T) {
	plugin := newPlugin(t)
	plugin.SetEnabled(false)
	if err := plugin.ValidateInitialization(); err != nil {
		t.Error(err)
	}
	if err := plugin.Validate(t.Context(), attributes(nil, "pods", "Pod"), nil); err != nil {
		t.Error(err)
	}
}

// Policies and bindings that come, change and go are followed.
func TestFollowsPolicies(t *testing.T) {
	quick(t)
	w := world()
	cluster := startCluster(t, w)
	ctx := t.Context()
	policies := cluster.Client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	bindings := cluster.Client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	says := func(text string) func() bool {
		return func() bool { return strings.Contains(cluster.Do(ctx, pod("x")).Status, text) }
	}
	allowed := func() bool { return cluster.Do(ctx, pod("x")).Status == "" }
	if !allowed() {
		t.Fatal("denied without policies")
	}

	next := world(podPolicy("p", "object.metadata.name == 'one'"))
	next.Default()
	if _, err := policies.Create(ctx, next.Policies[0], metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := bindings.Create(ctx, next.Bindings[0], metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the policy is in force", says("object.metadata.name == 'one'"))

	changed := next.Policies[0].DeepCopy()
	changed.Spec.Validations[0].Expression, changed.ResourceVersion = "object.metadata.name == 'two'", "2"
	if _, err := policies.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the changed policy is in force", says("object.metadata.name == 'two'"))

	if err := bindings.Delete(ctx, "p", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the policy is no longer in force", allowed)
}

func paramWorld() *harness.World {
	policy := podPolicy("p", "object.metadata.name == params.data.name")
	policy.Spec.ParamKind = &v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	w := world(policy)
	w.Bindings[0].Spec.ParamRef = &v1.ParamRef{Name: "param"}
	w.Params = []runtime.Object{&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "param", Namespace: "ns", ResourceVersion: "1"}, Data: map[string]string{"name": "one"}}}
	return w
}

func setParam(t *testing.T, cluster *harness.Cluster, version int, name string) {
	t.Helper()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "param", Namespace: "ns", ResourceVersion: fmt.Sprint(version)}, Data: map[string]string{"name": name}}
	if _, err := cluster.Client.CoreV1().ConfigMaps("ns").Update(t.Context(), object, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// A built-in param stays alive when its policy loses its binding for a while (kubernetes/kubernetes#130887).
func TestParamsOutliveBindings(t *testing.T) {
	quick(t)
	cluster := startCluster(t, paramWorld())
	ctx := t.Context()
	bindings := cluster.Client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	allowed := func(name string) func() bool {
		return func() bool { return cluster.Do(ctx, pod(name)).Status == "" }
	}
	if !allowed("one")() || allowed("two")() {
		t.Fatal("the param is not used")
	}
	binding, err := bindings.Get(ctx, "p", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := bindings.Delete(ctx, "p", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the policy is no longer in force", allowed("two"))
	binding.ResourceVersion = "7"
	if _, err := bindings.Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the policy is in force again", func() bool { return !allowed("two")() })
	setParam(t, cluster, 2, "two")
	eventually(t, "the changed param is used", func() bool { return allowed("two")() && !allowed("one")() })
}

// A policy that is deleted takes its params along, and a new one starts them anew.
func TestParamsAreStartedAnew(t *testing.T) {
	quick(t)
	w := paramWorld()
	cluster := startCluster(t, w)
	ctx := t.Context()
	policies := cluster.Client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	allowed := func(name string) func() bool {
		return func() bool { return cluster.Do(ctx, pod(name)).Status == "" }
	}
	if !allowed("one")() || allowed("two")() {
		t.Fatal("the param is not used")
	}
	if err := policies.Delete(ctx, "p", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the policy is gone", allowed("two"))
	setParam(t, cluster, 2, "two")
	again := w.Policies[0].DeepCopy()
	again.ResourceVersion = "9"
	if _, err := policies.Create(ctx, again, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the changed param is used", func() bool { return allowed("two")() && !allowed("one")() })
}

// A configuration error makes the source try again each time, but the snapshot stays.
func TestNothingIsBuiltWithoutChange(t *testing.T) {
	quick(t)
	policy := podPolicy("p", "true")
	policy.Spec.ParamKind = &v1.ParamKind{APIVersion: "example.com/v1", Kind: "Nope"}
	cluster := startCluster(t, world(policy))
	outcome := cluster.Do(t.Context(), pod("x"))
	if !strings.Contains(outcome.Status, "failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Nope'") {
		t.Fatal(outcome)
	}
	before := validating.Snapshot(cluster.Plugin)
	time.Sleep(100 * time.Millisecond) // some ten retries
	if validating.Snapshot(cluster.Plugin) != before {
		t.Error("a snapshot was built although nothing had changed")
	}
}
