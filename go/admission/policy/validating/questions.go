package validating

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"
	admissionauthorizer "k8s.io/apiserver/pkg/admission/plugin/authorizer"

	"github.com/celgate/celgate/go/internal/authz"
	"github.com/celgate/celgate/go/internal/wire"
)

// inputTimeout is how long a request waits for a param set to sync or a param to be fetched, as upstream.
const inputTimeout = time.Second

// question is something that only Go can answer (docs/abi.md, "Questions and answers").
type question struct {
	ID   uint32 `json:"id"`
	Kind string `json:"kind"`

	// of authorize; namespace and name are those of a param, too
	authz.Check

	// of param and paramSync
	Params uint32 `json:"params"`
}

// answer answers all questions of one call into w.answers.
func (d *dispatcher) answer(ctx context.Context, a admission.Attributes, p *plan, w *work, data []byte) error {
	var questions []question
	if err := json.Unmarshal(data, &questions); err != nil {
		return fmt.Errorf("celgate: internal error: malformed questions: %w", err)
	}
	if len(questions) == 0 {
		return errors.New("celgate: internal error: input is needed, but nothing is asked")
	}
	for i := range questions {
		q := &questions[i]
		switch q.Kind {
		case "authorize":
			if err := d.answerAuthorize(w, q, a); err != nil {
				return err
			}
		case "namespace":
			d.answerNamespace(ctx, w, q.ID, a)
		case "param", "paramSync":
			if uint64(q.Params) >= uint64(len(p.sets)) {
				return fmt.Errorf("celgate: internal error: there is no param set %d", q.Params)
			}
			set := p.sets[q.Params]
			if q.Kind == "paramSync" {
				w.answerParamSync(set, q)
			} else {
				w.answerParam(set, q)
			}
		default:
			return fmt.Errorf("celgate: internal error: unknown question %q", q.Kind)
		}
	}
	return nil
}

// answerAuthorize asks the authorizer, which remembers what it was asked in this request.
func (d *dispatcher) answerAuthorize(w *work, q *question, a admission.Attributes) error {
	if w.authorizer == nil {
		w.authorizer = admissionauthorizer.NewCachingAuthorizer(d.authorizer)
	}
	data, err := q.Answer(w.authorizer, a.GetUserInfo())
	if err != nil {
		return fmt.Errorf("celgate: internal error: authorization: %w", err)
	}
	w.answers.Add(q.ID, wire.Answered, data)
	return nil
}

// answerParamSync waits for a set to sync and takes it over for the next call.
func (w *work) answerParamSync(set *paramSet, q *question) {
	if params := set.wait(inputTimeout); params != nil {
		w.params[q.Params] = params
		w.answers.Add(q.ID, wire.Answered, nil)
		return
	}
	w.answers.Add(q.ID, wire.Failed, nil)
}

// answerParam fetches a param that its informer does not know (yet).
func (w *work) answerParam(set *paramSet, q *question) {
	param, err := set.fetch(q.Namespace, q.Name)
	var record []byte
	if err == nil {
		record, err = set.encode(nil, param)
	}
	switch {
	case err == nil:
		w.answers.Add(q.ID, wire.Answered, record)
	case apierrors.IsNotFound(err):
		w.answers.Add(q.ID, wire.NotFound, nil)
	default:
		if !apierrors.IsInvalid(err) {
			utilruntime.HandleError(err)
		}
		w.answers.Add(q.ID, wire.Failed, []byte(err.Error()))
	}
}
