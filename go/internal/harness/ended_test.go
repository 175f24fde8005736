package harness

import (
	"context"
	"errors"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// goneWorld has a policy that asks the authorizer, which ends the request, and one after it that runs long enough to notice.
func goneWorld(end context.CancelCauseFunc) *World {
	w := &World{Authorize: func(authorizer.Attributes) (authorizer.Decision, string, error) {
		end(errors.New("the client has gone"))
		return authorizer.DecisionAllow, "", nil
	}}
	for name, expressions := range map[string][]string{
		"a-asks":     {"lists.range(99).all(x, x >= 0)", "authorizer.path('/x').check('get').allowed()"},
		"b-runs":     {"lists.range(99).all(x, x >= 0)", "lists.range(100).all(x, x >= 0)"},
		"c-variable": {"variables.many.size() == 100"},
	} {
		pods := podsWorld(nil, nil, expressions...)
		policy := pods.Policies[0]
		policy.Name, w.Namespaces = name, pods.Namespaces
		policy.Spec.Variables = []v1.Variable{{Name: "many", Expression: "lists.range(100).map(x, x)"}}
		binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}}
		binding.Spec.PolicyName, binding.Spec.ValidationActions = name, []v1.ValidationAction{v1.Deny, v1.Audit}
		w.Policies, w.Bindings = append(w.Policies, policy), append(w.Bindings, binding)
	}
	w.Default()
	return w
}

// Section T22: a request whose context ends while the authorizer is asked is interrupted from then on, and told why. Upstream:
// cel-go/cel/program.go, ContextEval.
func TestRequestsEndWhileTheyAreDecided(t *testing.T) {
	ask := func(start func(*World) (Validator, error)) Outcome {
		ctx, end := context.WithCancelCause(t.Context())
		validator, err := start(goneWorld(end))
		if err != nil {
			t.Fatal(err)
		}
		return Observe(ctx, validator, podNamed("web"), Objects())
	}
	want := ask(func(w *World) (Validator, error) { return NewOracle(w) })
	got := ask(func(w *World) (Validator, error) {
		state, err := NewState(w)
		if err != nil {
			return nil, err
		}
		return NewCelgateOf(t.Context(), state)
	})
	if _, difference := compare(want, got); difference != "" {
		t.Error(difference)
	}
	expect := Expect{Verdict: denied, Failures: []string{
		"b-runs/b-runs 1 [Deny Audit]: expression 'lists.range(100).all(x, x >= 0)' resulted in error: operation interrupted: the client has gone",
		"c-variable/c-variable 0 [Deny Audit]: expression 'variables.many.size() == 100' resulted in error: composited variable \"many\" fails to evaluate: operation interrupted: the client has gone",
	}}
	if wrong := expect.Compare(got); wrong != "" {
		t.Error(wrong)
	}
}

// A request whose context ends while one of its params is fetched gets the param all the same, and is interrupted where it runs long enough to
// notice. Upstream: pkg/admission/plugin/policy/generic/policy_dispatcher.go, getParamDirectly.
func TestRequestsEndWhileTheirParamsAreFetched(t *testing.T) {
	world := func() *World {
		w := podsWorld(&v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}, &v1.ParamRef{Name: "late", Namespace: "ns"},
			"params.data.kind == 'fetched'", "params.data.kind == 'other'", "lists.range(100).all(x, x >= 0)")
		w.Bindings[0].Spec.ValidationActions = []v1.ValidationAction{v1.Deny, v1.Audit}
		w.Default()
		return w
	}
	late := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "late"}, Data: map[string]string{"kind": "fetched"}}
	ask := func(start func(*State) (Validator, error)) (Outcome, int) {
		ctx, end := context.WithCancelCause(t.Context())
		state, err := NewState(world())
		if err != nil {
			t.Fatal(err)
		}
		if err := state.Apply(Change{Apply: late, Unseen: true}); err != nil {
			t.Fatal(err)
		}
		validator, err := start(state)
		if err != nil {
			t.Fatal(err)
		}
		reads := 0
		state.reading = func() {
			reads++
			end(errors.New("the client has gone"))
		}
		return Observe(ctx, validator, podNamed("web"), Objects()), reads
	}
	want, wantReads := ask(func(state *State) (Validator, error) { return NewOracleOf(state) })
	got, gotReads := ask(func(state *State) (Validator, error) { return NewCelgateOf(t.Context(), state) })
	if _, difference := compare(want, got); difference != "" {
		t.Error(difference)
	}
	if wantReads != 1 || gotReads != 1 {
		t.Errorf("the param is read %d times by upstream, %d times by celgate, want once", wantReads, gotReads)
	}
	expect := Expect{Verdict: denied, Failures: []string{
		"p/b 1 [Deny Audit]: failed expression: params.data.kind == 'other'",
		"p/b 2 [Deny Audit]: expression 'lists.range(100).all(x, x >= 0)' resulted in error: operation interrupted: the client has gone",
	}}
	if wrong := expect.Compare(got); wrong != "" {
		t.Error(wrong)
	}
}
