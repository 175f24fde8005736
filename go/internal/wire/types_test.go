package wire

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"
)

// Types with every rule that the built-in ones do not happen to use.
type (
	named   string
	flagged bool
	octets  []byte
	single  struct{ P *int32 }

	scalars struct {
		Bool flagged `json:"bool,omitempty"`
		I    int     `json:"i,omitempty"`
		I8   int8    `json:"i8,omitempty"`
		I16  int16   `json:"i16,omitempty"`
		I32  int32   `json:"i32,omitempty"`
		U    uint    `json:"u,omitempty"`
		U8   uint8   `json:"u8,omitempty"`
		U16  uint16  `json:"u16,omitempty"`
		U32  uint32  `json:"u32,omitempty"`
		U64  uint64  `json:"u64,omitempty"`
		F32  float32 `json:"f32,omitempty"`
		F64  float64 `json:"f64,omitempty"`
		N    named   `json:"n,omitempty"`
		O    octets  `json:"o,omitempty"`
		Ptr  **named `json:"ptr,omitempty"`
		Untagged,
		hidden int
		Dropped int     `json:"-"`
		Dash    int     `json:"-,"`
		Always  uint64  `json:"always"`
		Pointer *uint64 `json:"pointer"`
	}

	containers struct {
		Strings   map[named]named                `json:"strings,omitempty"`
		Bytes     map[string][]byte              `json:"bytes"`
		Octets    map[string]octets              `json:"octets,omitempty"`
		Lists     map[string][]named             `json:"lists"`
		Pointers  map[string]*scalars            `json:"pointers,omitempty"`
		Any       map[string]any                 `json:"any,omitempty"`
		Quantity  map[named]resource.Quantity    `json:"quantity"`
		Ints      map[string]int16               `json:"ints,omitempty"`
		Structs   map[string]single              `json:"structs,omitempty"`
		Maps      map[string]map[string][]single `json:"maps,omitempty"`
		Times     map[string]metav1.Time         `json:"times,omitempty"`
		Self      *containers                    `json:"self,omitempty"`
		Selves    map[string]containers          `json:"selves,omitempty"`
		Nested    [][][]named                    `json:"nested"`
		Empties   []struct{}                     `json:"empties"`
		Interface any                            `json:"interface"`
		Optional  any                            `json:"optional,omitempty"`
		Stringer  interface{ String() string }   `json:"stringer"`
	}

	unsupported1 struct {
		Array   [2]int         `json:"array,omitempty"`
		None    [0]int         `json:"none,omitempty"`
		Complex complex64      `json:"complex"`
		Uintptr uintptr        `json:"uintptr,omitempty"`
		Keys    map[int]string `json:"keys,omitempty"`
	}

	marshaled struct{ Text string }
	failing   struct{ Text string }
	viaPtr    struct{ Text string }
	promoted  struct {
		metav1.Time
		Extra string
	}

	converters struct {
		Marshaled  marshaled                  `json:"marshaled"`
		MarshaledP *marshaled                 `json:"marshaledP,omitempty"`
		Failing    failing                    `json:"failing"`
		ViaPtr     viaPtr                     `json:"viaPtr"`
		ViaPtrs    []viaPtr                   `json:"viaPtrs,omitempty"`
		Promoted   promoted                   `json:"promoted"`
		Raw        json.RawMessage            `json:"raw,omitempty"`
		RawMust    json.RawMessage            `json:"rawMust"`
		Time       time.Time                  `json:"time"`
		Duration   metav1.Duration            `json:"duration"`
		DurationP  *metav1.Duration           `json:"durationP"`
		Go         time.Duration              `json:"go"`
		Object     *unstructured.Unstructured `json:"object,omitempty"`
		Extension  *runtime.RawExtension      `json:"extension,omitempty"`
	}

	zeroer     struct{ V int }
	ptrZeroer  struct{ V int }
	zeroerFace interface{ IsZero() bool }
	zeros      struct {
		S     string            `json:"s,omitzero"`
		List  []string          `json:"list,omitzero"`
		Map   map[string]string `json:"map,omitempty,omitzero"`
		Plain single            `json:"plain,omitzero"`
		Value zeroer            `json:"value,omitzero"`
		Ptr   ptrZeroer         `json:"ptr,omitzero"`
		Point *zeroer           `json:"point,omitzero"`
		Face  zeroerFace        `json:"face,omitzero"`
		Time  metav1.Time       `json:"time,omitzero"`
		Float float64           `json:"float,omitzero"`
	}

	Level4 struct {
		D1 string `json:"d1"`
		D2 string `json:"d2"`
		D3 string `json:"d3,omitempty"`
	}
	Level3 struct {
		Level4
		C1 string `json:"c1"`
		C2 string `json:"c2,omitempty"`
	}
	Level2 struct {
		Level3 `json:",inline"`
		B      string `json:"b"`
	}
	inner struct {
		E string `json:"e"`
	}
	Behind struct {
		F    string   `json:"f"`
		G    []string `json:"g,omitempty"`
		Same string   `json:"same"`
	}
	inlined struct {
		Same    string `json:"same"`
		*Behind `json:",inline"`
		Level2
		inner
		Inline single `json:",inline"`
		Named  Level4 `json:"named"`
		error
	}
)

func (n named) String() string { return "<" + string(n) + ">" }

func (m marshaled) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"text": m.Text, "n": 1.0, "f": 1.5, "list": []any{nil, true}})
}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("cannot be converted") }

func (v *viaPtr) MarshalJSON() ([]byte, error) {
	v.Text += "!"
	return json.Marshal(v.Text)
}

func (z zeroer) IsZero() bool     { return z.V == 3 }
func (z *ptrZeroer) IsZero() bool { return z.V == 4 }

func TestOddTypesAreUpstreamsValues(t *testing.T) {
	big, text := uint64(math.MaxUint64), named("x")
	ptr := &text
	zero := &zeroer{3}
	for _, v := range []any{
		nil, true, "s", 1, int32(1), int64(1), float32(1.5), 1.5, []byte("ab"), []byte(nil), named("n"), octets{}, octets(nil), uint8(3),
		big, &big, &ptr, []string(nil), []string{}, []string{"a"}, map[string]string(nil), map[string]string{}, single{}, [1]*int{},
		&scalars{}, scalars{U64: big, Always: big, Pointer: &big, Ptr: &ptr, hidden: 1, Untagged: 2, Dropped: 3, Dash: 4, F32: 0.1},
		(*scalars)(nil), resource.MustParse("1500Mi"), metav1.Now(), (*metav1.Time)(nil), &metav1.Duration{Duration: 90 * time.Second},
		&zeros{}, &zeros{S: "x", List: []string{}, Map: map[string]string{}, Value: zeroer{3}, Ptr: ptrZeroer{4}, Point: zero, Face: zero},
		&zeros{Value: zeroer{1}, Ptr: ptrZeroer{1}, Point: &zeroer{}, Face: (*zeroer)(nil), Time: metav1.Unix(1, 0), Float: math.Copysign(0, -1)},
		&inlined{}, &inlined{Behind: &Behind{F: "f", Same: "inner"}, Same: "outer"},
		&inlined{Level2: Level2{Level3{Level4{"1", "2", "3"}, "c1", "c2"}, "b"}, inner: inner{"e"}, Named: Level4{D1: "n"}},
		&containers{Interface: named("x"), Optional: map[string]any{"a": []any{1, nil, "x", map[string]any(nil), []any(nil)}}, Stringer: text},
		&containers{Interface: &containers{}, Optional: single{new(int32)}, Stringer: metav1.Now()},
		&containers{Interface: []any{single{}, map[named]int{"a": 1}, [2]int{}, uint64(math.MaxUint64), failing{}}},
		&converters{ViaPtr: viaPtr{"a"}, ViaPtrs: []viaPtr{{"b"}}, RawMust: json.RawMessage(`[1,1.0,"x"]`), Raw: json.RawMessage(`{"a":`)},
		&converters{Promoted: promoted{metav1.Unix(1e9, 5), "x"}, Object: &unstructured.Unstructured{Object: map[string]any{"a": 1.0}}},
	} {
		compareWithUpstream(t, v)
	}
}

// oddFiller fills the types of this file.
func oddFiller(seed int64) *randfill.Filler {
	return filler(seed).MaxDepth(8).Funcs(
		func(v *any, c randfill.Continue) {
			*v = []any{nil, "x", 1, map[string]any{"a": []any{1.5}}, &zeroer{2}, &containers{}, named("n")}[c.Intn(7)]
		},
		func(v *interface{ String() string }, c randfill.Continue) { *v = named("s") },
		func(v *zeroerFace, c randfill.Continue) { *v = zeroer{c.Intn(5)} },
		func(v *error, c randfill.Continue) {},
		func(v *json.RawMessage, c randfill.Continue) { *v = json.RawMessage(documents[c.Intn(len(documents))]) },
		func(v *unstructured.Unstructured, c randfill.Continue) { v.Object = map[string]any{"kind": "x"} },
	)
}

func TestOddTypesAtRandom(t *testing.T) {
	for seed := range int64(300) {
		f := oddFiller(seed)
		for _, v := range []any{&scalars{}, &containers{}, &converters{}, &zeros{}, &inlined{}} {
			f.Fill(v)
			compareWithUpstream(t, v)
		}
	}
}

func TestUnsupportedTypesAreErrors(t *testing.T) {
	got := encodeObject(t, &unsupported1{Uintptr: 1, Keys: map[int]string{1: "a"}})
	want := mapping{Typed: true, Struct: true, Entries: map[string]any{
		"array":   failure("unsupported Go type for CEL: [2]int"),
		"complex": failure("unsupported Go type for CEL: complex64"),
		"uintptr": failure("unsupported Go type for CEL: uintptr"),
		"keys":    failure("unsupported map key type: int"),
	}}
	if d := difference("", got, want); d != "" {
		t.Error(d)
	}
	compareWithUpstream(t, &unsupported1{Uintptr: 1})
}

func TestObjectsAreNotWritten(t *testing.T) {
	v := &converters{ViaPtr: viaPtr{"a"}, ViaPtrs: []viaPtr{{"b"}}}
	q := resource.MustParse("64Mi")
	before := q.DeepCopy()
	encodeObject(t, v)
	encodeObject(t, &q)
	if v.ViaPtr.Text != "a" || v.ViaPtrs[0].Text != "b" {
		t.Errorf("a conversion wrote to the object: %v", v)
	}
	if !reflect.DeepEqual(q, before) {
		t.Errorf("quantity changed from %#v to %#v", before, q)
	}
}

func TestDepthIsBounded(t *testing.T) {
	deep := map[string]any{}
	chain := &containers{}
	for range maxDepth + 10 {
		deep = map[string]any{"a": deep}
		chain = &containers{Self: chain}
	}
	for _, obj := range []any{&unstructured.Unstructured{Object: deep}, chain} {
		v, depth := encodeObject(t, obj), 1
		for {
			m, ok := v.(mapping)
			if !ok {
				break
			}
			if v, ok = m.Entries["self"]; !ok {
				v = m.Entries["a"]
			}
			depth++
		}
		if v != failure(tooDeep) || depth != maxDepth {
			t.Errorf("%T ends with %v at depth %d", obj, v, depth)
		}
	}
}
