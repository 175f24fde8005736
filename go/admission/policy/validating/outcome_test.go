package validating

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	celmetrics "k8s.io/apiserver/pkg/admission/plugin/policy/validating/metrics"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/warning"

	"github.com/celgate/celgate/go/internal/core"
	"github.com/celgate/celgate/go/internal/wire"
)

// reportBuilder writes reports as the core does.
type reportBuilder []byte

func (b *reportBuilder) numbers(values ...uint32) {
	for _, value := range values {
		*b = binary.LittleEndian.AppendUint32(*b, value)
	}
}

func (b *reportBuilder) texts(values ...string) {
	for _, value := range values {
		b.numbers(uint32(len(value)))
		*b = append(*b, value...)
	}
}

func (b *reportBuilder) decision(hook, binding, expression, action, evaluation uint32, reason, message string) {
	b.numbers(1, hook, binding, expression, action, evaluation)
	b.texts(reason, message)
}

func (b *reportBuilder) annotation(hook, binding uint32, key, value string) {
	b.numbers(2, hook, binding)
	b.texts(key, value)
}

// recordedAttributes are attributes whose annotations can be read.
type recordedAttributes struct {
	admission.Attributes
	annotations map[string]string
}

func (a *recordedAttributes) AddAnnotation(key, value string) error {
	a.annotations[key] = value
	return nil
}

func podAttributes() *recordedAttributes {
	return &recordedAttributes{
		Attributes: admission.NewAttributesRecord(nil, nil, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "ns", "pod",
			schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "", admission.Create, nil, false, &user.DefaultInfo{Name: "alice"}),
		annotations: map[string]string{},
	}
}

type recordedWarnings []string

func (r *recordedWarnings) AddWarning(_, text string) { *r = append(*r, text) }

func testHook(name string, bindings ...*PolicyBinding) PolicyHook {
	return PolicyHook{Policy: &Policy{ObjectMeta: metav1.ObjectMeta{Name: name}}, Bindings: bindings}
}

func testBinding(policy, name string, actions ...v1.ValidationAction) *PolicyBinding {
	return &PolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy, ValidationActions: actions}}
}

// testView is two policies: p0 with the bindings deny (0) and audit-warn (1), p1 with warn (2).
func testView() *snapshot {
	hooks := []PolicyHook{
		testHook("p0", testBinding("p0", "deny", v1.Deny), testBinding("p0", "audit-warn", v1.Audit, v1.Warn)),
		testHook("p1", testBinding("p1", "warn", v1.Warn)),
	}
	return &snapshot{hooks: hooks, numbers: numbers{
		policies: []*Policy{hooks[0].Policy, hooks[1].Policy},
		bindings: slices.Concat(hooks[0].Bindings, hooks[1].Bindings),
	}}
}

func testPlan() *plan {
	view := testView()
	return &plan{view: view, numbers: view.numbers}
}

func replayed(t *testing.T, report reportBuilder, namespaceError error) (error, []string, map[string]string) {
	t.Helper()
	celmetrics.Metrics.Reset()
	var warnings recordedWarnings
	ctx := warning.WithWarningRecorder(context.Background(), &warnings)
	attributes := podAttributes()
	d := &dispatcher{exempt: newExemptions()}
	err := d.replay(ctx, attributes, nil, testPlan(), &work{Work: core.Work{NamespaceError: namespaceError}}, report, time.Millisecond)
	return err, warnings, attributes.annotations
}

func TestReplayDenies(t *testing.T) {
	var report reportBuilder
	report.decision(0, 0, 0, 1, 2, "Forbidden", "first")
	report.decision(0, 1, 2, 1, 1, "", "second")
	report.decision(1, 2, 0, 1, 2, "Invalid", "third")
	err, warnings, annotations := replayed(t, report, nil)
	status := new(apierrors.StatusError)
	if !errors.As(err, &status) {
		t.Fatalf("no status: %v", err)
	}
	message := "ValidatingAdmissionPolicy 'p0' with binding 'deny' denied request: first"
	if got := status.ErrStatus; got.Code != 403 || got.Reason != metav1.StatusReasonForbidden || got.Message != `pods "pod" is forbidden: `+message ||
		len(got.Details.Causes) != 1 || got.Details.Causes[0].Message != message {
		t.Errorf("status %+v", got)
	}
	if want := []string{
		"Validation failed for ValidatingAdmissionPolicy 'p0' with binding 'audit-warn': second",
		"Validation failed for ValidatingAdmissionPolicy 'p1' with binding 'warn': third",
	}; !slices.Equal(warnings, want) {
		t.Errorf("warnings %q", warnings)
	}
	if want := map[string]string{
		FailuresKey: `[{"message":"second","policy":"p0","binding":"audit-warn","expressionIndex":2,"validationActions":["Audit","Warn"]}]`,
	}; !maps.Equal(annotations, want) {
		t.Errorf("annotations %v", annotations)
	}
}

func TestReplayConfigurationError(t *testing.T) {
	var report reportBuilder
	report.numbers(4, 1, wire.NoBinding)
	report.texts("failed to configure policy: x")
	report.numbers(4, 1, 2)
	report.texts("failed to configure binding: y")
	err, _, _ := replayed(t, report, nil)
	want := `pods "pod" is forbidden: ValidatingAdmissionPolicy 'p1' denied request: failed to configure policy: x`
	if err == nil || err.Error() != want || apierrors.ReasonForError(err) != metav1.StatusReasonInvalid {
		t.Errorf("got %v", err)
	}
}

func TestReplayAnnotations(t *testing.T) {
	var report reportBuilder
	report.annotation(0, 0, "k", "v")
	report.annotation(0, 1, "k", "v")
	report.annotation(0, 1, "k", "w")
	report.annotation(0, 1, "long", strings.Repeat("x", maxAnnotationValue+1))
	report.numbers(3, 1, 2)
	report.texts("k", "failed")
	err, _, annotations := replayed(t, report, nil)
	if want := (map[string]string{"p0/k": "v, w", "p0/long": strings.Repeat("x", maxAnnotationValue)}); !maps.Equal(annotations, want) {
		t.Errorf("annotations %v", annotations)
	}
	if want := `pods "pod" is forbidden: ValidatingAdmissionPolicy 'p1' with binding 'warn' denied request: failed`; err == nil || err.Error() != want {
		t.Errorf("an annotation that fails must deny even where the action is Warn: %v", err)
	}
}

func TestReplayNamespaceError(t *testing.T) {
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns")
	var report reportBuilder
	report.decision(0, 0, 0, 1, 2, "", "denied before")
	report.decision(0, 1, 0, 1, 2, "", "failed before")
	report.annotation(0, 1, "k", "v")
	report.annotation(1, 2, "k", "of the policy that it happens in")
	report.numbers(6, 1, 2)
	err, warnings, annotations := replayed(t, report, missing)
	if err != missing {
		t.Errorf("got %v, want the look-up's own error", err)
	}
	if len(warnings) != 1 || !maps.Equal(annotations, map[string]string{"p0/k": "v"}) {
		t.Errorf("warnings %q, annotations %v", warnings, annotations)
	}
}

func TestReplayCutsFailures(t *testing.T) {
	var report reportBuilder
	for i := range uint32(MaxFailures + 1) {
		report.decision(0, 1, i, 1, 2, "", fmt.Sprintf("failure %d", i))
	}
	err, _, annotations := replayed(t, report, nil)
	if got := strings.Count(annotations[FailuresKey], "expressionIndex"); err != nil || got != MaxFailures {
		t.Errorf("%d failures, error %v", got, err)
	}
}

func TestErrorType(t *testing.T) {
	for message, want := range map[string]celmetrics.ValidationErrorType{
		"compilation error: x": celmetrics.ValidationCompileError,
		"compilation of rules": celmetrics.ValidationCompileError,
		"must not":             celmetrics.ValidatingInvalidError,
		"failed messageExpression: validation failed due to running out of cost budget":                celmetrics.ValidatingInvalidError,
		"validation failed due to running out of cost budget, no further validation rules will be run": celmetrics.ValidatingOutOfBudget,
	} {
		if got := errorType(message); got != want {
			t.Errorf("%s: %s", message, got)
		}
	}
}

func TestReasonCodes(t *testing.T) {
	for reason, want := range map[metav1.StatusReason]int32{
		metav1.StatusReasonUnauthorized: 401, metav1.StatusReasonForbidden: 403, metav1.StatusReasonRequestEntityTooLarge: 413,
		metav1.StatusReasonInvalid: 422, "Other": 422,
	} {
		if got := codeOf(reason); got != want {
			t.Errorf("%s: %d", reason, got)
		}
	}
}
