package validating

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/celgate/celgate/go/internal/wire"
)

// recordingAuthorizer notes what it is asked.
type recordingAuthorizer struct {
	asked    []authorizer.AttributesRecord
	decision authorizer.Decision
	err      error
}

func (r *recordingAuthorizer) Authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	record, ok := a.(*authorizer.AttributesRecord)
	if !ok {
		return authorizer.DecisionNoOpinion, "", errors.New("not a record")
	}
	r.asked = append(r.asked, *record)
	return r.decision, "because", r.err
}

func answered(t *testing.T, r *recordingAuthorizer, questions string) (*work, error) {
	t.Helper()
	d := &dispatcher{authorizer: r, exempt: newExemptions()}
	w := &work{}
	return w, d.answer(context.Background(), podAttributes(), testPlan(), w, []byte(questions))
}

func TestAuthorizeAsksAsUpstream(t *testing.T) {
	r := &recordingAuthorizer{decision: authorizer.DecisionDeny}
	w, err := answered(t, r, `[
		{"id":0,"kind":"authorize","verb":"get","path":"/healthz"},
		{"id":1,"kind":"authorize","serviceAccount":{"namespace":"kube-system","name":"sa"},"verb":"list","group":"apps","resource":"deployments","subresource":"scale",
		 "namespace":"ns","name":"n","fieldSelector":"spec.nodeName=a","labelSelector":"a in (b)"},
		{"id":2,"kind":"authorize","verb":"list","group":"","resource":"pods","subresource":"","namespace":"","name":"","fieldSelector":"a","labelSelector":"=="},
		{"id":3,"kind":"authorize","verb":"get","path":"/healthz"}]`)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.asked) != 3 || w.Answers.Len() != 4 {
		t.Fatalf("%d checks, %d answers", len(r.asked), w.Answers.Len())
	}
	if got := r.asked[0]; got.Path != "/healthz" || got.ResourceRequest || got.User.GetName() != "alice" || got.Verb != "get" {
		t.Errorf("path check: %+v", got)
	}
	got := r.asked[1]
	if got.User.GetName() != "system:serviceaccount:kube-system:sa" || !got.ResourceRequest || got.APIVersion != "*" || got.APIGroup != "apps" ||
		got.Resource != "deployments" || got.Subresource != "scale" || got.Namespace != "ns" || got.Name != "n" ||
		len(got.FieldSelectorRequirements) != 1 || len(got.LabelSelectorRequirements) != 1 {
		t.Errorf("resource check: %+v", got)
	}
	if got := r.asked[2]; got.FieldSelectorParsingErr == nil || got.LabelSelectorParsingErr == nil || got.LabelSelectorRequirements != nil {
		t.Errorf("selectors that do not parse: %+v", got)
	}
}

func TestAuthorizationAnswers(t *testing.T) {
	for _, c := range []struct {
		decision authorizer.Decision
		err      error
		want     string
	}{
		{authorizer.DecisionAllow, nil, `{"decision":"allow","reason":"because","error":null}`},
		{authorizer.DecisionDeny, nil, `{"decision":"deny","reason":"because","error":null}`},
		{authorizer.DecisionNoOpinion, errors.New("down"), `{"decision":"noOpinion","reason":"because","error":"down"}`},
	} {
		w, err := answered(t, &recordingAuthorizer{decision: c.decision, err: c.err}, `[{"id":7,"kind":"authorize","verb":"get","path":"/x"}]`)
		if err != nil {
			t.Fatal(err)
		}
		var want wire.Answers
		want.Add(7, wire.Answered, []byte(c.want))
		if !reflect.DeepEqual(w.Answers.Bytes(), want.Bytes()) {
			t.Errorf("got %q, want %q", w.Answers.Bytes(), want.Bytes())
		}
	}
}

// What the core must never ask ends the request as an internal error, not as an allowed one.
func TestImpossibleQuestions(t *testing.T) {
	for _, questions := range []string{``, `[]`, `{}`, `[{"id":0,"kind":"weather"}]`, `[{"id":0,"kind":"param","params":1}]`, `[{"id":0,"kind":"paramSync","params":4294967295}]`} {
		if _, err := answered(t, &recordingAuthorizer{}, questions); err == nil {
			t.Errorf("%s: answered", questions)
		}
	}
}
