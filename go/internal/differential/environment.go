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

// variable is one that expressions may name; its value is a root of the record, by position.
type variable struct {
	name string
	kind *cel.Type
}

// variables are those of a policy, and some more that are typed as a policy's own variables can be.
var variables = []variable{
	{"object", cel.DynType},
	{"oldObject", cel.DynType},
	{"params", cel.DynType},
	{"request", plugincel.BuildRequestType().CelType()},
	{"namespaceObject", plugincel.BuildNamespaceType().CelType()},
	{"aBool", cel.BoolType},
	{"anInt", cel.IntType},
	{"aUint", cel.UintType},
	{"aDouble", cel.DoubleType},
	{"aString", cel.StringType},
	{"ints", cel.ListType(cel.IntType)},
	{"strings", cel.ListType(cel.StringType)},
	{"counts", cel.MapType(cel.StringType, cel.IntType)},
	{"any", cel.DynType},
	// Long texts of fixed content.
	{"texts", cel.MapType(cel.StringType, cel.StringType)},
	// Declared and never bound, as the authorizer is in places.
	{"unbound", cel.DynType},
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

const (
	authorizerName      = "authorizer"
	requestResourceName = "authorizer.requestResource"
)

// newUpstream is the environment of stored expressions, as the plugin's compiler extends it.
func newUpstream() (*cel.Env, error) {
	options := []cel.EnvOption{
		cel.Variable(authorizerName, library.AuthorizerType),
		cel.Variable(requestResourceName, library.ResourceCheckType),
	}
	for _, v := range variables {
		options = append(options, cel.Variable(v.name, v.kind))
	}
	newest := version.MajorMinor(math.MaxUint32, math.MaxUint32)
	set, err := environment.MustBaseEnvSet(newest).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        options,
		DeclTypes:         []*apiservercel.DeclType{plugincel.BuildNamespaceType(), plugincel.BuildRequestType()},
	})
	if err != nil {
		return nil, fmt.Errorf("upstream's environment: %w", err)
	}
	return set.StoredExpressionsEnv(), nil
}

// newOurs declares the same to the core.
func newOurs() (*expression.Environment, error) {
	declarations := expression.Declarations{RequestResource: &expression.Resource{
		Group: theResource.Group, Resource: theResource.Resource, Subresource: theSubresource, Namespace: theNamespace, Name: theName,
	}}
	for _, v := range variables {
		declarations.Variables = append(declarations.Variables, expression.Variable{Name: v.name, Type: typeOf(v.kind)})
	}
	return expression.NewEnvironment(declarations)
}

// typeOf is how the core is told a type.
func typeOf(t *cel.Type) expression.Type {
	name := t.TypeName()
	if t.Kind() == types.DynKind {
		name = "dyn"
	}
	declared := expression.Type{Name: name}
	for _, parameter := range t.Parameters() {
		declared.Parameters = append(declared.Parameters, typeOf(parameter))
	}
	return declared
}
