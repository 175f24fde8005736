package versions

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/api/admissionregistration/v1alpha1"
	"k8s.io/api/admissionregistration/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kind is a type of objects.
type kind struct {
	version, kind string
	object        any
}

var kinds = []kind{
	{"v1", "ValidatingAdmissionPolicy", v1.ValidatingAdmissionPolicy{}},
	{"v1", "ValidatingAdmissionPolicyBinding", v1.ValidatingAdmissionPolicyBinding{}},
	{"v1beta1", "ValidatingAdmissionPolicy", v1beta1.ValidatingAdmissionPolicy{}},
	{"v1beta1", "ValidatingAdmissionPolicyBinding", v1beta1.ValidatingAdmissionPolicyBinding{}},
	{"v1alpha1", "ValidatingAdmissionPolicy", v1alpha1.ValidatingAdmissionPolicy{}},
	{"v1alpha1", "ValidatingAdmissionPolicyBinding", v1alpha1.ValidatingAdmissionPolicyBinding{}},
}

// member is a field of a struct as JSON has it.
type member struct {
	name string
	of   reflect.Type
}

// members gives a struct's fields, those of inlined structs included.
func members(of reflect.Type) []member {
	var all []member
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && field.Anonymous {
			all = append(all, members(field.Type)...)
			continue
		}
		all = append(all, member{name, field.Type})
	}
	return all
}

// texts are values for strings of types that do not take any.
var texts = map[string][]string{
	"FailurePolicyType": {"Fail", "Ignore"},
	"MatchPolicyType":   {"Exact", "Equivalent"},
	"ScopeType":         {"*", "Cluster", "Namespaced"},
}

var anyTexts = []string{`""`, `"a"`, `"object.spec"`, `"Deny"`, `"é\n\u0041\ud83d\ude00"`, `"\ud800x"`, "\"\xff\"", `"a.b/c"`, `"\/<&>"`}

// wrong are values of every shape.
var wrong = []string{`null`, `true`, `0`, `-1`, `1.5`, `1e3`, `9223372036854775808`, `""`, `"x"`, `"Fail"`, `"2020-01-01T00:00:00Z"`,
	`"2020-01-01T25:00:00Z"`, `[]`, `[null]`, `["x"]`, `[{}]`, `{}`, `{"x":null}`, `{"x":"y"}`, `{"name":"n"}`, `{"x":[{"y":1}]}`}

// generator writes the JSON of random values, mostly fitting their types.
type generator struct {
	*rand.Rand
	// odd is one in how many values is something else; 0 is none.
	odd int
	// twice allows fields that come twice.
	twice bool
}

func (g *generator) pick(from []string) string { return from[g.IntN(len(from))] }

func (g *generator) space() string { return g.pick([]string{"", "", "", " ", "\n\t", "\r "}) }

func (g *generator) value(of reflect.Type) string {
	if g.odd > 0 && g.IntN(g.odd) == 0 {
		return g.pick(wrong)
	}
	switch of {
	case reflect.TypeFor[metav1.Time]():
		return g.pick([]string{`null`, `"2020-01-01T00:00:00Z"`, `"2020-02-29T1:00:00.5+01:00"`})
	case reflect.TypeFor[metav1.FieldsV1]():
		return g.pick([]string{`null`, `{}`, `{"f:spec":{"f:x":{}}}`})
	}
	switch of.Kind() {
	case reflect.Pointer:
		if g.IntN(8) == 0 {
			return "null"
		}
		return g.value(of.Elem())
	case reflect.Struct:
		return g.object(of)
	case reflect.Slice:
		return g.list("[", "]", func(int) string { return g.value(of.Elem()) })
	case reflect.Map:
		return g.list("{", "}", func(i int) string {
			return fmt.Sprintf(`"%c"%s:%s%s`, 'a'+i, g.space(), g.space(), g.value(of.Elem()))
		})
	case reflect.String:
		if of, found := texts[of.Name()]; found {
			return strconv.Quote(g.pick(of))
		}
		return g.pick(anyTexts)
	case reflect.Int64:
		return strconv.Itoa(g.IntN(100) - 50)
	case reflect.Bool:
		return g.pick([]string{"true", "false"})
	}
	panic("no values of " + of.String())
}

func (g *generator) list(open, closing string, element func(i int) string) string {
	elements := make([]string, g.IntN(3))
	for i := range elements {
		elements[i] = g.space() + element(i) + g.space()
	}
	return open + strings.Join(elements, ",") + g.space() + closing
}

func (g *generator) object(of reflect.Type) string {
	var fields []string
	add := func(name string, of reflect.Type) {
		fields = append(fields, fmt.Sprintf("%s%q%s:%s%s", g.space(), name, g.space(), g.space(), g.value(of)))
	}
	for _, member := range members(of) {
		if member.name == "apiVersion" || member.name == "kind" || g.IntN(3) == 0 {
			continue
		}
		add(member.name, member.of)
		// Once for a list, since upstream's decoder reuses its array's elements that a shorter list hides.
		if g.twice && g.IntN(30) == 0 {
			g.twice = false
			add(member.name, member.of)
		}
	}
	if g.odd > 0 && g.IntN(g.odd) == 0 {
		fields = append(fields, g.pick([]string{`"unknown":{"x":[1,{}]}`, `"Spec":{}`, `"NAME":"x"`, `"":0`, `"a\"b":1`, `"é\u0001":1`}))
	}
	g.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return "{" + strings.Join(fields, ",") + "}"
}

// objectOf writes an object of a kind, with fields for its version and kind.
func (g *generator) objectOf(kind kind) string {
	body := strings.TrimPrefix(g.object(reflect.TypeOf(kind.object)), "{")
	identity := fmt.Sprintf(`{"apiVersion":"admissionregistration.k8s.io/%s","kind":%q`, kind.version, kind.kind)
	if strings.TrimSpace(body) != "}" {
		identity += ","
	}
	return identity + body
}
