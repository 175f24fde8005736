package core

import (
	"context"

	"k8s.io/apiserver/pkg/admission"
	admissionauthorizer "k8s.io/apiserver/pkg/admission/plugin/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/celgate/celgate/go/internal/cabi"
	"github.com/celgate/celgate/go/internal/wire"
)

// Work is what one request needs besides its record; it is reused.
type Work struct {
	Scratch *cabi.Scratch
	Answers wire.Answers
	// NamespaceError is why the request's namespace could not be looked up.
	NamespaceError error

	// authorizer remembers what it was asked in this request; nil before the first time.
	authorizer authorizer.UnconditionalAuthorizer
}

// NewWork makes a work.
func NewWork() Work { return Work{Scratch: cabi.NewScratch()} }

// Reset ends the request, so that another can begin.
func (w *Work) Reset() {
	w.Scratch.Reset()
	w.Answers.Reset()
	w.authorizer, w.NamespaceError = nil, nil
}

// Answer answers a question that does not depend on the plugin; answered is false for others. ctx is that of a namespace's look-up.
func (w *Work) Answer(ctx context.Context, q *Question, authz authorizer.UnconditionalAuthorizer, namespaces *Namespaces, a admission.Attributes) (answered bool, err error) {
	switch q.Kind {
	case AskAuthorize:
		if w.authorizer == nil {
			w.authorizer = admissionauthorizer.NewCachingAuthorizer(authz)
		}
		return true, q.authorize(&w.Answers, w.authorizer, a.GetUserInfo())
	case AskNamespace:
		w.NamespaceError = namespaces.answer(ctx, &w.Answers, q.ID, a)
		return true, nil
	}
	return false, nil
}

// SameSlice says whether two slices are the same memory: sources give another one when something has changed.
func SameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
