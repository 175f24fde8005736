package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/celgate/celgate/go/admission/policy/validating"
)

// What no single request shows: cases that are a sequence, in both plugins. The source of each looks for changes once a second.

// takesUp is how long a plugin may take to take up a change. What has not happened after stays is taken for something that does not happen.
const (
	takesUp = 30 * time.Second
	stays   = 3 * time.Second
)

// both starts both plugins over copies of a world.
func both(t *testing.T, world func() *World) map[string]*Cluster {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	theirs, err := upstream.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := validating.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	clusters := map[string]*Cluster{}
	for name, plugin := range map[string]Plugin{"upstream": theirs, "celgate": ours} {
		w := world()
		w.Default()
		if clusters[name], err = Start(ctx, plugin, w); err != nil {
			t.Fatal(err)
		}
	}
	return clusters
}

func within(limit time.Duration, condition func() bool) bool {
	for deadline := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		if condition() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	if !within(takesUp, condition) {
		t.Fatalf("never: %s", what)
	}
}

// podsWorld has a policy for pods with one binding.
func podsWorld(paramKind *v1.ParamKind, ref *v1.ParamRef, expressions ...string) *World {
	policy := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p", ResourceVersion: "1"}}
	policy.Spec.ParamKind = paramKind
	policy.Spec.MatchConstraints = &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.OperationAll},
		Rule:       v1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
	}}}}
	for _, expression := range expressions {
		policy.Spec.Validations = append(policy.Spec.Validations, v1.Validation{Expression: expression})
	}
	binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "b", ResourceVersion: "1"}}
	binding.Spec = v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "p", ParamRef: ref, ValidationActions: []v1.ValidationAction{v1.Deny}}
	return &World{
		Policies:   []*v1.ValidatingAdmissionPolicy{policy},
		Bindings:   []*v1.ValidatingAdmissionPolicyBinding{binding},
		Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}},
	}
}

func podNamed(name string) *Request {
	request, err := Create(&corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"}})
	if err != nil {
		panic(err)
	}
	return request
}

func (c *Cluster) allows(name string) bool {
	return c.Do(context.Background(), podNamed(name)).Status == ""
}

func configMap(version, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "param", Namespace: "ns", ResourceVersion: version}, Data: map[string]string{"name": name}}
}

// kubernetes#130887: params of a built-in kind stay fresh when the last binding is gone for a while. Upstream stops their informer for ever.
func TestBuiltinParamsStayFreshWhenBindingsComeBack(t *testing.T) {
	t.Parallel()
	clusters := both(t, func() *World {
		w := podsWorld(&v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}, &v1.ParamRef{Name: "param"}, "object.metadata.name == params.data.name")
		w.Params = []runtime.Object{configMap("1", "one")}
		return w
	})
	ctx := t.Context()
	for name, cluster := range clusters {
		bindings := cluster.Client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
		eventually(t, name+" judges by the param", func() bool { return cluster.allows("one") && !cluster.allows("two") })
		binding, err := bindings.Get(ctx, "b", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := bindings.Delete(ctx, "b", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, name+" has let go", func() bool { return cluster.allows("two") })
		binding.ResourceVersion = "7"
		if _, err := bindings.Create(ctx, binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, name+" judges again", func() bool { return !cluster.allows("two") })
		if _, err := cluster.Client.CoreV1().ConfigMaps("ns").Update(ctx, configMap("2", "two"), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	fresh := func(cluster *Cluster) func() bool {
		return func() bool { return cluster.allows("two") && !cluster.allows("one") }
	}
	eventually(t, "celgate judges by the changed param", fresh(clusters["celgate"]))
	if within(stays, fresh(clusters["upstream"])) {
		t.Error("upstream judges by the changed param: it no longer differs")
	}
}

// lagging is a mapper as discovery makes them: it knows what there was when it was last reset.
type lagging struct {
	meta.RESTMapper
	lock   sync.Mutex
	served []CaseKind
}

func (m *lagging) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.RESTMapper.RESTMapping(kind, versions...)
}

// Reset implements meta.ResettableRESTMapper.
func (m *lagging) Reset() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.RESTMapper = (&World{Kinds: kindsOf(m.served)}).mapper()
}

func (m *lagging) serve(kinds ...CaseKind) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.served = kinds
}

func limit(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Limit", "metadata": map[string]any{"name": "limit", "resourceVersion": "1"}, "spec": map[string]any{"name": name},
	}}
}

// kubernetes#124237: a policy that is created together with its paramKind is in force as soon as the kind is served. Upstream denies until
// somebody else resets the mapper, which kube-apiserver does every 30 seconds.
func TestParamKindsAreFoundAsSoonAsTheyAreServed(t *testing.T) {
	t.Parallel()
	limits := CaseKind{APIVersion: "example.com/v1", Kind: "Limit"}
	mappers := []*lagging{}
	clusters := both(t, func() *World {
		w := podsWorld(&v1.ParamKind{APIVersion: "example.com/v1", Kind: "Limit"}, &v1.ParamRef{Name: "limit"}, "object.metadata.name == params.spec.name")
		w.Kinds = kindsOf([]CaseKind{limits})
		w.Params = []runtime.Object{limit("one")}
		mapper := &lagging{}
		mapper.Reset()
		mappers = append(mappers, mapper)
		w.Mapper = mapper
		return w
	})
	for name, cluster := range clusters {
		eventually(t, name+" denies, as the kind is not known", func() bool {
			return strings.Contains(cluster.Do(t.Context(), podNamed("one")).Status, "failed to find resource referenced by paramKind: 'example.com/v1, Kind=Limit'")
		})
	}
	for _, mapper := range mappers {
		mapper.serve(limits)
	}
	judged := func(cluster *Cluster) func() bool {
		return func() bool { return cluster.allows("one") && !cluster.allows("two") }
	}
	eventually(t, "celgate judges by the param", judged(clusters["celgate"]))
	if within(stays, judged(clusters["upstream"])) {
		t.Error("upstream judges by the param: it no longer differs")
	}
}

// kubernetes#141367: a param that is named is read directly while the informer of its kind is cold. Upstream waits a second and denies.
func TestNamedParamsAreReadWhileTheirInformerIsCold(t *testing.T) {
	t.Parallel()
	world := func() *World {
		w := podsWorld(&v1.ParamKind{APIVersion: "example.com/v1", Kind: "Limit"}, &v1.ParamRef{Name: "limit"}, "object.metadata.name == params.spec.name")
		w.Kinds = kindsOf([]CaseKind{{APIVersion: "example.com/v1", Kind: "Limit"}})
		w.Params = []runtime.Object{limit("one")}
		return w
	}
	clusters := both(t, func() *World {
		w := world()
		w.Bindings = nil
		return w
	})
	ctx := t.Context()
	for name, cluster := range clusters {
		cluster.Dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("list", "limits", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("cold")
		})
		if !cluster.allows("two") {
			t.Fatalf("%s denies without a binding", name)
		}
		w := world()
		w.Default()
		if _, err := cluster.Client.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(ctx, w.Bindings[0], metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, name+" takes up the binding", func() bool { return !cluster.allows("two") })
	}
	if outcome := clusters["celgate"].Do(ctx, podNamed("one")); outcome.Status != "" {
		t.Errorf("celgate: %s", outcome)
	}
	if outcome := clusters["celgate"].Do(ctx, podNamed("two")); !strings.Contains(outcome.Status, "failed expression: object.metadata.name == params.spec.name") {
		t.Errorf("celgate: %s", outcome)
	}
	if outcome := clusters["upstream"].Do(ctx, podNamed("one")); !strings.Contains(outcome.Status, "not yet synced to use for admission") {
		t.Errorf("upstream does not differ: %s", outcome)
	}
}

// Section 6b: the first plugin that sets an audit annotation wins.
func TestTheFirstPluginToSetAnAnnotationWins(t *testing.T) {
	t.Parallel()
	clusters := both(t, func() *World {
		w := podsWorld(nil, nil)
		w.Policies[0].Spec.AuditAnnotations = []v1.AuditAnnotation{{Key: "k", ValueExpression: "'ours'"}, {Key: "other", ValueExpression: "'ours'"}}
		return w
	})
	for name, cluster := range clusters {
		attributes := &annotated{Attributes: podNamed("web").attributes(), annotations: map[string]string{}}
		if err := attributes.AddAnnotation("p/k", "first"); err != nil {
			t.Fatal(err)
		}
		if err := cluster.Plugin.Validate(t.Context(), attributes, cluster.Objects); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := fmt.Sprint(attributes.annotations); got != "map[p/k:first p/other:ours]" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// kubernetes#135757, #141404: requests that share objects with quantities, and params, are judged while policies with variables change;
// nothing is written to what is shared, which the race detector would see.
func TestConcurrentRequestsShareObjectsWhilePoliciesChange(t *testing.T) {
	t.Parallel()
	clusters := both(t, func() *World {
		w := podsWorld(&v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}, &v1.ParamRef{Name: "param"},
			"variables.limits.memory == '64Mi' && quantity(variables.limits.memory).isLessThan(quantity('1Gi')) && params.data.name == 'one'")
		w.Policies[0].Spec.Variables = []v1.Variable{{Name: "limits", Expression: "object.spec.containers[0].resources.limits"}}
		w.Params = []runtime.Object{configMap("1", "one")}
		return w
	})
	for name, cluster := range clusters {
		shared := podNamed("web")
		shared.Object.(*corev1.Pod).Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
			corev1.ResourceMemory: *resource.NewQuantity(64<<20, resource.BinarySI),
		}}}}
		eventually(t, name+" is in force", func() bool { return !cluster.allows("without-containers") })
		ctx, cancel := context.WithTimeout(t.Context(), stays)
		var requests sync.WaitGroup
		for range 4 {
			requests.Go(func() {
				for ctx.Err() == nil {
					request := shared
					if name == "upstream" {
						request = shared.Copy()
					}
					if outcome := cluster.Do(context.Background(), request); outcome.Status != "" {
						t.Errorf("%s: %s", name, outcome)
						return
					}
				}
			})
		}
		policies := cluster.Client.AdmissionregistrationV1().ValidatingAdmissionPolicies()
		for version := 2; ctx.Err() == nil; version++ {
			policy, err := policies.Get(context.Background(), "p", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			changed := policy.DeepCopy()
			changed.ResourceVersion = fmt.Sprint(version)
			changed.Spec.Variables = append(changed.Spec.Variables[:1:1], v1.Variable{Name: fmt.Sprint("v", version), Expression: "object.spec.containers"})
			if _, err := policies.Update(context.Background(), changed, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		requests.Wait()
		cancel()
	}
}
