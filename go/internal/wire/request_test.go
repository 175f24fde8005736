package wire

import (
	"encoding/binary"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/utils/ptr"
)

func attributes(subresource, name, namespace string, options runtime.Object, dryRun bool, u user.Info) admission.Attributes {
	return admission.NewAttributesRecord(nil, nil, schema.GroupVersionKind{Group: "apps", Version: "v1beta1", Kind: "Deployment"}, namespace, name,
		schema.GroupVersionResource{Group: "apps", Version: "v1beta1", Resource: "deployments"}, subresource, admission.Update, options, dryRun, u)
}

func TestRequestIsUpstreamsValue(t *testing.T) {
	create := &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "CreateOptions"}, DryRun: []string{"All"},
		FieldManager: "m\xff<>&\u2028", FieldValidation: "Strict"}
	deletion := &metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](1 << 60), OrphanDependents: ptr.To(false), DryRun: []string{},
		PropagationPolicy: ptr.To(metav1.DeletePropagationForeground), Preconditions: &metav1.Preconditions{ResourceVersion: ptr.To("")},
		IgnoreStoreReadErrorWithClusterBreakingPotential: ptr.To(true)}
	full := &user.DefaultInfo{Name: "alice", UID: "42", Groups: []string{"a", "b"}, Extra: map[string][]string{"k": {"v", "w"}, "nil": nil, "empty": {}}}
	for _, a := range []admission.Attributes{
		attributes("", "", "", nil, false, nil),
		attributes("scale", "n", "ns", create, true, full),
		attributes("", "n", "", deletion, true, &user.DefaultInfo{}),
		attributes("", "n", "", (*metav1.DeleteOptions)(nil), false, &user.DefaultInfo{Extra: map[string][]string{}, Groups: []string{}}),
		attributes("", "n", "", &metav1.UpdateOptions{FieldManager: "x"}, false, full),
		attributes("", "n", "", &metav1.PatchOptions{Force: ptr.To(true)}, false, full),
		attributes("", "n", "", &corev1.PodExecOptions{Command: []string{"sh"}, Stdin: true}, false, full),
	} {
		e := Get(RequestRoots(0))
		e.SetRequest(a)
		got := decodeRecord(t, e.Bytes())[RootRequest]
		e.Put()
		want := fromCEL(common.SchemalessTypedToVal(cel.CreateAdmissionRequest(a, metav1.GroupVersionResource{}, metav1.GroupVersionKind{}))).(mapping)
		delete(want.Entries, "kind")
		delete(want.Entries, "resource")
		if d := difference("request", got, want); d != "" {
			t.Error(d)
		}
	}
}

func TestRoots(t *testing.T) {
	e := Get(RequestRoots(2))
	defer e.Put()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Labels: map[string]string{"a": "b", "c": "d"}}}
	e.SetObject(RootNamespace, (*corev1.Namespace)(nil))
	e.SetLabels(RootObjectLabels, pod.Labels)
	e.SetLabels(RootOldObjectLabels, nil)
	e.SetError(RootNamespaceLabels, `namespaces "x" not found`)
	e.SetObject(RootObject(0), pod)
	e.SetNull(RootOldObject(0))
	e.SetError(RootOldObject(1), "failed to convert")
	roots := decodeRecord(t, e.Bytes())
	want := []any{absent{}, nil, mapping{Typed: true, Entries: map[string]any{"a": "b", "c": "d"}}, mapping{Typed: true, Entries: map[string]any{}},
		failure(`namespaces "x" not found`), fromCEL(common.SchemalessTypedToVal(pod)), nil, absent{}, failure("failed to convert")}
	for i := range want {
		if d := difference("", roots[i], want[i]); d != "" {
			t.Errorf("root %d%s", i, d)
		}
	}
	if again := e.Bytes(); len(again) == 0 {
		t.Error("second Bytes is empty")
	}
	e.Reset(1)
	if got := decodeRecord(t, e.Bytes()); len(got) != 1 || got[0] != (absent{}) {
		t.Errorf("after Reset: %v", got)
	}
}

// Two times in the same second read the same but are not equal inside whole-struct equality, so the text is followed by nanoseconds.
func TestTimesKeepTheirNanoseconds(t *testing.T) {
	e := Get(1)
	defer e.Put()
	e.SetObject(0, []metav1.Time{metav1.Unix(1e9, 123456), metav1.Unix(1e9, 0)})
	record := e.Bytes()
	cells := int(binary.LittleEndian.Uint32(record[4:]))
	heap := string(record[16+16*cells:])
	if want := "2001-09-09T01:46:40Z000123456" + "2001-09-09T01:46:40Z000000000"; heap != want {
		t.Errorf("heap %q, want %q", heap, want)
	}
	for i := 1; i <= 2; i++ {
		if c := record[16+16*i:]; c[0] != tagString || c[1] != flagTime {
			t.Errorf("cell %d: %v", i, c[:2])
		}
	}
}

func TestQuantitiesAreMarked(t *testing.T) {
	e := Get(1)
	defer e.Put()
	for _, text := range quantities {
		e.Reset(1)
		e.SetObject(0, corev1.ResourceList{"a": quantity(text)})
		record := e.Bytes()
		if c := record[16+16*2:]; c[0] != tagString || c[1] != flagQuantity {
			t.Errorf("%s: %v", text, c[:2])
		}
	}
}

func TestRecordsDoNotLeakIntoEachOther(t *testing.T) {
	e := Get(1)
	defer e.Put()
	all := slices.Collect(maps.Keys(map[any]bool{pod(): true, &corev1.ConfigMap{Data: map[string]string{"k": "v"}}: true, deployment(): true}))
	for range 3 {
		for _, obj := range all {
			e.Reset(1)
			e.SetObject(0, obj)
			if d := difference("", decodeRecord(t, e.Bytes())[0], fromCEL(common.SchemalessTypedToVal(obj))); d != "" {
				t.Error(d)
			}
		}
	}
}
