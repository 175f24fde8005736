package versions

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celgate/celgate/go/internal/cabi/expression"
)

// places calls visit for every field of a type, at any depth, with the text around its value.
func places(of reflect.Type, before, after string, visit func(path, before, after string)) {
	switch {
	case of.Kind() == reflect.Pointer:
		places(of.Elem(), before, after, visit)
	case of.Kind() == reflect.Slice:
		visit("[]", before+"[", "]"+after)
		places(of.Elem(), before+"[", "]"+after, visit)
	case of.Kind() == reflect.Map:
		visit("{}", before+`{"k":`, "}"+after)
	case of.Kind() == reflect.Struct && of != reflect.TypeFor[metav1.Time]() && of != reflect.TypeFor[metav1.FieldsV1]():
		for _, member := range members(of) {
			if member.name == "apiVersion" || member.name == "kind" {
				continue
			}
			before := fmt.Sprintf("%s{%q:", before, member.name)
			visit(member.name, before, "}"+after)
			places(member.of, before, "}"+after, visit)
		}
	}
}

// Every field of every version, alone, with values of every shape: none, null, empty, right and wrong.
func TestEveryField(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind.version+" "+kind.kind, func(t *testing.T) {
			identity := fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/%s","kind":%q`, kind.version, kind.kind)
			check(t, identity+"}")
			fields, accepted := 0, 0
			places(reflect.TypeOf(kind.object), "", "", func(_, before, after string) {
				fields++
				values := append([]string{`"Exact"`, `"Ignore"`, `"Cluster"`, `"All"`}, wrong...)
				for _, value := range values {
					// The first brace is the object's own.
					if check(t, identity+","+before[1:]+value+after) {
						accepted++
					}
				}
				// Twice, and over something that is there already.
				for _, value := range []string{"null", "{}", "[]", `"Ignore"`, `{"name":"x"}`, `[{"expression":"e"}]`} {
					check(t, identity+","+before[1:]+value+after[:len(after)-1]+","+before[1:]+`null`+after)
					check(t, identity+","+before[1:]+`{"matchPolicy":"Exact"}`+after[:len(after)-1]+","+before[1:]+value+after)
				}
				check(t, identity+","+before[1:]+`[{"name":"a","message":"m","key":"k"},{"name":"b"}]`+after[:len(after)-1]+","+
					before[1:]+`[{"expression":"e","operator":"Exists"}]`+after)
			})
			if fields < 40 || accepted < fields {
				t.Errorf("%d fields, %d objects accepted", fields, accepted)
			}
		})
	}
}

// Objects of random fields; CELGATE_OBJECTS says how many of each kind.
func TestRandomObjects(t *testing.T) {
	count := 3000
	if text := os.Getenv("CELGATE_OBJECTS"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	for i, kind := range kinds {
		t.Run(kind.version+" "+kind.kind, func(t *testing.T) {
			t.Parallel()
			accepted := 0
			for n := range count {
				g := &generator{Rand: rand.New(rand.NewPCG(uint64(i), uint64(n)))}
				if n%2 == 1 {
					g.odd, g.twice = 200, true
				}
				if check(t, g.objectOf(kind)) {
					accepted++
				}
			}
			if accepted < count/2 {
				t.Errorf("only %d of %d objects are accepted", accepted, count)
			}
		})
	}
}

// What says which object it is.
func TestIdentity(t *testing.T) {
	for _, identity := range []string{
		``, `"kind":"ValidatingAdmissionPolicy"`, `"apiVersion":"admissionregistration.k8s.io/v1"`, `"apiVersion":"","kind":""`,
		`"apiVersion":null,"kind":null`, `"apiVersion":1,"kind":"ValidatingAdmissionPolicy"`, `"apiVersion":"v1","kind":"ValidatingAdmissionPolicy"`,
		`"apiVersion":"admissionregistration.k8s.io","kind":"ValidatingAdmissionPolicy"`, `"apiVersion":"/","kind":"ValidatingAdmissionPolicy"`,
		`"apiVersion":"admissionregistration.k8s.io/","kind":"ValidatingAdmissionPolicy"`,
		`"apiVersion":"/v1","kind":"ValidatingAdmissionPolicy"`, `"apiVersion":"a/b/c","kind":"ValidatingAdmissionPolicy"`,
		`"apiVersion":"admissionregistration.k8s.io/v2","kind":"ValidatingAdmissionPolicy"`,
		`"apiVersion":"admissionregistration.k8s.io/V1","kind":"ValidatingAdmissionPolicy"`,
		`"apiVersion":"apps/v1","kind":"Deployment"`, `"apiVersion":"admissionregistration.k8s.io/v1","kind":"validatingadmissionpolicy"`,
		`"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyList"`,
		`"apiVersion":"admissionregistration.k8s.io/v1","kind":"MutatingAdmissionPolicy"`,
		`"apiVersion":"admissionregistration.k8s.io/v1alpha1","kind":"ValidatingWebhookConfiguration"`,
		`"apiVersion":"admissionregistration.k8s.io/v1beta1","kind":"ValidatingAdmissionPolicy","kind":"ValidatingAdmissionPolicyBinding"`,
		`"apiVersion":"x","apiVersion":"admissionregistration.k8s.io/v1beta1","kind":"ValidatingAdmissionPolicy","kind":null`,
		`"APIVERSION":"admissionregistration.k8s.io/v1beta1","Kind":"ValidatingAdmissionPolicy"`,
		`"apiVer\u017fion":"admissionregistration.k8s.io/v1beta1","` + "\u212a" + `ind":"ValidatingAdmissionPolicy"`,
		`"kind":"ValidatingAdmissionPolicy","KIND":"ValidatingAdmissionPolicyBinding","apiVersion":"admissionregistration.k8s.io/v1alpha1"`,
	} {
		check(t, "{"+identity+"}")
	}
	policy := `"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy"`
	for _, text := range []string{
		``, ` `, `null`, `[]`, `1`, `"x"`, `{`, `{}}`, "\ufeff{" + policy + `}`, `{` + policy + `,}`, `{` + policy + `} x`,
		"\n {" + policy + "}\n", `{` + policy + `,"spec":{"a":01}}`, `{` + policy + `,"metadata":{"name":"a` + "\t" + `"}}`,
		`{` + policy + `,"x":` + nested(9_999) + `}`, `{` + policy + `,"x":` + nested(10_000) + `}`,
		`{` + policy + `,"metadata":{"managedFields":[{"fieldsV1":` + nested(5_000) + `}]}}`,
	} {
		check(t, text)
	}
}

func nested(depth int) string {
	text := make([]byte, 0, 2*depth)
	for range depth {
		text = append(text, '[')
	}
	for range depth {
		text = append(text, ']')
	}
	return string(text)
}

// Texts that upstream gives are given as they are.
func TestMissingIdentityIsToldAsUpstream(t *testing.T) {
	for _, text := range []string{`{}`, `{"kind":"x"}`, `{"apiVersion":"v1"}`, `{"apiVersion":"a/b/c","kind":"x"}`} {
		_, _, want := upstream([]byte(text))
		_, got := expression.ReadObject([]byte(text))
		if want == nil || got == nil || want.Error() != got.Error() {
			t.Errorf("%s: upstream says %v, the core %v", text, want, got)
		}
	}
}
