package differential

import (
	"fmt"
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/celgate/celgate/go/internal/cabi/expression"
)

// Variable is one that expressions may name; its value is a root of the record, by position.
type Variable struct {
	Name string
	Type *cel.Type
}

// Positions in variables.
const (
	rootObject = iota
	rootOldObject
	rootParams
	rootRequest
	rootNamespace
	rootBool
	rootInt
	rootUint
	rootDouble
	rootString
	rootInts
	rootStrings
	rootCounts
	rootAny
	rootTexts
	rootUnbound
)

// variables are those of a policy, and some more that are typed as a policy's own variables can be.
var variables = []Variable{
	rootObject:    {"object", cel.DynType},
	rootOldObject: {"oldObject", cel.DynType},
	rootParams:    {"params", cel.DynType},
	rootRequest:   {"request", plugincel.BuildRequestType().CelType()},
	rootNamespace: {"namespaceObject", plugincel.BuildNamespaceType().CelType()},
	rootBool:      {"aBool", cel.BoolType},
	rootInt:       {"anInt", cel.IntType},
	rootUint:      {"aUint", cel.UintType},
	rootDouble:    {"aDouble", cel.DoubleType},
	rootString:    {"aString", cel.StringType},
	rootInts:      {"ints", cel.ListType(cel.IntType)},
	rootStrings:   {"strings", cel.ListType(cel.StringType)},
	rootCounts:    {"counts", cel.MapType(cel.StringType, cel.IntType)},
	rootAny:       {"any", cel.DynType},
	// Long texts of fixed content.
	rootTexts: {"texts", cel.MapType(cel.StringType, cel.StringType)},
	// Declared and never bound, as the authorizer is in places.
	rootUnbound: {"unbound", cel.DynType},
}

const (
	authorizerName      = "authorizer"
	requestResourceName = "authorizer.requestResource"
)

// Engines are Kubernetes' environment of stored expressions in cel-go and in the core, with the same declarations.
type Engines struct {
	upstream *cel.Env
	ours     *expression.Environment
}

// NewEngines makes both with these variables alone.
func NewEngines(variables []Variable) (*Engines, error) {
	return newEngines(variables, environment.VersionedOptions{}, nil)
}

// NewPolicyEngines makes both with what a policy sees, as the plugin's compiler extends the environment, and some more variables.
func NewPolicyEngines() (*Engines, error) {
	return newEngines(variables, environment.VersionedOptions{
		EnvOptions: []cel.EnvOption{
			cel.Variable(authorizerName, library.AuthorizerType),
			cel.Variable(requestResourceName, library.ResourceCheckType),
		},
		DeclTypes: []*apiservercel.DeclType{plugincel.BuildNamespaceType(), plugincel.BuildRequestType()},
	}, &expression.Resource{
		Group: theResource.Group, Resource: theResource.Resource, Subresource: theSubresource, Namespace: theNamespace, Name: theName,
	})
}

// newEngines declares the variables in both, and the rest in each one's own way.
func newEngines(variables []Variable, upstream environment.VersionedOptions, resource *expression.Resource) (*Engines, error) {
	declarations := expression.Declarations{Variables: []expression.Variable{}, RequestResource: resource}
	for _, v := range variables {
		upstream.EnvOptions = append(upstream.EnvOptions, cel.Variable(v.Name, v.Type))
		declarations.Variables = append(declarations.Variables, expression.Variable{Name: v.Name, Type: typeOf(v.Type)})
	}
	upstream.IntroducedVersion = version.MajorMinor(1, 0)
	set, err := environment.MustBaseEnvSet(version.MajorMinor(math.MaxUint32, math.MaxUint32)).Extend(upstream)
	if err != nil {
		return nil, fmt.Errorf("upstream's environment: %w", err)
	}
	ours, err := expression.NewEnvironment(declarations)
	return &Engines{upstream: set.StoredExpressionsEnv(), ours: ours}, err
}

// typeOf is how the core is told a type.
func typeOf(t *cel.Type) expression.Type {
	name := t.TypeName()
	if t.Kind() == types.DynKind {
		name = "dyn"
	}
	declared := expression.Type{Name: name}
	if t.DeclaredTypeName() == "wrapper("+name+")" {
		return expression.Type{Name: "wrapper", Parameters: []expression.Type{declared}}
	}
	for _, parameter := range t.Parameters() {
		declared.Parameters = append(declared.Parameters, typeOf(parameter))
	}
	return declared
}
