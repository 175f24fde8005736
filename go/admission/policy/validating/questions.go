package validating

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"

	"github.com/celgate/celgate/go/internal/core"
	"github.com/celgate/celgate/go/internal/wire"
)

// inputTimeout is how long a request waits for a param set to sync or a param to be fetched, as upstream.
const inputTimeout = time.Second

// answer answers all questions of one call into w.Answers.
func (d *dispatcher) answer(ctx context.Context, a admission.Attributes, p *plan, w *work, data []byte) error {
	questions, err := core.Questions(data)
	if err != nil {
		return err
	}
	for i := range questions {
		q := &questions[i]
		answered, err := w.Answer(ctx, q, d.authorizer, &d.namespaces, a)
		if err != nil {
			return err
		}
		if answered {
			continue
		}
		switch q.Kind {
		case core.AskParam, core.AskParamSync:
			if uint64(q.Params) >= uint64(len(p.sets)) {
				return fmt.Errorf("celgate: internal error: there is no param set %d", q.Params)
			}
			set := p.sets[q.Params]
			if q.Kind == core.AskParamSync {
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

// answerParamSync waits for a set to sync and takes it over for the next call.
func (w *work) answerParamSync(set *paramSet, q *core.Question) {
	if params := set.wait(inputTimeout); params != nil {
		w.params[q.Params] = params
		w.Answers.Add(q.ID, wire.Answered, nil)
		return
	}
	w.Answers.Add(q.ID, wire.Failed, nil)
}

// answerParam fetches a param that its informer does not know (yet).
func (w *work) answerParam(set *paramSet, q *core.Question) {
	param, err := set.fetch(q.Namespace, q.Name)
	var record []byte
	if err == nil {
		record, err = set.encode(nil, param)
	}
	switch {
	case err == nil:
		w.Answers.Add(q.ID, wire.Answered, record)
	case apierrors.IsNotFound(err):
		w.Answers.Add(q.ID, wire.NotFound, nil)
	default:
		if !apierrors.IsInvalid(err) {
			utilruntime.HandleError(err)
		}
		w.Answers.Add(q.ID, wire.Failed, []byte(err.Error()))
	}
}
