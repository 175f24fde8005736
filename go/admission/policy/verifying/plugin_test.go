package verifying

import (
	"context"
	"errors"
	"testing"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	celmetrics "k8s.io/apiserver/pkg/admission/plugin/policy/validating/metrics"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/celgate/celgate/go/admission/policy/validating"
	"github.com/celgate/celgate/go/internal/answer"
	"github.com/celgate/celgate/go/internal/harness"
)

// world has policies that deny, warn and audit, and one whose expression has an error.
func world() *harness.World {
	w := &harness.World{Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}}}
	for i, policy := range []struct {
		expression string
		actions    []v1.ValidationAction
	}{
		{"object.metadata.name != 'denied'", []v1.ValidationAction{v1.Deny}},
		{"object.metadata.name != 'denied' && object.metadata.name != 'twice'", []v1.ValidationAction{v1.Deny, v1.Audit}},
		{"object.metadata.name != 'warned'", []v1.ValidationAction{v1.Warn, v1.Audit}},
		{"object.metadata.labels.nothing == 'x'", []v1.ValidationAction{v1.Warn}},
	} {
		name := string(rune('a' + i))
		all := []string{"*"}
		w.Policies = append(w.Policies, &v1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: name},
			Spec: v1.ValidatingAdmissionPolicySpec{
				MatchConstraints: &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
					Operations: []v1.OperationType{v1.OperationAll}, Rule: v1.Rule{APIGroups: all, APIVersions: all, Resources: all},
				}}}},
				Validations:      []v1.Validation{{Expression: policy.expression, MessageExpression: "'secret ' + string(object.metadata.name)"}},
				AuditAnnotations: []v1.AuditAnnotation{{Key: "name", ValueExpression: "string(object.metadata.name)"}},
			},
		})
		w.Bindings = append(w.Bindings, &v1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: name},
			Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: name, ValidationActions: policy.actions},
		})
	}
	w.Default()
	return w
}

func start(t *testing.T) (*Plugin, *harness.Cluster) {
	t.Helper()
	plugin, err := NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	cluster, err := harness.Start(ctx, plugin, world())
	if err != nil {
		t.Fatal(err)
	}
	comparisons.Reset()
	// The first request waits for the policies; celgate may know them a moment later.
	for err := plugin.celgate.Validate(ctx, attributes(t, "first"), cluster.Objects); err != nil; {
		if !isNotReady(err) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
		err = plugin.celgate.Validate(ctx, attributes(t, "first"), cluster.Objects)
	}
	return plugin, cluster
}

func attributes(t *testing.T, name string) admission.Attributes {
	t.Helper()
	request, err := harness.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns"}})
	if err != nil {
		t.Fatal(err)
	}
	return admission.NewAttributesRecord(request.Object, nil, request.Kind, "ns", name, request.Resource, "", admission.Create, &metav1.CreateOptions{}, false, nil)
}

// settled waits until all comparisons have been made, and gives their number with that result.
func settled(t *testing.T, plugin *Plugin, r result) int {
	t.Helper()
	plugin.Wait()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "celgate_verify_requests_total" && metric.GetLabel()[0].GetValue() == string(r) {
				return int(metric.GetCounter().GetValue())
			}
		}
	}
	return 0
}

// The client gets upstream's answer, and both engines' answers are the same.
func TestSame(t *testing.T) {
	plugin, cluster := start(t)
	celmetrics.Metrics.Reset()
	names := []string{"allowed", "denied", "twice", "warned"}
	for _, name := range names {
		warnings := &answer.Warnings{}
		err := plugin.Validate(warning.WithWarningRecorder(context.Background(), warnings), attributes(t, name), cluster.Objects)
		if denied := name == "denied" || name == "twice"; denied != (err != nil) {
			t.Errorf("%s: %v", name, err)
		}
		if len(warnings.Texts()) == 0 {
			t.Errorf("%s: no warning reached the client", name)
		}
	}
	if n := settled(t, plugin, same); n != len(names) {
		t.Errorf("%d of %d are the same; different %d, not ready %d", n, len(names), settled(t, plugin, different), settled(t, plugin, notReady))
	}
}

// A difference is counted; a panic and an endless evaluation are, too, and the request does not notice.
func TestNotSame(t *testing.T) {
	plugin, cluster := start(t)
	validate := func(name string) error {
		return plugin.Validate(context.Background(), attributes(t, name), cluster.Objects)
	}
	for _, test := range []struct {
		name   string
		decide func(context.Context, admission.Attributes, admission.ObjectInterfaces) error
		want   result
	}{
		{"denied", func(context.Context, admission.Attributes, admission.ObjectInterfaces) error { return nil }, different},
		{"allowed", func(context.Context, admission.Attributes, admission.ObjectInterfaces) error { return errors.New("no") }, different},
		{"warned", func(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
			return a.AddAnnotation("a/name", "other")
		}, different},
		{"allowed", func(context.Context, admission.Attributes, admission.ObjectInterfaces) error { panic("no") }, failed},
		{"allowed", func(context.Context, admission.Attributes, admission.ObjectInterfaces) error {
			return admission.NewForbidden(attributes(t, "x"), errors.New("not yet ready to handle request"))
		}, notReady},
	} {
		before := settled(t, plugin, test.want)
		plugin.decide = test.decide
		if err := validate(test.name); (err != nil) != (test.name == "denied") {
			t.Errorf("%s: %v", test.name, err)
		}
		if n := settled(t, plugin, test.want); n != before+1 {
			t.Errorf("%s: %s was counted %d times", test.name, test.want, n-before)
		}
	}
}

// As many comparisons as there are places run at once; requests beyond them are not held up.
func TestSkipped(t *testing.T) {
	plugin, cluster := start(t)
	release := make(chan struct{})
	plugin.decide = func(context.Context, admission.Attributes, admission.ObjectInterfaces) error {
		<-release
		return nil
	}
	for range cap(plugin.free) + 3 {
		if err := plugin.Validate(context.Background(), attributes(t, "allowed"), cluster.Objects); err != nil {
			t.Fatal(err)
		}
	}
	close(release)
	if n := settled(t, plugin, skipped); n != 3 {
		t.Errorf("%d were skipped", n)
	}
}

// A request whose client has gone says nothing: upstream may have been interrupted anywhere.
func TestEndedRequestsAreSkipped(t *testing.T) {
	plugin, cluster := start(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := plugin.Validate(ctx, attributes(t, "allowed"), cluster.Objects); err != nil {
		t.Fatal(err)
	}
	if n := settled(t, plugin, skipped); n != 1 {
		t.Errorf("%d were skipped", n)
	}
}

// Nothing that an expression or a user wrote is in what a difference is logged with.
func TestVerdictHasNoContent(t *testing.T) {
	plugin, cluster := start(t)
	o := &observed{Attributes: attributes(t, "denied"), warnings: &answer.Warnings{}}
	o.err = plugin.Plugin.Validate(context.Background(), o, cluster.Objects)
	if got := o.verdict(); got != `422 Invalid by policy "a", binding "a"` && got != `422 Invalid by policy "b", binding "b"` {
		t.Error(got)
	}
}

// Orders that come from Go's maps are no difference; other values are.
func TestOrders(t *testing.T) {
	answer := func(err error, warnings []string, annotations map[string]string) *observed {
		recorded := &answer.Warnings{}
		for _, text := range warnings {
			recorded.AddWarning("", text)
		}
		return &observed{err: err, warnings: recorded, annotations: annotations}
	}
	one, other := errors.New("one"), errors.New("other")
	ours := answer(one, []string{"a", "b"}, map[string]string{"p/k": "x, y", validating.FailuresKey: `[{"m":1},{"m":2}]`})
	ours.denials = []error{one, other}
	for _, test := range []struct {
		theirs *observed
		want   string
	}{
		{answer(other, []string{"b", "a"}, map[string]string{"p/k": "y, x", validating.FailuresKey: `[{"m":2},{"m":1}]`}), ""},
		{answer(errors.New("third"), []string{"b", "a"}, ours.annotations), "error"},
		{answer(nil, []string{"b", "a"}, ours.annotations), "verdict"},
		{answer(one, []string{"b", "a", "a"}, ours.annotations), "warnings"},
		{answer(one, []string{"b", "a"}, map[string]string{"p/k": "x, y, z", validating.FailuresKey: ours.annotations[validating.FailuresKey]}), "annotations"},
		{answer(one, []string{"b", "a"}, map[string]string{"p/k": "x, y", validating.FailuresKey: `[{"m":2},{"m":3}]`}), "annotations"},
		{answer(one, []string{"b", "a"}, map[string]string{"p/k": "x, y"}), "annotations"},
	} {
		got := ""
		for _, difference := range differencesOf(test.theirs, ours) {
			got += difference
		}
		if got != test.want {
			t.Errorf("%q instead of %q", got, test.want)
		}
	}
}
