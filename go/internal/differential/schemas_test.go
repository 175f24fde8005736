package differential

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
	clientopenapi "k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi/openapitest"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

var schemaCases = flag.Int("schema-cases", 400, "generated expressions per schema")

// published is the OpenAPI that client-go publishes for its own tests, a part of Kubernetes' own.
type published struct {
	discovery.DiscoveryInterface
	client clientopenapi.Client
}

func (p published) OpenAPIV3() clientopenapi.Client { return p.client }

// builtIn are kinds that it has.
var builtIn = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Pod"}, {Version: "v1", Kind: "Secret"}, {Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "Node"}, {Version: "v1", Kind: "PersistentVolumeClaim"}, {Version: "v1", Kind: "Event"}, {Version: "v1", Kind: "ResourceQuota"},
	{Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "apps", Version: "v1", Kind: "StatefulSet"},
	{Group: "apps", Version: "v1", Kind: "ControllerRevision"}, {Group: "apps", Version: "v1", Kind: "DaemonSet"},
	{Group: "batch", Version: "v1", Kind: "CronJob"}, {Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSlice"},
}

// custom are schemas as custom resources have them.
var custom = map[string]string{
	"Everything": `{"type":"object","properties":{"spec":{"type":"object","required":["a"],"properties":{
		"a":{"type":"string","maxLength":3,"enum":["x","y"]},"port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},
		"bytes":{"type":"string","format":"byte"},"date":{"type":"string","format":"date"},"time":{"type":"string","format":"date-time","nullable":true},
		"wait":{"type":"string","format":"duration"},"uuid":{"type":"string","format":"uuid"},"ratio":{"type":"number","format":"double"},
		"count":{"type":"integer","format":"int64","default":3},"on":{"type":"boolean","nullable":true},
		"names":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},"labels":{"type":"object","additionalProperties":{"type":"string"}},
		"limits":{"type":"object","additionalProperties":{"x-kubernetes-int-or-string":true}},
		"matrix":{"type":"array","items":{"type":"array","items":{"type":"integer"}}},
		"rules":{"type":"array","items":{"type":"object","properties":{"host":{"type":"string"},"paths":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"}}}}}}},
		"byName":{"type":"object","additionalProperties":{"type":"object","properties":{"weight":{"type":"integer"}}}},
		"anything":{"x-kubernetes-preserve-unknown-fields":true},"open":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
		"half":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"known":{"type":"integer"}}},
		"free":{"type":"object","additionalProperties":true},"closed":{"type":"object","additionalProperties":false,"properties":{"x":{"type":"integer"}}},
		"template":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object","properties":{"n":{"type":"integer"}}}}},
		"templates":{"type":"array","items":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}},
		"noItems":{"type":"array"},"untyped":{"description":"nothing"},"untypedItems":{"type":"array","items":{}}}},
		"status":{"type":"object","properties":{"conditions":{"type":"array","items":{"type":"object","properties":{"type":{"type":"string"},"lastTransitionTime":{"type":"string","format":"date-time"}}}}}}}}`,
	"Escaped": `{"type":"object","properties":{"kind":{"type":"string"},"apiVersion":{"type":"string"},"metadata":{"type":"object"},
		"spec":{"type":"object","properties":{"namespace":{"type":"string"},"if":{"type":"integer"},"my-key":{"type":"integer"},"my.key":{"type":"string"},"a/b":{"type":"boolean"},
		"a__b":{"type":"string"},"9lives":{"type":"integer"},"$ref":{"type":"string"},"naïve":{"type":"string"},"_":{"type":"integer"},"___":{"type":"integer"},"true":{"type":"boolean"},
		"__if__":{"type":"string"},"import":{"type":"object","properties":{"package":{"type":"object","additionalProperties":{"type":"integer"}}}}}}}}`,
	"Named": `{"type":"object","properties":{"kind":{"type":"string"},"apiVersion":{"type":"string"},
		"metadata":{"type":"object","properties":{"name":{"type":"string"},"generateName":{"type":"string"},"labels":{"type":"object","additionalProperties":{"type":"string"}}}}}}`,
	"Map":         `{"type":"object","additionalProperties":{"type":"object","properties":{"x":{"type":"array","items":{"type":"object","properties":{"y":{"type":"integer"}}}}}}}`,
	"Array":       `{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer"},"m":{"type":"object","additionalProperties":{"type":"string"}}}}}`,
	"Scalar":      `{"type":"integer"}`,
	"IntOrString": `{"x-kubernetes-int-or-string":true}`,
	"Unknown":     `{"x-kubernetes-preserve-unknown-fields":true}`,
	"Empty":       `{"type":"object"}`,
	"TwoTypes":    `{"type":["object","null"],"properties":{"a":{"type":["string","integer"]},"b":{"type":["null","string"]}}}`,
}

// schemas are all of them by the name of the type that they declare.
func schemas(t *testing.T) map[string]*spec.Schema {
	t.Helper()
	all := map[string]*spec.Schema{}
	kinds := resolver.ClientDiscoveryResolver{Discovery: published{client: openapitest.NewEmbeddedFileClient()}}
	for _, kind := range builtIn {
		resolved, err := kinds.ResolveSchema(kind)
		if err != nil {
			t.Fatal(err)
		}
		all[kind.Kind] = resolved
	}
	for name, text := range custom {
		all[name] = new(spec.Schema)
		if err := json.Unmarshal([]byte(text), all[name]); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return all
}

// Expressions over variables of declared types get upstream's verdicts: static types, and texts of what is wrong.
func TestDeclaredTypes(t *testing.T) {
	all := schemas(t)
	params := Variable{Name: "params", Type: cel.ObjectType("Params7"), Schema: all["Everything"]}
	for _, name := range sortedKeys(all) {
		t.Run(name, func(t *testing.T) {
			engines, err := NewEngines([]Variable{{Name: "object", Type: cel.ObjectType(name + "99"), Schema: all[name]}, params})
			if err != nil {
				t.Fatal(err)
			}
			g := &typedGenerator{random: rand.New(rand.NewPCG(7, uint64(len(name)))), roots: map[string]*apiservercel.DeclType{
				"object": openapi.SchemaDeclType(all[name], true), "params": openapi.SchemaDeclType(all["Everything"], true),
			}}
			verdicts := map[bool]int{}
			for _, source := range append(slices.Clone(fixedExpressions), g.expressions(*schemaCases)...) {
				verdicts[compareVerdict(t, engines, source)]++
			}
			if verdicts[false] == 0 || verdicts[true] == 0 && name != "Unknown" {
				t.Errorf("compiled or not: %v", verdicts)
			}
		})
	}
}

// compareVerdict says whether the expression compiles.
func compareVerdict(t *testing.T, engines *Engines, source string) bool {
	t.Helper()
	compiled, err := engines.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	defer compiled.Free()
	if engines.compareVerdicts(compiled) == different {
		t.Errorf("%s\nupstream: %s\nours:     %s", source, compiled.UpstreamVerdict, compiled.OurVerdict)
	}
	return strings.HasPrefix(compiled.UpstreamVerdict, "type ")
}

// fixedExpressions say something of every type, or of its names.
var fixedExpressions = []string{
	"object", "object.kind", "object.metadata.name", "object.metadata.namespace", "object.metadata.labels", "object.metadata.labels.app", "object.metadata.labels['app']",
	"object.metadata.creationTimestamp", "has(object.spec)", "has(object.spec.replicas)", "object.spec.replicas > 5", "object.spec.replicas > '5'", "object.spec + 1",
	"object.spec == object.metadata", "object == params", "object.spec == 1", "[object.spec, object.metadata]", "[object, object]", "{'a': object.spec, 'b': 1}", "[params.spec, params.status][0].a",
	"type(object)", "type(object.spec) == type(params.spec)", "object.all(k, true)", "object.exists(k, v, k == 1)", "object.map(x, x)", "object[0]", "object['spec']", "object.x",
	"object[?0]", "object.?spec", "object.?spec.?replicas.orValue('x') + 1", "optional.of(object).spec", "optional.of(object).x.y", "object.spec.containers.all(c, c.image.startsWith(1))",
	"object.spec.containers.all(c, c.nothing)", "object.spec.containers[0].ports[0].containerPort + ''", "object.spec.containers.map(c, c.name).join(',') + 1", "object.data.key", "object.data['key'] + 1",
	"Params7", "Params7.spec", "Params7.spec == type(params.spec)", "Params7.spec.labels", "type(params.spec.labels) == Params7.spec.labels", "Params7.spec.rules.@idx", "Params7{}", "Params7.spec{a: 'x'}",
	"Params7.spec{a: 1}", "Params7.spec{nothing: 1}", "map", "list", "map.x", "int", "duration", "timestamp", "type(map) == type(list)", "object.metadata{}",
	"params.spec.port + 1", "params.spec.port + 'x'", "params.spec.port == true", "params.spec.limits.cpu + 1", "params.spec.bytes + b'x'", "params.spec.bytes == 'x'", "params.spec.date.getFullYear()",
	"params.spec.time > timestamp('2020-01-01T00:00:00Z')", "params.spec.time == null", "params.spec.on == null", "params.spec.a == null", "params.spec == null", "params.spec.labels == null", "params.spec.wait + params.spec.time",
	"params.spec.wait < 5", "params.spec.uuid.size() + 1u", "params.spec.ratio > 1", "params.spec.ratio + 1", "params.spec.count + 1.0", "params.spec.names[0].x", "params.spec.names.x", "params.spec.labels.x.y", "params.spec.labels[1]",
	"params.spec.matrix[0][0].x", "params.spec.matrix.map(r, r.sum()).sum() + ''", "params.spec.rules.exists(r, r.host == 1)", "params.spec.rules.all(r, r.paths.all(p, p.path.matches(1)))", "params.spec.rules[0].paths[0].nothing",
	"params.spec.byName.all(n, params.spec.byName[n].weight > '')", "params.spec.byName.x.weight + 'a'", "params.spec.byName.all(n, v, v.weight == n)", "params.spec.byName.transformList(n, v, v.weight).sum() + ''",
	"params.spec.anything", "params.spec.open.x", "params.spec.half.known + ''", "params.spec.half.unknown", "params.spec.free.x", "params.spec.closed.x", "params.spec.template.metadata.generateName + 1", "params.spec.template.spec.n + ''",
	"params.spec.template.kind + 1", "params.spec.template.metadata.labels", "params.spec.templates[0].apiVersion + 1", "params.spec.templates[0].spec", "params.spec.noItems", "params.spec.untyped", "params.spec.untypedItems",
	"params.status.conditions.filter(c, c.type == 'a')[0].lastTransitionTime + ''", "params.status.conditions.all(c, c.lastTransitionTime < 'x')", "params.metadata.namespace", "params.metadata.uid", "params.status.conditions == params.spec.rules",
	"object.spec.namespace + 1", "object.spec.__namespace__ + 1", "object.spec.`namespace` + 1", "object.spec.`my-key` + ''", "object.spec.my__dash__key + ''", "object.spec.`my.key` + 1", "object.spec.my__dot__key + 1", "object.spec.a__slash__b + 1",
	"object.spec.a__underscores__b + 1", "object.spec.a__b", "object.spec.if + ''", "object.spec.__if__ + ''", "object.spec.true + 1", "object.spec._ + ''", "object.spec.import.package.x + ''", "object.spec.import.package['x'] + ''", "object.spec['my-key']",
	"has(object.spec.namespace)", "has(object.spec.`my-key`)", "has(object.spec.nothing)", "object.spec.?namespace.orValue(1)", "object.x[0].y + ''", "object[0].x + ''", "object[0].m.k + 1", "object.exists(o, o.x + '')",
	"quantity(object.spec.a).isLessThan(1)", "object.spec.a.find(1)", "object.a + 1", "object.b + 1", "params.spec.names.isSorted() + 1", "params.spec.rules.max()", "params.spec.rules.sort()", "cel.bind(x, object, x)",
	"params.spec.labels.transformMap(k, v, v.size())[0]", "params.spec.labels in params.spec.names", "'a' in params.spec", "'a' in params.spec.labels", "1 in params.spec.labels", "params.spec.a in params.spec.names", "params.spec.rules in params.spec.rules",
	"params.spec.on ? params.spec : params.status", "params.spec.on ? params.spec : null", "params.spec.on ? params.spec.port : params.spec", "params.spec.a ? 1 : 2", "!params.spec.a", "-params.spec.a", "params.spec && params.spec.on", "params.spec.on || params.spec.a || 1",
	"size(params.spec)", "size(params.spec.port)", "string(params.spec)", "string(params.spec.time)", "int(params.spec.time) + ''", "dyn(params.spec).nothing", "dyn(params).spec.a + 1", "[params.spec.port, 1, 'x']", "[params.spec.a, params.spec.count]", "{params.spec: 1}",
	"params.spec.names + params.spec.matrix", "params.spec.rules + [1]", "params.spec.rules + [{'host': 'x'}]", "params.spec.names + [1]", "params.spec.labels + 1", "params.spec.names == ['a']", "params.spec.names == [1]", "params.spec.labels == {'a': 1}", "params.spec.labels == {'a': 'b'}",
}

// typedGenerator makes expressions over paths into declared types, most of them with something wrong.
type typedGenerator struct {
	random *rand.Rand
	roots  map[string]*apiservercel.DeclType
}

func (g *typedGenerator) expressions(count int) []string {
	all := make([]string, count)
	for i := range all {
		all[i] = g.expression(3)
	}
	return all
}

var typedLiterals = []string{"1", "'a'", "1.5", "true", "null", "b'x'", "2u", "[]", "{}", "['a']", "[1]", "{'a': 1}", "duration('1s')", "timestamp('2020-01-01T00:00:00Z')", "optional.none()", "quantity('1')", "dyn(1)"}

var typedOperators = []string{"==", "!=", "<", ">=", "+", "-", "*", "/", "%", "&&", "||", "in"}

var typedMethods = []string{"size()", "startsWith('a')", "matches('a')", "contains($)", "split(',')", "join()", "max()", "sum()", "isSorted()", "indexOf($)", "getHours()", "orValue($)", "value()", "hasValue()", "flatten()", "distinct()", "includes($)", "lowerAscii()", "sort()", "first()", "nothing()"}

var typedFunctions = []string{"size", "string", "int", "double", "bool", "type", "dyn", "quantity", "isQuantity", "url", "ip", "duration", "timestamp", "bytes", "optional.of", "nothing"}

var typedMacros = []string{"all(x, %s)", "exists(x, %s)", "exists_one(x, %s)", "filter(x, %s)", "map(x, %s)", "map(x, x == %s, x)", "all(k, v, k == %s)", "transformList(k, v, %s)", "transformMap(k, v, %s)", "sortBy(x, %s)", "optMap(x, %s)"}

func (g *typedGenerator) expression(depth int) string {
	if depth == 0 || g.random.IntN(6) == 0 {
		if g.random.IntN(3) == 0 {
			return pick(g.random, typedLiterals...)
		}
		path, _ := g.path()
		return path
	}
	sub := func() string { return g.expression(depth - 1) }
	switch g.random.IntN(9) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s) %s (%s)", sub(), pick(g.random, typedOperators...), sub())
	case 3, 4:
		path, _ := g.path()
		return path + "." + strings.ReplaceAll(pick(g.random, typedMethods...), "$", sub())
	case 5:
		return fmt.Sprintf("%s(%s)", pick(g.random, typedFunctions...), sub())
	case 6:
		return g.macro(depth)
	case 7:
		return fmt.Sprintf("(%s) ? (%s) : (%s)", sub(), sub(), sub())
	default:
		return fmt.Sprintf("[%s, %s]", sub(), sub())
	}
}

// macro is a comprehension over a path; its variable has the type of the elements.
func (g *typedGenerator) macro(depth int) string {
	path, declared := g.path()
	inner := &typedGenerator{random: g.random, roots: map[string]*apiservercel.DeclType{"x": nil, "v": nil}}
	for name, root := range g.roots {
		inner.roots[name] = root
	}
	if declared != nil && declared.ElemType != nil {
		inner.roots["x"], inner.roots["v"] = declared.ElemType, declared.ElemType
	}
	return path + "." + fmt.Sprintf(pick(g.random, typedMacros...), inner.expression(depth-1))
}

// path goes from a variable into its type, sometimes astray.
func (g *typedGenerator) path() (string, *apiservercel.DeclType) {
	name := pick(g.random, sortedKeys(g.roots)...)
	path, declared := name, g.roots[name]
	for range 1 + g.random.IntN(6) {
		if declared == nil || g.random.IntN(12) == 0 {
			return path + g.astray(), nil
		}
		switch {
		case declared.IsObject() && len(declared.Fields) > 0:
			field := pick(g.random, sortedKeys(declared.Fields)...)
			path, declared = path+pick(g.random, ".", ".", ".", ".?")+field, declared.Fields[field].Type
		case declared.IsList():
			path, declared = path+pick(g.random, "[0]", "[0]", "[?0]", "['a']"), declared.ElemType
		case declared.IsMap():
			path, declared = path+pick(g.random, ".k", "['k']", "[?'k']", "[1]"), declared.ElemType
		default:
			return path, declared
		}
	}
	return path, declared
}

func (g *typedGenerator) astray() string {
	return pick(g.random, ".nothing", ".spec", "[0]", "['spec']", ".namespace", ".`a-b`", ".?nothing", "[object]", ".@idx", "")
}
