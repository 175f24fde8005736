package validating

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"

	"github.com/celgate/celgate/go/internal/wire"
)

// encode writes the request record with the roots that the plan needs (docs/record-format.md, "The request record").
func (d *dispatcher) encode(e *wire.Encoder, plan *plan, a admission.Attributes, o admission.ObjectInterfaces) {
	if plan.needs.Request {
		e.SetRequest(a)
	}
	d.encodeNamespace(e, plan, a)
	if plan.needs.ObjectLabels {
		encodeLabels(e, wire.RootObjectLabels, a.GetObject())
		encodeLabels(e, wire.RootOldObjectLabels, a.GetOldObject())
	}
	for i, version := range plan.versions {
		encodeVersion(e, i, plan, a, o, version)
	}
}

// encodeNamespace writes what the namespace lister knows. A namespace that it does not know stays absent: the core asks for it if it must.
func (d *dispatcher) encodeNamespace(e *wire.Encoder, plan *plan, a admission.Attributes) {
	var namespace *corev1.Namespace
	if name := a.GetNamespace(); name != "" {
		namespace, _ = d.namespaces.Get(name) // any error leaves it to the question
	}
	switch {
	case a.GetNamespace() == "" || isNamespaceKind(a.GetKind()):
		e.SetNull(wire.RootNamespace)
	case namespace != nil && plan.needs.NamespaceObject:
		e.SetObject(wire.RootNamespace, namespace)
	case namespace != nil:
		e.SetNull(wire.RootNamespace)
	}
	if !plan.needs.NamespaceLabels {
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

// encodeLabels writes an object's labels; null if it has none that objectSelectors could see.
func encodeLabels(e *wire.Encoder, root int, object runtime.Object) {
	if object != nil {
		accessor, err := meta.Accessor(object)
		if err == nil {
			e.SetLabels(root, accessor.GetLabels())
			return
		}
		klog.V(5).InfoS("Accessing metadata failed", "object", object, "err", err)
	}
	e.SetNull(root)
}

// encodeVersion writes object and oldObject in one version. Upstream converts both before it evaluates anything, oldObject first, and neither
// is there if one cannot be converted.
func encodeVersion(e *wire.Encoder, i int, plan *plan, a admission.Attributes, o admission.ObjectInterfaces, version schema.GroupVersionKind) {
	oldObject, err := convert(a.GetOldObject(), plan.needs.OldObject, version, o)
	var object runtime.Object
	if err == nil {
		object, err = convert(a.GetObject(), plan.needs.Object, version, o)
	}
	if err != nil {
		text := fmt.Sprintf("failed to convert object version: %v", err)
		e.SetError(wire.RootObject(i), text)
		e.SetError(wire.RootOldObject(i), text)
		return
	}
	encodeObject(e, wire.RootObject(i), object, plan.object)
	encodeObject(e, wire.RootOldObject(i), oldObject, plan.oldObject)
}

func encodeObject(e *wire.Encoder, root int, object runtime.Object, projection *wire.Projection) {
	if object == nil {
		e.SetNull(root)
		return
	}
	e.SetProjected(root, object, projection)
}

// convert gives an object in a version, nil if there is none or no policy reads it.
func convert(object runtime.Object, needed bool, version schema.GroupVersionKind, o admission.ObjectInterfaces) (runtime.Object, error) {
	if object == nil || !needed {
		return nil, nil
	}
	return admission.ConvertToGVK(object, version, o)
}
