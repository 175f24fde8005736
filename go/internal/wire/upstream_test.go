package wire

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"
)

// encodeObject is the one root of a record of one object.
func encodeObject(t testing.TB, obj any) any {
	t.Helper()
	e := Get(1)
	defer e.Put()
	e.SetObject(0, obj)
	return decodeRecord(t, e.Bytes())[0]
}

// compareWithUpstream encodes a typed value and compares it with upstream's CEL value of it.
func compareWithUpstream(t testing.TB, obj any) {
	t.Helper()
	got, want := encodeObject(t, obj), fromCEL(common.SchemalessTypedToVal(obj))
	if d := difference(fmt.Sprintf("%T", obj), got, want); d != "" {
		t.Errorf("%s", d)
	}
}

var quantities = []string{"0", "1", "100m", "1.5", "64Mi", "1Ki", "1025", "1e3", "12E6", "0.0000000001", "1.5Gi", "-3Ti", "1000Ki",
	"123456789012345678901234567890", "9223372036854775807", "-9223372036854775808", "1023Mi", "0.5Ki", "8Ei", "7Ei", "3e7", "0.1e-4"}

var documents = []string{`{}`, `{"a":1,"b":[1.0,2.5,-0,null,true,false,"x\u00e9\ud83d\ude00\n"],"c":{"d":{"e":"f"}}}`, `[]`,
	`[[[]],{"z":1,"a":{"y":{}}}]`, `"text"`, `17`, `1.5`, `null`, `true`, ` {"a": 1 } `, `{"a":1,"a":2}`, `{"a":}`, `{"a":1} x`, ``,
	`9223372036854775808`, `{"n":[9223372036854775807,9223372036854775808,-0.0,1e2,1E+2,1e999]}`, `{"\ud800":"\ud800x"}`, "{\"\xff\":1}",
	`{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"x\"}":{".":{},"f:image":{}}}}}`}

// filler fills values at random, with texts and documents that conversions can do something with.
func filler(seed int64) *randfill.Filler {
	pick := func(c randfill.Continue, from []string) string { return from[c.Intn(len(from))] }
	moment := func(c randfill.Continue) time.Time {
		switch c.Intn(4) {
		case 0:
			return time.Time{}
		case 1:
			return time.Unix(c.Int63n(4e9), c.Int63n(1e9)).In(time.FixedZone("x", 3600*(c.Intn(24)-12)))
		}
		return time.Unix(c.Int63n(300e9)-30e9, 0)
	}
	return randfill.NewWithSeed(seed).NilChance(.3).NumElements(0, 3).MaxDepth(18).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = resource.MustParse(pick(c, quantities))
			if c.Bool() {
				_ = q.String()
			}
			if c.Intn(8) == 0 {
				*q = *resource.NewQuantity(c.Int63n(1<<40)-1<<39, []resource.Format{resource.BinarySI, resource.DecimalSI, resource.DecimalExponent}[c.Intn(3)])
			}
			if c.Intn(20) == 0 {
				*q = resource.Quantity{}
			}
		},
		func(t *metav1.Time, c randfill.Continue) { t.Time = moment(c) },
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = moment(c) },
		func(t *time.Time, c randfill.Continue) { *t = time.Unix(c.Int63n(4e9), c.Int63n(1e9)) },
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = []intstr.IntOrString{intstr.FromInt32(c.Int31()), intstr.FromString(c.String(0)), {Type: 7}}[min(2, c.Intn(20)%3)]
		},
		func(f *metav1.FieldsV1, c randfill.Continue) { f.Raw = []byte(pick(c, documents)) },
		func(r *runtime.RawExtension, c randfill.Continue) {
			if c.Bool() {
				r.Raw = []byte(pick(c, documents))
			} else if c.Bool() {
				r.Object = &metav1.CreateOptions{DryRun: []string{"All"}, FieldManager: c.String(0)}
			} else if c.Bool() {
				r.Object = &metav1.Status{Message: c.String(0)}
			}
		},
		func(o *runtime.Object, c randfill.Continue) {
			if c.Bool() {
				*o = &metav1.Status{Reason: "x", Code: 7}
			}
		},
		func(s *string, c randfill.Continue) {
			*s = []string{"", "a", "bc", "\xff\xfe\xc3\xa9\xa9", "\xa9", "naïve 😀", c.String(0)}[c.Intn(7)]
		},
	)
}

// builtinTypes lists the types of client-go's scheme, each version once, in a fixed order.
func builtinTypes() []reflect.Type {
	seen := map[reflect.Type]bool{}
	var out []reflect.Type
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		if gvk.Version != runtime.APIVersionInternal && !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b reflect.Type) int {
		return strings.Compare(a.PkgPath()+a.Name(), b.PkgPath()+b.Name())
	})
	return out
}

func TestBuiltinTypesAreUpstreamsValues(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 2
	}
	for i, typ := range builtinTypes() {
		f := filler(int64(i) + 1)
		for range rounds {
			obj := reflect.New(typ)
			f.Fill(obj.Interface())
			compareWithUpstream(t, obj.Interface())
			if t.Failed() {
				return
			}
		}
		compareWithUpstream(t, reflect.New(typ).Interface())
	}
}

// Upstream promises that its values are those of the unstructured converter, so the encoder's are too; this holds for the parts of an
// object that convert without errors.
func TestBuiltinTypesAreTheUnstructuredConvertersValues(t *testing.T) {
	for i, typ := range builtinTypes() {
		obj := reflect.New(typ).Interface()
		filler(int64(i) + 1).Fill(obj)
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			continue
		}
		got := encodeObject(t, obj)
		want := fromGo(content)
		if d := difference(typ.String(), untyped(got), want); d != "" {
			t.Errorf("%s", d)
		}
	}
}

// fromGo is the decoded form of unstructured content.
func fromGo(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := mapping{Entries: map[string]any{}}
		for k, x := range v {
			out.Entries[validUTF8(k)] = fromGo(x)
		}
		return out
	case []any:
		out := list{Items: []any{}}
		for _, x := range v {
			out.Items = append(out.Items, fromGo(x))
		}
		return out
	case string:
		return validUTF8(v)
	}
	return v
}

// untyped is a decoded value without its marks of Go types.
func untyped(v any) any {
	switch v := v.(type) {
	case list:
		for i := range v.Items {
			v.Items[i] = untyped(v.Items[i])
		}
		return list{Items: v.Items}
	case mapping:
		for k := range v.Entries {
			v.Entries[k] = untyped(v.Entries[k])
		}
		return mapping{Entries: v.Entries}
	}
	return v
}

func FuzzBuiltinTypes(f *testing.F) {
	all := builtinTypes()
	for i := range 20 {
		f.Add(uint16(i*37), rand.New(rand.NewSource(int64(i))).Int63())
	}
	f.Fuzz(func(t *testing.T, which uint16, seed int64) {
		obj := reflect.New(all[int(which)%len(all)]).Interface()
		filler(seed).Fill(obj)
		compareWithUpstream(t, obj)
	})
}
