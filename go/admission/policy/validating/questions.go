package validating

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"
	admissionauthorizer "k8s.io/apiserver/pkg/admission/plugin/authorizer"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/celgate/celgate/go/internal/wire"
)

// inputTimeout is how long a request waits for a param set to sync or a param to be fetched, as upstream.
const inputTimeout = time.Second

// question is something that only Go can answer (docs/abi.md, "Questions and answers").
type question struct {
	ID   uint32 `json:"id"`
	Kind string `json:"kind"`

	// of authorize
	Account       *serviceAccountRef `json:"serviceAccount"`
	Verb          string             `json:"verb"`
	Path          *string            `json:"path"`
	Group         string             `json:"group"`
	Resource      string             `json:"resource"`
	Subresource   string             `json:"subresource"`
	FieldSelector string             `json:"fieldSelector"`
	LabelSelector string             `json:"labelSelector"`

	// of authorize and param
	Namespace string `json:"namespace"`
	Name      string `json:"name"`

	// of param and paramSync
	Params uint32 `json:"params"`
}

type serviceAccountRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
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
			if uint64(q.Params) >= uint64(len(p.view.sets)) {
				return fmt.Errorf("celgate: internal error: there is no param set %d", q.Params)
			}
			set := p.view.sets[q.Params]
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

// answerAuthorize asks the authorizer as upstream's CEL library does (k8s.io/apiserver/pkg/cel/library/authz.go).
func (d *dispatcher) answerAuthorize(w *work, q *question, a admission.Attributes) error {
	if w.authorizer == nil {
		w.authorizer = admissionauthorizer.NewCachingAuthorizer(d.authorizer)
	}
	// Upstream does not end these checks with the request.
	decision, reason, err := w.authorizer.Authorize(context.Background(), q.attributes(q.subject(a)))
	answer := struct {
		Decision string  `json:"decision"`
		Reason   string  `json:"reason"`
		Error    *string `json:"error"`
	}{Decision: "noOpinion", Reason: reason}
	switch decision {
	case authorizer.DecisionAllow:
		answer.Decision = "allow"
	case authorizer.DecisionDeny:
		answer.Decision = "deny"
	}
	if err != nil {
		text := err.Error()
		answer.Error = &text
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return fmt.Errorf("celgate: internal error: authorization: %w", err)
	}
	w.answers.Add(q.ID, wire.Answered, data)
	return nil
}

// subject is who is asked about: the request's user or a service account.
func (q *question) subject(a admission.Attributes) user.Info {
	if q.Account == nil {
		return a.GetUserInfo()
	}
	account := serviceaccount.ServiceAccountInfo{Name: q.Account.Name, Namespace: q.Account.Namespace}
	return account.UserInfo()
}

func (q *question) attributes(subject user.Info) *authorizer.AttributesRecord {
	if q.Path != nil {
		return &authorizer.AttributesRecord{Path: *q.Path, Verb: q.Verb, User: subject}
	}
	attributes := &authorizer.AttributesRecord{
		ResourceRequest: true,
		APIGroup:        q.Group,
		APIVersion:      "*",
		Resource:        q.Resource,
		Subresource:     q.Subresource,
		Namespace:       q.Namespace,
		Name:            q.Name,
		Verb:            q.Verb,
		User:            subject,
	}
	if q.FieldSelector != "" {
		selector, err := fields.ParseSelector(q.FieldSelector)
		if err != nil {
			attributes.FieldSelectorParsingErr = err
		} else {
			attributes.FieldSelectorRequirements = selector.Requirements()
		}
	}
	if q.LabelSelector != "" {
		attributes.LabelSelectorRequirements, attributes.LabelSelectorParsingErr = labels.ParseToRequirements(q.LabelSelector)
		if attributes.LabelSelectorParsingErr != nil {
			attributes.LabelSelectorRequirements = nil
		}
	}
	return attributes
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
