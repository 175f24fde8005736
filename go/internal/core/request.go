package core

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"

	"github.com/celgate/celgate/go/internal/wire"
)

// Encoder gives an encoder for a request's record; Put gives it back.
func (plan *Plan) Encoder() *wire.Encoder { return wire.Get(wire.RequestRoots(len(plan.Versions))) }

// Encode writes the request record with the roots that the plan needs (docs/record-format.md, "The request record").
func (plan *Plan) Encode(e *wire.Encoder, namespaces *Namespaces, a admission.Attributes, o admission.ObjectInterfaces) {
	if plan.Needs.Request {
		e.SetRequest(a)
	}
	namespaces.encode(e, plan.Needs, a)
	if plan.Needs.ObjectLabels {
		encodeLabels(e, wire.RootObjectLabels, a.GetObject())
		encodeLabels(e, wire.RootOldObjectLabels, a.GetOldObject())
	}
	for i, version := range plan.Versions {
		plan.encodeVersion(e, i, a, o, version)
	}
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
func (plan *Plan) encodeVersion(e *wire.Encoder, i int, a admission.Attributes, o admission.ObjectInterfaces, version schema.GroupVersionKind) {
	oldObject, err := convert(a.GetOldObject(), plan.Needs.OldObject, version, o)
	var object runtime.Object
	if err == nil {
		object, err = convert(a.GetObject(), plan.Needs.Object, version, o)
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

// convert gives an object in a version, nil if there is none or nobody reads it.
func convert(object runtime.Object, needed bool, version schema.GroupVersionKind, o admission.ObjectInterfaces) (runtime.Object, error) {
	if object == nil || !needed {
		return nil, nil
	}
	return admission.ConvertToGVK(object, version, o)
}
