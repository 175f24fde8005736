package harness

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// stateClient reads namespaces of a State.
type stateClient struct {
	kubernetes.Interface // nil: what is not overridden must not be called
	state                *State
}

// CoreV1 implements kubernetes.Interface.
func (c stateClient) CoreV1() typedcorev1.CoreV1Interface { return stateCore{state: c.state} }

type stateCore struct {
	typedcorev1.CoreV1Interface
	state *State
}

// Namespaces implements typedcorev1.NamespacesGetter.
func (c stateCore) Namespaces() typedcorev1.NamespaceInterface {
	return stateNamespaces{state: c.state}
}

type stateNamespaces struct {
	typedcorev1.NamespaceInterface
	state *State
}

// Get implements typedcorev1.NamespaceInterface.
func (c stateNamespaces) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	if namespace, ok := c.state.get(namespacesResource, name).(*corev1.Namespace); ok {
		return namespace, nil
	}
	return nil, apierrors.NewNotFound(namespacesResource.GroupResource(), name)
}

// stateDynamic reads all objects of a State.
type stateDynamic struct{ state *State }

// Resource implements dynamic.Interface.
func (c stateDynamic) Resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return stateResource{state: c.state, resource: resource}
}

type stateResource struct {
	dynamic.NamespaceableResourceInterface
	state     *State
	resource  schema.GroupVersionResource
	namespace string
}

// Namespace implements dynamic.NamespaceableResourceInterface.
func (c stateResource) Namespace(namespace string) dynamic.ResourceInterface {
	c.namespace = namespace
	return c
}

// Get implements dynamic.ResourceInterface.
func (c stateResource) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	if c.state.reading != nil {
		c.state.reading()
	}
	key := name
	if c.namespace != "" {
		key = c.namespace + "/" + name
	}
	object := c.state.get(c.resource, key)
	if object == nil {
		return nil, apierrors.NewNotFound(c.resource.GroupResource(), name)
	}
	return asUnstructured(object)
}
