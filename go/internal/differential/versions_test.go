package differential

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// What there is in each version: functions, macros, syntax, names of types and validators.
func TestVersions(t *testing.T) {
	stored, err := NewEngines(nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := signatureCalls(signatures(stored.upstream))
	var sources []string
	var variables []Variable
	for _, call := range calls {
		sources, variables = append(sources, call.source), append(variables, call.variables...)
	}
	sources = append(sources, versionedExpressions...)
	variables = append(variables, Variable{Name: "dynamic", Type: cel.DynType}, Variable{Name: "counts", Type: cel.MapType(cel.StringType, cel.IntType)})
	compiled := map[uint]int{}
	for minor := uint(20); minor <= 40; minor++ {
		engines, err := NewVersionEngines(variables, minor)
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			if compareVerdict(t, engines, source) {
				compiled[minor]++
			}
		}
	}
	for minor, previous := range map[uint]uint{27: 26, 28: 27, 29: 28, 30: 29, 31: 30, 32: 31, 33: 32, 34: 33, 37: 36} {
		if compiled[minor] <= compiled[previous] {
			t.Errorf("1.%d has %d of %d, 1.%d %d", minor, compiled[minor], len(sources), previous, compiled[previous])
		}
	}
	engines, err := NewEngines(variables)
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		compareVerdict(t, engines, source)
	}
}

// signatureCall is a call of one overload with variables of its types.
type signatureCall struct {
	source    string
	variables []Variable
}

func signatureCalls(all []*signature) []signatureCall {
	calls := make([]signatureCall, 0, len(all))
	for number, s := range all {
		bound := bindings{}
		var call signatureCall
		var args []*tree
		for i, arg := range s.args {
			name := fmt.Sprintf("v%d_%d", number, i)
			call.variables = append(call.variables, Variable{Name: name, Type: bound.apply(arg, func(string) *cel.Type { return cel.IntType })})
			args = append(args, leaf(name))
		}
		call.source = s.render(args).String()
		// The names of fields are no arguments.
		if s.function == "_?._" {
			call.source = fmt.Sprintf("v%d_0.?field", number)
		}
		calls = append(calls, call)
	}
	return calls
}

var versionedExpressions = []string{
	"dynamic.?a", "dynamic[?0]", "[?dynamic]", "{?'a': dynamic}", "optional.of(1).optMap(x, x)", "optional.of(1).optFlatMap(x, optional.of(x))", "optional_type", "has(dynamic.a)",
	"[1].all(x, x > 0)", "[1].exists(x, x > 0)", "[1].exists_one(x, x > 0)", "[1].existsOne(x, x > 0)", "[1].map(x, x)", "[1].map(x, x > 0, x)", "[1].filter(x, x > 0)",
	"[1].all(i, x, x > 0)", "[1].exists(i, x, x > 0)", "[1].existsOne(i, x, x > 0)", "[1].exists_one(i, x, x > 0)", "[1].transformList(i, x, x)", "[1].transformList(i, x, x > 0, x)",
	"counts.transformMap(k, v, v)", "counts.transformMap(k, v, v > 0, v)", "counts.transformMapEntry(k, v, {k: v})", "counts.transformMapEntry(k, v, v > 0, {k: v})", "[2, 1].sortBy(x, -x)",
	"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.URL", "kubernetes.Semver", "kubernetes.NamedFormat", "kubernetes.authorization.Authorizer", "type(dynamic) == list", "google.protobuf.Duration",
	"1 < 1.5", "1u >= 2", "1.5 > 1u", "dynamic < 1", "[1, 'a']", "{'a': 1, 'b': 'c'}", "[1, dynamic]", "duration('1')", "timestamp('x')", "'a'.matches('(')", "'%d'.format(['a'])", "'%x'.format([1])", "duration('1s')",
	"'a'.matches('[')", "'a'.find('(')", "a.`b`", "dynamic.`b-c`", "quantity('1').isLessThan(1)", "[1].includes(1)", "'a'.includes('b')", "dynamic.includes(1)", "[1].first()", "[1].last()", "optional.unwrap([optional.of(1)])",
	"[optional.none()].unwrapOpt()", "'a'.reverse()", "[1].reverse()", "lists.range(3)", "[[1]].flatten(2)", "[1].slice(0, 1)", "sets.contains([1], [1])", "math.greatest(1, 2)", "base64.encode(b'a')", "jsonpatch.escapeKey('a')", "cel.bind(x, 1, x)",
	"'a'.charAt(0)", "'a'.quote()", "strings.quote('a')", "dynamic.namespace", "dynamic.join()", "['a'].join()", "dynamic.format([1])",
}

// Reserved words are fields by their own names since 1.31.
func TestKeywordsAsFields(t *testing.T) {
	all := schemas(t)
	for minor := uint(29); minor <= 33; minor++ {
		engines, err := NewVersionEngines([]Variable{{Name: "object", Type: types.NewObjectType("Escaped1"), Schema: all["Escaped"]}}, minor)
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range []string{"object.spec.namespace + 1", "object.spec.__namespace__ + 1", "object.spec.if", "object.spec.__if__", "object.spec.while", "has(object.spec.namespace)", "object.spec.import.package.x"} {
			compareVerdict(t, engines, source)
		}
		compiled, err := engines.Compile("object.spec.namespace")
		if err != nil {
			t.Fatal(err)
		}
		if found := strings.HasPrefix(compiled.OurVerdict, "type "); found != (minor >= 31) {
			t.Errorf("1.%d: %s", minor, compiled.OurVerdict)
		}
		compiled.Free()
	}
}
