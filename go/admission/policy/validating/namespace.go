package validating

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	"github.com/celgate/celgate/go/internal/wire"
)

// ownLabels gives the labels that namespaceSelectors see in a request that creates or updates a namespace: those of its own object, as no
// lister has them yet. own is false for other requests. Upstream tells such requests by their resource's name alone.
func ownLabels(a admission.Attributes) (labels map[string]string, own bool, err error) {
	if a.GetResource().Resource != "namespaces" || a.GetSubresource() != "" {
		return nil, false, nil
	}
	if operation := a.GetOperation(); operation != admission.Create && operation != admission.Update {
		return nil, false, nil
	}
	accessor, err := meta.Accessor(a.GetObject())
	if err != nil {
		return nil, true, selectorError(err)
	}
	return accessor.GetLabels(), true, nil
}

// selectorError is a failed namespace look-up as matching by namespaceSelector reports it.
func selectorError(err error) error {
	if apierrors.IsNotFound(err) {
		if status, ok := err.(apierrors.APIStatus); ok {
			return &apierrors.StatusError{ErrStatus: status.Status()}
		}
	}
	return apierrors.NewInternalError(err)
}

// answerNamespace looks the request's namespace up, with a request to the API server if the lister does not know it.
func (d *dispatcher) answerNamespace(ctx context.Context, w *work, id uint32, a admission.Attributes) {
	namespace, err := d.lookUp(ctx, a.GetNamespace())
	if err != nil {
		// Selectors report it in their way; where evaluation needs the object, the raw error is the request's outcome.
		w.namespaceError = err
		w.answers.Add(id, wire.Failed, []byte(selectorError(err).Error()))
		return
	}
	e := wire.Get(2)
	defer e.Put()
	e.SetObject(0, namespace)
	e.SetLabels(1, namespace.Labels)
	w.answers.Add(id, wire.Answered, e.Bytes())
}

// lookUp gives a namespace. A request for a custom resource that is called namespaces may name none, but selectors look it up all the same.
func (d *dispatcher) lookUp(ctx context.Context, name string) (*corev1.Namespace, error) {
	if name == "" {
		return d.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
	}
	return d.matcher.GetNamespace(ctx, name)
}
