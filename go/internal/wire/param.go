package wire

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// EncodeParam appends the record of a param, with the value that upstream's dispatcher
// (k8s.io/apiserver/pkg/admission/plugin/policy/validating) gives it; apiVersion and kind are those of the policy's paramKind.
//
//   - An object that does not know its own kind, as typed informers deliver built-in ones, is converted to unstructured and given
//     apiVersion and kind; its value is plain.
//   - Unstructured objects go through JSON and back, so whole doubles become ints; their values are plain too.
//   - A typed object that has its kind is a typed value, like an admitted object.
func EncodeParam(dst []byte, obj runtime.Object, apiVersion, kind string) ([]byte, error) {
	e := Get(1)
	defer e.Put()
	switch {
	case obj == nil || reflect.ValueOf(obj).Kind() == reflect.Pointer && reflect.ValueOf(obj).IsNil():
		e.SetNull(0)
	case obj.GetObjectKind().GroupVersionKind().Empty():
		e.setWrappedParam(obj, apiVersion, kind)
	default:
		e.setRoot(0, e.param(obj))
	}
	return append(dst, e.Bytes()...), nil
}

// setWrappedParam follows upstream's wrappedParam.ToUnstructured: what cannot be converted is null.
func (e *Encoder) setWrappedParam(obj runtime.Object, apiVersion, kind string) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		e.SetNull(0)
		return
	}
	// The content may be the object's own.
	full := make(map[string]any, len(content)+2)
	for k, v := range content {
		full[k] = v
	}
	if apiVersion != "" {
		full["apiVersion"] = apiVersion
	}
	if kind != "" {
		full["kind"] = kind
	}
	e.setRoot(0, e.plain(full, 1, 1))
}

func (e *Encoder) param(obj runtime.Object) cell {
	if _, ok := obj.(runtime.Unstructured); !ok {
		return e.dynamic(obj, 1, 1, flagTyped)
	}
	v := reflect.ValueOf(obj)
	content, err := value.TypeReflectEntryOf(v.Type()).ToUnstructured(v)
	if err != nil {
		return e.errorCell("failed to convert to unstructured: " + err.Error())
	}
	return e.plain(content, 1, 1)
}
