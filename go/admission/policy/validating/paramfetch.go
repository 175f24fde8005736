package validating

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// fetch reads a param from the API server and gives it as its informer would. A kind that is no longer known has no params.
func (s *paramSet) fetch(namespace, name string) (runtime.Object, error) {
	mapping, err := s.restMapper.RESTMapping(s.kind.GroupKind(), s.kind.Version)
	if meta.IsNoMatchError(err) {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: s.kind.Group, Resource: s.kind.Kind}, name)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to find REST mapping for %v: %w", s.kind, err)
	}
	// Not the request's context: upstream finishes this whatever becomes of the request.
	ctx, cancel := context.WithTimeout(context.Background(), inputTimeout)
	defer cancel()
	var params dynamic.ResourceInterface = s.client.Resource(mapping.Resource)
	if s.namespaced() && namespace != "" {
		params = s.client.Resource(mapping.Resource).Namespace(namespace)
	}
	param, err := params.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	return asInformed(s.kind, param)
}

// asInformed turns a fetched param into what its informer gives: a typed object without apiVersion and kind, where there is a type.
func asInformed(kind schema.GroupVersionKind, param *unstructured.Unstructured) (runtime.Object, error) {
	typed, err := clientgoscheme.Scheme.New(kind)
	if err != nil {
		return param, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(param.UnstructuredContent(), typed); err != nil {
		return nil, fmt.Errorf("failed to convert param %v to typed object: %w", kind, err)
	}
	typed.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return typed, nil
}
