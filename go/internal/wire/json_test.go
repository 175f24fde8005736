package wire

import (
	"bytes"
	"math/rand"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func compareDocument(t testing.TB, document []byte) {
	t.Helper()
	compareWithUpstream(t, &runtime.RawExtension{Raw: document})
	compareWithUpstream(t, &metav1.ManagedFieldsEntry{FieldsV1: &metav1.FieldsV1{Raw: document}})
}

var oddDocuments = []string{
	`{"a":1,}`, `{,}`, `[1,]`, `[,]`, `[1 2]`, `{"a" 1}`, `{"a":1 "b":2}`, `{a:1}`, `{1:2}`, `[01]`, `[-]`, `[1.]`, `[.5]`, `[1e]`, `[1e+]`, `[+1]`,
	`[0]`, `[-0]`, `[0.0]`, `[-0.0]`, `[0e0]`, `[1e400]`, `[123456789012345678901234567890]`, `[tru]`, `[nul]`, `[True]`, `[NaN]`,
	`["\q"]`, `["\u12"]`, `["\u12G4"]`, `["\uD83D\uDE00\uD83D"]`, `["\uDE00"]`, `["\ud83d\u0041"]`, `["\/\b\f\n\r\t\"\\"]`, "[\"a\nb\"]",
	"[\"\x00\"]", "[\"\x7f\"]", `["`, `["\`, `["\u`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `[`, `[1`, `[1,`, `{`, `[[]`, `]`, `}`, `[}`, `{]`,
	`[]]`, `{}{}`, `{} `, "\t{\n\"a\" :\r[ 1 , 2 ] , \"b\":{ } }\n", `{"b":1,"a":2,"b":3}`, `{"a":{"x":1},"a":{"y":1}}`, `{"\u0061":1,"a":2}`,
	"[\"\xff\"]", "{\"\xff\":1,\"\xfe\":2}", `{"":1}`, `{"":{},"a":[]}`, "\xf6", "\xa1\x61a\x01", "\xd9\xd9\xf7\xa1\x41a\x01",
}

func TestRawDocumentsAreUpstreamsValues(t *testing.T) {
	for _, d := range append(oddDocuments, documents...) {
		compareDocument(t, []byte(d))
	}
	var keys []string
	for i := range 60 {
		keys = append(keys, `"`+strings.Repeat("k", 60-i)+`":{"n":[`+strings.Repeat("0,", i)+`0]}`)
	}
	compareDocument(t, []byte("{"+strings.Join(keys, ",")+"}"))
	compareDocument(t, []byte("{"+strings.Join(append(keys, keys[3]), ",")+"}"))
	for _, depth := range []int{10, maxJSONDepth, maxJSONDepth + 1, 2000} {
		compareDocument(t, []byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)))
		compareDocument(t, []byte(strings.Repeat(`{"a":`, depth)+"1"+strings.Repeat("}", depth)))
	}
}

// Documents as field managers and clients write them must take the way that does not allocate.
func TestOrdinaryDocumentsAreParsedHere(t *testing.T) {
	e := Get(1)
	defer e.Put()
	for _, d := range []string{documents[1], documents[3], documents[len(documents)-1], `{}`, `[]`, `{"b":[1,{"c":null}],"a":"\u00e9"}`} {
		if _, ok := e.parse([]byte(d), 1, 1); !ok {
			t.Errorf("left to upstream: %s", d)
		}
		e.Reset(1)
	}
}

func FuzzDocument(f *testing.F) {
	for _, d := range append(oddDocuments, documents...) {
		f.Add([]byte(d))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		// A CBOR document can hold values that upstream reads from an intermediate JSON text; deep ones only take time.
		if bytes.Count(document, []byte("[")) > 5000 || len(document) > 1<<16 {
			return
		}
		compareDocument(t, document)
	})
}

// The parser and upstream's must agree on what is valid, so documents are broken at random places.
func TestMutatedDocumentsAreUpstreamsValues(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	all := append(oddDocuments, documents...)
	const bytes = "{}[]\",:\\u0d81eE+-.ntf \n\x00\xff"
	for range 4000 {
		d := []byte(all[random.Intn(len(all))])
		for range 1 + random.Intn(4) {
			at := random.Intn(len(d) + 1)
			b := bytes[random.Intn(len(bytes))]
			switch {
			case random.Intn(3) == 0:
				d = slices.Insert(d, at, b)
			case at == len(d):
			case random.Intn(2) == 0:
				d = slices.Delete(d, at, at+1)
			default:
				d[at] = b
			}
		}
		compareDocument(t, d)
		if t.Failed() {
			t.Fatalf("%q", d)
		}
	}
}
