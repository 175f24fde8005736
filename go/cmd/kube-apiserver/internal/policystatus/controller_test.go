package policystatus

import (
	"context"
	"testing"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// checkerFunc is a TypeChecker.
type checkerFunc func(*v1.ValidatingAdmissionPolicy) []v1.ExpressionWarning

func (f checkerFunc) Check(policy *v1.ValidatingAdmissionPolicy) []v1.ExpressionWarning {
	return f(policy)
}

func TestStatusFollowsTheSpec(t *testing.T) {
	condition := metav1.Condition{Type: "Mine", Status: metav1.ConditionTrue, Reason: "Test"}
	policy := func(name string, generation, observed int64) *v1.ValidatingAdmissionPolicy {
		return &v1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: name, Generation: generation},
			Status:     v1.ValidatingAdmissionPolicyStatus{ObservedGeneration: observed, Conditions: []metav1.Condition{condition}},
		}
	}
	client := fake.NewClientset(policy("wrong", 2, 1), policy("right", 1, 0), policy("known", 3, 3))
	warning := v1.ExpressionWarning{FieldRef: "spec.validations[0].expression", Warning: "text"}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- Run(ctx, client, checkerFunc(func(policy *v1.ValidatingAdmissionPolicy) []v1.ExpressionWarning {
			if policy.Name == "wrong" {
				return []v1.ExpressionWarning{warning}
			}
			return nil
		}))
	}()
	get := func(name string) v1.ValidatingAdmissionPolicyStatus {
		found, err := client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return found.Status
	}
	deadline := time.Now().Add(30 * time.Second)
	for get("wrong").ObservedGeneration != 2 || get("right").ObservedGeneration != 1 {
		if time.Now().After(deadline) {
			t.Fatalf("not checked: %+v, %+v", get("wrong"), get("right"))
		}
		time.Sleep(20 * time.Millisecond)
	}
	if got := get("wrong").TypeChecking; got == nil || len(got.ExpressionWarnings) != 1 || got.ExpressionWarnings[0] != warning {
		t.Errorf("wrong: %+v", got)
	}
	if got := get("right").TypeChecking; got == nil || len(got.ExpressionWarnings) != 0 {
		t.Errorf("right: %+v", got)
	}
	if got := get("known").TypeChecking; got != nil {
		t.Errorf("known: checked again: %+v", got)
	}
	if got := get("wrong").Conditions; len(got) != 1 || got[0] != condition {
		t.Errorf("conditions: %+v", got)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
