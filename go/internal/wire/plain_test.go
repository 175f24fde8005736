package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/admission"
)

func compareUnstructured(t testing.TB, content map[string]any) {
	t.Helper()
	u := &unstructured.Unstructured{Object: content}
	lazy := admission.NewLazyObject(u)
	want, err := lazy.CELValue()
	if err != nil {
		t.Fatal(err)
	}
	if d := difference("", encodeObject(t, u), fromCEL(want)); d != "" {
		t.Error(d)
	}
}

func TestUnstructuredIsUpstreamsValue(t *testing.T) {
	text := "x"
	for _, content := range []map[string]any{
		nil,
		{},
		{"null": nil, "bool": true, "int": int64(math.MinInt64), "float": -0.0, "big": 1e300, "whole": 3.0, "text": "é\xff", "empty": ""},
		{"map": map[string]any{}, "nilMap": map[string]any(nil), "list": []any{}, "nilList": []any(nil)},
		{"deep": []any{[]any{map[string]any{"a": []any{nil, map[string]any{"b": 1.0}}}}, int64(1), "x", false}},
		{"int": 1, "i32": int32(2), "uint": uint(3), "u64": uint64(math.MaxUint64), "u8": uint8(1), "f32": float32(1.5)},
		{"strings": []string{"a", "b"}, "labels": map[string]string{"a": "b"}, "maps": []map[string]any{{"a": int64(1)}},
			"number": json.Number("1.5"), "named": named("n"), "flag": flagged(true), "text": &text},
		{"nilText": (*string)(nil), "struct": single{}},
		{"inf": math.Inf(1), "nan": math.NaN()},
	} {
		compareUnstructured(t, content)
	}
	if v := encodeObject(t, (*unstructured.Unstructured)(nil)); v != nil {
		t.Errorf("a nil object is %v", v)
	}
}

// CEL has values for these that records do not, so reading them is an error.
func TestUnstructuredWithoutRecordForm(t *testing.T) {
	for _, v := range []any{[]byte("a"), time.Second, time.Time{}, map[int]string{1: "a"}} {
		got := encodeObject(t, &unstructured.Unstructured{Object: map[string]any{"v": v}}).(mapping).Entries["v"]
		if want := failure(types.UnsupportedRefValConversionErr(v).(*types.Err).String()); got != want {
			t.Errorf("%T is %v, want %v", v, got, want)
		}
	}
}

func TestInvalidUTF8IsReplacedByteByByte(t *testing.T) {
	// Each half is invalid although their concatenation in the heap is not.
	got := encodeObject(t, []string{"\xc3", "\xa9", "a\xe2\x82", "\xac"})
	want := list{Typed: true, Items: []any{"\ufffd", "\ufffd", "a\ufffd\ufffd", "\ufffd"}}
	if d := difference("", got, want); d != "" {
		t.Error(d)
	}
	got = encodeObject(t, map[string]string{"\xff": "\xffé"})
	if d := difference("", got, mapping{Typed: true, Entries: map[string]any{"\ufffd": "\ufffdé"}}); d != "" {
		t.Error(d)
	}
}

func FuzzUnstructured(f *testing.F) {
	for _, d := range documents {
		f.Add([]byte(fmt.Sprintf(`{"a":%s}`, d)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(data, &u.Object); err != nil || hasMergedKeys(u.Object) {
			return
		}
		compareUnstructured(t, u.Object)
	})
}

// hasMergedKeys tells whether replacing invalid bytes may make two keys equal.
func hasMergedKeys(m map[string]any) bool { return strings.ContainsRune(fmt.Sprint(m), '\ufffd') }
