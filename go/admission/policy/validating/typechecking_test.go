package validating_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi/openapitest"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/celgate/celgate/go/admission/policy/validating"
)

// publishedSchemas are those of built-in kinds that client-go publishes, and some of custom resources. They are resolved once.
type publishedSchemas struct {
	discovery.DiscoveryInterface
	resolved map[schema.GroupVersionKind]*spec.Schema
}

func (*publishedSchemas) OpenAPIV3() openapi.Client { return openapitest.NewEmbeddedFileClient() }

var customSchemas = map[string]string{
	"Widget": `{"type":"object","properties":{"kind":{"type":"string"},"apiVersion":{"type":"string"},"spec":{"type":"object","properties":{
		"size":{"type":"integer"},"port":{"x-kubernetes-int-or-string":true},"namespace":{"type":"string"},"my-key":{"type":"string"},"any":{"x-kubernetes-preserve-unknown-fields":true},
		"parts":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"weight":{"type":"number"},"made":{"type":"string","format":"date-time"}}}},
		"labels":{"type":"object","additionalProperties":{"type":"string"}},"open":{"type":"object","additionalProperties":true}}}}}`,
	"Deployment": `{"type":"object","properties":{"replicas":{"type":"integer"}}}`,
	"Untyped":    `{"x-kubernetes-preserve-unknown-fields":true}`,
	"Table":      `{"type":"object","additionalProperties":{"type":"object","properties":{"replicas":{"type":"integer"}}}}`,
}

const customGroup = "example.com"

// ResolveSchema fails for the kind Broken in another way than for one that does not exist.
func (p *publishedSchemas) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	if known, ok := p.resolved[kind]; ok {
		return known, nil
	}
	resolved := new(spec.Schema)
	if kind.Group == customGroup {
		if kind.Kind == "Broken" {
			return nil, errors.New("the schema is broken")
		}
		text, ok := customSchemas[kind.Kind]
		if !ok {
			return nil, fmt.Errorf("no kind %v: %w", kind, resolver.ErrSchemaNotFound)
		}
		if err := json.Unmarshal([]byte(text), resolved); err != nil {
			return nil, err
		}
	} else {
		var err error
		if resolved, err = (&resolver.ClientDiscoveryResolver{Discovery: p}).ResolveSchema(kind); err != nil {
			return nil, err
		}
	}
	p.resolved[kind] = resolved
	return resolved, nil
}

// resettableMapper knows custom resources only once it is reset.
type resettableMapper struct {
	meta.RESTMapper
	resets int
}

func (m *resettableMapper) KindsFor(resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	if resource.Group == customGroup && m.resets == 0 {
		return nil, &meta.NoResourceMatchError{PartialResource: resource}
	}
	return m.RESTMapper.KindsFor(resource)
}

func (m *resettableMapper) Reset() { m.resets++ }

func newMapper() *resettableMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for group, kinds := range map[schema.GroupVersion][]string{
		{Version: "v1"}: {"Pod", "Service", "ConfigMap", "Secret", "Node", "Namespace", "Event", "ResourceQuota", "LimitRange", "Endpoints", "PersistentVolume",
			"PersistentVolumeClaim", "ServiceAccount", "ReplicationController"},
		{Group: "apps", Version: "v1"}:             {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ControllerRevision"},
		{Group: "batch", Version: "v1"}:            {"Job", "CronJob"},
		{Group: customGroup, Version: "v1"}:        {"Widget", "Deployment", "Untyped", "Table", "Broken", "Missing"},
		{Group: customGroup, Version: "v2"}:        {"Widget"},
		{Group: "unpublished.io", Version: "v1"}:   {"Unpublished"},
		{Group: "discovery.k8s.io", Version: "v1"}: {"EndpointSlice"},
	} {
		for _, kind := range kinds {
			mapper.Add(group.WithKind(kind), meta.RESTScopeNamespace)
		}
	}
	return &resettableMapper{RESTMapper: mapper}
}

func rule(groups, versions, resources string) v1.NamedRuleWithOperations {
	split := func(names string) []string {
		if names == "-" {
			return nil
		}
		return strings.Split(names, ",")
	}
	return v1.NamedRuleWithOperations{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{"*"}, Rule: v1.Rule{APIGroups: split(groups), APIVersions: split(versions), Resources: split(resources)},
	}}
}

// constraints are resource rules of policies; what they come to is upstream's to say.
var constraints = [][]v1.NamedRuleWithOperations{
	{rule("apps", "v1", "deployments")},
	{rule("apps", "v1", "replicasets,deployments")},
	{rule("", "v1", "pods")},
	{rule("", "v1", "pods/status,pods/exec")},
	{rule("", "v1", "pods,pods/status"), rule("apps", "v1", "*")},
	{rule("*", "v1", "deployments")},
	{rule("apps", "v*", "deployments")},
	{rule("apps", "v1", "*")},
	{rule("apps", "v1", "deployments"), rule("*", "*", "*")},
	{rule("apps", "v1", "deployments"), rule("apps", "*", "deployments")},
	{rule("apps,batch", "v1,v2", "statefulsets,jobs,deployments,nothing,cronjobs")},
	{rule("example.com,apps", "v1", "widgets,deployments")},
	{rule("example.com", "v1,v2", "widgets")},
	{rule("example.com", "v1", "untypeds,brokens,missings,tables")},
	{rule("unpublished.io", "v1", "unpublisheds"), rule("apps", "v1", "deployments")},
	{rule("nowhere.io", "v1", "things"), rule("example.com", "v1", "widgets")},
	{rule("example.com", "v1", "widgets"), rule("nowhere.io", "v1", "things")},
	// More than ten: in one rule, and in several.
	{rule("", "v1", "pods,services,configmaps,secrets,nodes,namespaces,events,resourcequotas,limitranges,endpoints,persistentvolumes,serviceaccounts"), rule("apps", "v1", "deployments")},
	{rule("", "v1", "pods,services,configmaps,secrets,nodes,namespaces"), rule("apps,batch", "v1", "deployments,replicasets,statefulsets,daemonsets,jobs,cronjobs")},
	{rule("", "v1", "pods,pods,pods,pods,pods,pods,pods,pods,pods,services,configmaps")},
	{rule("-", "v1", "pods")}, {rule("", "-", "pods")}, {rule("", "v1", "-")},
	{}, nil,
}

var paramKinds = []*v1.ParamKind{
	nil, nil, {APIVersion: "v1", Kind: "ConfigMap"}, {APIVersion: "example.com/v1", Kind: "Widget"}, {APIVersion: "example.com/v1", Kind: "Missing"},
	{APIVersion: "a/b/c", Kind: "Widget"}, {APIVersion: "example.com/v1", Kind: "Broken"}, {APIVersion: "example.com/v1", Kind: "Untyped"}, {APIVersion: "apps/v1", Kind: "Deployment"}, {},
}

var variableSets = [][]v1.Variable{
	nil, nil,
	{{Name: "replicas", Expression: "object.spec.replicas"}, {Name: "big", Expression: "variables.replicas > 100"}, {Name: "name", Expression: "object.metadata.name"}},
	{{Name: "replicas", Expression: "object.replicas"}, {Name: "big", Expression: "variables.replicas + 'x'"}, {Name: "name", Expression: "nothing"}},
	{{Name: "replicas", Expression: "params.spec.size"}, {Name: "name", Expression: "[object.metadata.name, 'a']"}, {Name: "name", Expression: "object.metadata.labels"}, {Name: "big", Expression: "object.spec"}},
	{{Name: "__namespace__", Expression: "1"}, {Name: "big", Expression: "variables.namespace"}, {Name: "replicas", Expression: "quantity('1')"}, {Name: "name", Expression: "optional.of(object.metadata.name)"}},
}

var policyExpressions = []string{
	"object.replicas > 1", "object.spec.replicas > 1", "object.spec.replicas > '1'", "object.spec.replicas + 1 > 2 && object.metadata.name", "oldObject.spec.replicas == object.spec.replicas",
	"oldObject == null || object.metadata.namespace == oldObject.metadata.namespace", "object.spec.template.spec.containers.all(c, c.image.startsWith('a'))", "object.spec.template.spec.containers.all(c, c.imag == 1)",
	"object.spec.containers.exists(c, c.ports.exists(p, p.containerPort == '80'))", "object.metadata.labels.app == 1", "object.metadata.labels['app'].matches('[')", "has(object.metadata.labels) && 'a' in object.metadata.labels",
	"params.data.key == object.metadata.name", "params.spec.size < object.spec.replicas", "params.spec.parts.all(p, p.weight < 1 && p.made == 'x')", "params == null || params.spec.nothing", "params.spec.`my-key` == 1", "params.spec.namespace == 1",
	"request.userInfo.username == 1", "request.namespace.size() + 'x'", "request.object", "request.operation in ['CREATE', 1]", "namespaceObject.metadata.labels.env == 1", "namespaceObject.spec.nothing", "namespaceObject == object",
	"authorizer.group('').resource('pods').check('get').allowed() + 1", "authorizer.requestResource.check('get').allowed()", "authorizer.nothing", "authorizer.allowed()", "variables.replicas > 1", "variables.replicas == 'a'", "variables.big", "variables.name.startsWith('a')",
	"variables.name[0] + 1", "variables.nothing", "variables", "variables.namespace + 'a'", "variables.name.app == 1", "undeclared", "undeclared.f(x, y)", "object.f()", "object.spec.replicas.f(1, 'a')", "f(object)", "1", "'text' + 1", "'a' + object.metadata.name",
	"object", "type(object)", "object.spec == params.spec", "object == params", "[object.metadata.name, object.spec]", "{'a': object.spec, 'b': 1}", "object.spec.nothing.more", "object.data.all(k, v, v.size() > k)", "object.data.map(k, object.data[k] + 1)", "dyn(object).anything",
	"object.spec.size + 'a'", "object.spec.port + 1 > 'a'", "object.spec.any.thing", "has(object.spec.open)", "object.spec.open.thing + 'a'", "object.spec.parts.map(p, p.name).join(1)", "object.status.conditions.filter(c, c.type == 'Ready')[0].lastTransitionTime + 1", "object.all(k, object[k].replicas > 'a')",
	"object.spec.replicas >\n  1 +\n\t'tab'", "'é' + object.spec.replicas + '界'", "object.spec.selector.matchLabels.size() < 'a' ? object : params", "duration('x') == object.metadata.creationTimestamp", "object.metadata.creationTimestamp - 1",
	"object.metadata.managedFields[0].time.getHours('UTC') == ''", "object.metadata.ownerReferences.exists_one(o, o.controller > 1)", "object.spec.?replicas.orValue('a') > 1", "optional.of(object.spec).?replicas.hasValue() + 1", "cel.bind(a, 1, a)", "object.spec.template{}",
	"object.spec.selector == {'a': 'b'}", "object.spec.suspend || object.spec.suspend > 1", "[1, 'a']", "[object.metadata.name, 1].size() > 0", "'%d'.format([object.metadata.name])",
}

// typeNames are the names that upstream makes unique with the time.
var typeNames = regexp.MustCompile(`\b((?:[A-Z][a-z]+)+)\d+\b`)

func sameNames(warnings []v1.ExpressionWarning) []v1.ExpressionWarning {
	for i := range warnings {
		warnings[i].Warning = typeNames.ReplaceAllString(warnings[i].Warning, "${1}0")
	}
	return warnings
}

// typeCheckers are upstream's and ours over the same kinds.
type typeCheckers struct {
	upstream       upstream.TypeChecker
	ours           validating.TypeChecker
	theirs, mapper *resettableMapper
}

func newTypeCheckers() *typeCheckers {
	schemas := &publishedSchemas{resolved: map[schema.GroupVersionKind]*spec.Schema{}}
	c := &typeCheckers{theirs: newMapper(), mapper: newMapper()}
	c.upstream = upstream.TypeChecker{SchemaResolver: schemas, RestMapper: c.theirs}
	c.ours = validating.TypeChecker{SchemaResolver: schemas, RestMapper: c.mapper}
	return c
}

// compare returns the warnings that both give.
func (c *typeCheckers) compare(t *testing.T, policy *v1.ValidatingAdmissionPolicy) []v1.ExpressionWarning {
	t.Helper()
	original := policy.DeepCopy()
	c.theirs.resets, c.mapper.resets = 0, 0
	got := sameNames(c.ours.Check(policy))
	want := sameNames(c.upstream.Check(policy))
	if c.theirs.resets != c.mapper.resets {
		t.Errorf("the mapper was reset %d times, not %d", c.mapper.resets, c.theirs.resets)
	}
	if !reflect.DeepEqual(policy, original) {
		t.Error("the policy was changed")
	}
	// Upstream numbers type variables in the order of Go's maps.
	for retries := 0; !reflect.DeepEqual(got, want) && retries < 30 && numbersVariables(want); retries++ {
		want = sameNames(c.upstream.Check(policy))
	}
	if !reflect.DeepEqual(got, want) {
		text, _ := json.Marshal(policy.Spec)
		t.Errorf("%s\nwant %q\ngot  %q", text, want, got)
	}
	return got
}

func numbersVariables(warnings []v1.ExpressionWarning) bool {
	return slices.ContainsFunc(warnings, func(w v1.ExpressionWarning) bool { return strings.Contains(w.Warning, "_var") })
}

func typeCheckPolicy(rules []v1.NamedRuleWithOperations, params *v1.ParamKind, variables []v1.Variable, validations ...v1.Validation) *v1.ValidatingAdmissionPolicy {
	policy := &v1.ValidatingAdmissionPolicy{Spec: v1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &v1.MatchResources{ResourceRules: rules}, ParamKind: params, Variables: variables, Validations: validations,
		// Neither of these is checked.
		MatchConditions:  []v1.MatchCondition{{Name: "m", Expression: "object.nothing + 1"}},
		AuditAnnotations: []v1.AuditAnnotation{{Key: "a", ValueExpression: "object.nothing + 1"}},
	}}
	policy.Name = "p"
	return policy
}

// The examples of Kubernetes' documentation have the status that it shows.
func TestTypeCheckingOfTheDocumentation(t *testing.T) {
	checkers := newTypeCheckers()
	const text = "Kind=%s: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^\n"
	deployment, replicaSet := fmt.Sprintf("apps/v1, "+text, "Deployment"), fmt.Sprintf("apps/v1, "+text, "ReplicaSet")
	for resources, want := range map[string]string{"deployments": deployment, "deployments,replicasets": deployment + "\n" + replicaSet} {
		policy := typeCheckPolicy([]v1.NamedRuleWithOperations{rule("apps", "v1", resources)}, nil, nil, v1.Validation{Expression: "object.replicas > 1"})
		got := checkers.compare(t, policy)
		if want := []v1.ExpressionWarning{{FieldRef: "spec.validations[0].expression", Warning: want}}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: want %q, got %q", resources, want, got)
		}
	}
}

// Every expression against every set of rules.
func TestTypeCheckingAsUpstream(t *testing.T) {
	checkers := newTypeCheckers()
	random := rand.New(rand.NewPCG(1, 2))
	pick := func() v1.Validation {
		expression := policyExpressions[random.IntN(len(policyExpressions))]
		message := ""
		if random.IntN(3) == 0 {
			message = policyExpressions[random.IntN(len(policyExpressions))]
		}
		return v1.Validation{Expression: expression, MessageExpression: message}
	}
	warned := 0
	for number, rules := range constraints {
		for range 6 {
			params, variables := paramKinds[random.IntN(len(paramKinds))], variableSets[random.IntN(len(variableSets))]
			policy := typeCheckPolicy(rules, params, variables, pick(), pick(), pick())
			warned += len(checkers.compare(t, policy))
		}
		if t.Failed() {
			t.Fatalf("constraints %d", number)
		}
	}
	// Upstream compiles every variable anew for every expression, so that few policies can have all of them.
	for _, params := range paramKinds {
		for _, variables := range variableSets {
			var validations []v1.Validation
			for i := random.IntN(12); i < len(policyExpressions); i += 12 {
				validations = append(validations, v1.Validation{Expression: policyExpressions[i]})
			}
			kinds := constraints[random.IntN(17)]
			warned += len(checkers.compare(t, typeCheckPolicy(kinds, params, variables, validations...)))
		}
	}
	if warned < 200 {
		t.Errorf("only %d warnings", warned)
	}
}

func TestTypeCheckingIsTheSameEachTime(t *testing.T) {
	checkers := newTypeCheckers()
	policy := typeCheckPolicy([]v1.NamedRuleWithOperations{rule("apps", "v1", "deployments")}, &v1.ParamKind{APIVersion: "apps/v1", Kind: "Deployment"}, nil,
		v1.Validation{Expression: "object.spec + params.spec"})
	first := checkers.ours.Check(policy)
	if len(first) != 1 || !strings.Contains(first[0].Warning, "(Deployment0.spec, Deployment1.spec)") {
		t.Errorf("%q", first)
	}
	if again := checkers.ours.Check(policy); !reflect.DeepEqual(first, again) {
		t.Errorf("%q, then %q", first, again)
	}
}

func TestTypeCheckingWithoutConstraints(t *testing.T) {
	checkers := newTypeCheckers()
	policy := typeCheckPolicy(nil, nil, nil, v1.Validation{Expression: "object.nothing"})
	policy.Spec.MatchConstraints = nil
	if warnings := checkers.compare(t, policy); warnings != nil {
		t.Errorf("%q", warnings)
	}
}

// A schema is written once, as long as few others come after it.
func TestSchemasAreKeptWritten(t *testing.T) {
	schemas := &publishedSchemas{resolved: map[schema.GroupVersionKind]*spec.Schema{}}
	checker := validating.TypeChecker{SchemaResolver: schemas, RestMapper: newMapper()}
	policy := func(kind string) *v1.ValidatingAdmissionPolicy {
		return &v1.ValidatingAdmissionPolicy{Spec: v1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{rule(customGroup, "v1", strings.ToLower(kind)+"s")}},
			Validations:      []v1.Validation{{Expression: "object.spec.size == 'big'"}},
		}}
	}
	widget := schema.GroupVersionKind{Group: customGroup, Version: "v1", Kind: "Widget"}
	before := checker.Check(policy("Widget"))
	if len(before) != 1 {
		t.Fatalf("a size is a number: %v", before)
	}
	// Nobody changes a schema that was given out; doing it shows that it is not written again.
	size := schemas.resolved[widget].Properties["spec"].Properties["size"]
	size.Type = spec.StringOrArray{"string"}
	schemas.resolved[widget].Properties["spec"].Properties["size"] = size
	if again := checker.Check(policy("Widget")); !reflect.DeepEqual(again, before) {
		t.Errorf("it was written again: %v", again)
	}
	// Another schema of the kind, as after a change of its definition, is another.
	changed := *schemas.resolved[widget]
	schemas.resolved[widget] = &changed
	if warnings := checker.Check(policy("Widget")); len(warnings) != 0 {
		t.Errorf("it was not written: %v", warnings)
	}
}
