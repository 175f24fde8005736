package wire

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/cel/common"
)

// wrapped does what upstream's dispatcher does to params without a kind.
type wrapped struct {
	metav1.TypeMeta
	nested runtime.Object
}

func (w *wrapped) MarshalJSON() ([]byte, error) { panic("not called") }

func (w *wrapped) ToUnstructured() any {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.nested)
	if err != nil {
		return nil
	}
	meta, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&w.TypeMeta)
	if err != nil {
		return nil
	}
	for k, v := range meta {
		content[k] = v
	}
	return content
}

func TestParamsAreUpstreamsValues(t *testing.T) {
	broken := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{LivenessProbe: &corev1.Probe{}}}}}
	broken.Spec.Containers[0].LivenessProbe.HTTPGet = &corev1.HTTPGetAction{}
	broken.Spec.Containers[0].LivenessProbe.HTTPGet.Port.Type = 9
	custom := func(v any) runtime.Object {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "g/v1", "kind": "K", "spec": v}}
	}
	for _, obj := range []runtime.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"a": "1"}, BinaryData: map[string][]byte{"b": {1, 2}}},
		pod(), deployment(), broken,
		custom(map[string]any{"x": 3.0, "y": 3.5, "z": int64(1) << 62, "big": 1e300, "minus": math.Copysign(0, -1), "list": []any{1.0, nil, "é\xff"}}),
		custom(math.NaN()),
		custom(nil),
		&corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, Data: map[string]string{"a": "1"}},
	} {
		record, err := EncodeParam(nil, obj, "v1", "Anything")
		if err != nil {
			t.Fatal(err)
		}
		var p any = obj
		if obj.GetObjectKind().GroupVersionKind().Empty() {
			p = &wrapped{metav1.TypeMeta{APIVersion: "v1", Kind: "Anything"}, obj}
		}
		if d := difference("", decodeRecord(t, record)[0], fromCEL(common.SchemalessTypedToVal(p))); d != "" {
			t.Error(d)
		}
	}
}

func TestParamsAreAppended(t *testing.T) {
	record, err := EncodeParam([]byte("before"), &corev1.ConfigMap{}, "v1", "ConfigMap")
	if err != nil || string(record[:10]) != "beforeCGR1" {
		t.Errorf("%q, %v", record, err)
	}
	for _, obj := range []runtime.Object{nil, (*corev1.Pod)(nil), (*unstructured.Unstructured)(nil)} {
		record, err := EncodeParam(nil, obj, "v1", "ConfigMap")
		if err != nil || decodeRecord(t, record)[0] != nil {
			t.Errorf("%T: %v, %v", obj, record, err)
		}
	}
}
