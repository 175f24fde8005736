package core

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/celgate/celgate/go/internal/wire"
)

// Namespaces looks up the namespaces of requests.
type Namespaces struct {
	Lister corelisters.NamespaceLister
	Client kubernetes.Interface
}

// encode writes what the namespace lister knows. A namespace that it does not know stays absent: the core asks for it if it must.
func (n *Namespaces) encode(e *wire.Encoder, needs Needs, a admission.Attributes) {
	var namespace *corev1.Namespace
	if name := a.GetNamespace(); name != "" {
		namespace, _ = n.Lister.Get(name) // any error leaves it to the question
	}
	switch {
	case a.GetNamespace() == "" || isNamespaceKind(a.GetKind()):
		e.SetNull(wire.RootNamespace)
	case namespace != nil && needs.NamespaceObject:
		e.SetObject(wire.RootNamespace, namespace)
	case namespace != nil:
		e.SetNull(wire.RootNamespace)
	}
	if !needs.NamespaceLabels {
		return
	}
	if labels, own, err := ownLabels(a); own {
		if err != nil {
			e.SetError(wire.RootNamespaceLabels, err.Error())
		} else {
			e.SetLabels(wire.RootNamespaceLabels, labels)
		}
	} else if namespace != nil {
		e.SetLabels(wire.RootNamespaceLabels, namespace.Labels)
	}
}

// isNamespaceKind says whether a request is about a Namespace, whose namespaceObject upstream leaves null.
func isNamespaceKind(kind schema.GroupVersionKind) bool {
	return kind.Kind == "Namespace" && kind.Version == "v1" && kind.Group == ""
}

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
		return nil, true, SelectorError(err)
	}
	return accessor.GetLabels(), true, nil
}

// SelectorError is a failed namespace look-up as matching by namespaceSelector reports it.
func SelectorError(err error) error {
	if apierrors.IsNotFound(err) {
		if status, ok := err.(apierrors.APIStatus); ok {
			return &apierrors.StatusError{ErrStatus: status.Status()}
		}
	}
	return apierrors.NewInternalError(err)
}

// answer answers the core's question for the request's namespace, with a request to the API server if the lister does not know it. The
// error is why it could not be looked up: selectors report it in their way; where evaluation needs the object, it is the request's outcome.
func (n *Namespaces) answer(ctx context.Context, answers *wire.Answers, id uint32, a admission.Attributes) error {
	namespace, err := n.lookUp(ctx, a.GetNamespace())
	if err != nil {
		answers.Add(id, wire.Failed, []byte(SelectorError(err).Error()))
		return err
	}
	e := wire.Get(2)
	defer e.Put()
	e.SetObject(0, namespace)
	e.SetLabels(1, namespace.Labels)
	answers.Add(id, wire.Answered, e.Bytes())
	return nil
}

// LabelsError is why the labels that namespaceSelectors see in a request could not be looked up, as they report it. lookUp is the error of
// the look-up, if the core asked for it.
func LabelsError(a admission.Attributes, lookUp error) error {
	if _, own, err := ownLabels(a); own {
		return err
	}
	if lookUp == nil {
		return nil
	}
	return SelectorError(lookUp)
}

// lookUp gives a namespace. A request for a custom resource that is called namespaces may name none, but selectors look it up all the same.
func (n *Namespaces) lookUp(ctx context.Context, name string) (*corev1.Namespace, error) {
	if name != "" {
		namespace, err := n.Lister.Get(name)
		if !apierrors.IsNotFound(err) {
			return namespace, err
		}
	}
	// The lister may only be late.
	return n.Client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
}
