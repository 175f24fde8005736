package harness

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// Decode reads an object from JSON: of its Go type if client-go has one, else unstructured.
func Decode(data []byte) (runtime.Object, error) {
	custom := &unstructured.Unstructured{}
	if err := json.Unmarshal(data, custom); err != nil {
		return nil, err
	}
	kind := custom.GroupVersionKind()
	typed, err := clientgoscheme.Scheme.New(kind)
	if kind.Group == "meta.k8s.io" {
		// Options; the scheme knows them by the group of each resource.
		typed, err = clientgoscheme.Scheme.New(schema.GroupVersionKind{Version: "v1", Kind: kind.Kind})
	}
	if err != nil {
		return custom, nil
	}
	if err := json.Unmarshal(data, typed); err != nil {
		return nil, err
	}
	typed.GetObjectKind().SetGroupVersionKind(kind)
	return typed, nil
}

// clusterScoped are the built-in kinds without a namespace that cases use.
var clusterScoped = map[string]bool{
	"Namespace": true, "Node": true, "PersistentVolume": true, "StorageClass": true, "ClusterRole": true, "ClusterRoleBinding": true,
	"CustomResourceDefinition": true, "MutatingWebhookConfiguration": true, "ValidatingWebhookConfiguration": true,
	"ValidatingAdmissionPolicy": true, "ValidatingAdmissionPolicyBinding": true, "PriorityClass": true, "RuntimeClass": true,
}

// Create is the request that creates an object, in the namespace "default" if it names none and needs one.
func Create(object runtime.Object) (*Request, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	kind := object.GetObjectKind().GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	request := &Request{
		Object:    object,
		Kind:      kind,
		Resource:  resource,
		Namespace: accessor.GetNamespace(),
		Name:      accessor.GetName(),
		Operation: admission.Create,
	}
	switch {
	case kind == schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}:
		request.Namespace = accessor.GetName()
	case clusterScoped[kind.Kind]:
		request.Namespace = ""
	case request.Namespace == "":
		request.Namespace = "default"
		accessor.SetNamespace("default")
	}
	return request, nil
}
