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
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/celgate/celgate/go/internal/cabi/expression"
)

// Variable is one that expressions may name; its value is a root of the record, by position.
type Variable struct {
	Name string
	Type *cel.Type
	// Schema declares a type, if it is set; Type is then an object type of its name.
	Schema *spec.Schema
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
	rootNumbers
	rootCustom
	rootText
	rootLong
	rootPatterns
	rootNothing
	rootUnbound
)

// variables are those of a policy, and some more that are typed as a policy's own variables can be.
var variables = []Variable{
	rootObject:    {Name: "object", Type: cel.DynType},
	rootOldObject: {Name: "oldObject", Type: cel.DynType},
	rootParams:    {Name: "params", Type: cel.DynType},
	rootRequest:   {Name: "request", Type: plugincel.BuildRequestType().CelType()},
	rootNamespace: {Name: "namespaceObject", Type: plugincel.BuildNamespaceType().CelType()},
	rootBool:      {Name: "aBool", Type: cel.BoolType},
	rootInt:       {Name: "anInt", Type: cel.IntType},
	rootUint:      {Name: "aUint", Type: cel.UintType},
	rootDouble:    {Name: "aDouble", Type: cel.DoubleType},
	rootString:    {Name: "aString", Type: cel.StringType},
	rootInts:      {Name: "ints", Type: cel.ListType(cel.IntType)},
	rootStrings:   {Name: "strings", Type: cel.ListType(cel.StringType)},
	rootCounts:    {Name: "counts", Type: cel.MapType(cel.StringType, cel.IntType)},
	rootAny:       {Name: "any", Type: cel.DynType},
	// Long texts of fixed content.
	rootTexts: {Name: "texts", Type: cel.MapType(cel.StringType, cel.StringType)},
	// The same in all inputs.
	rootNumbers:  {Name: "numbers", Type: cel.DynType},
	rootCustom:   {Name: "crd", Type: cel.DynType},
	rootText:     {Name: "text", Type: cel.DynType},
	rootLong:     {Name: "long", Type: cel.DynType},
	rootPatterns: {Name: "patterns", Type: cel.DynType},
	rootNothing:  {Name: "nothing", Type: cel.DynType},
	// Declared and never bound, as the authorizer is in places.
	rootUnbound: {Name: "unbound", Type: cel.DynType},
}

const (
	authorizerName      = "authorizer"
	requestResourceName = "authorizer.requestResource"
)

// Engines are Kubernetes' environment of stored expressions in cel-go and in the core, with the same declarations.
type Engines struct {
	upstream *cel.Env
	// tracing is upstream's, with the macros of an expression kept when it is parsed.
	tracing *cel.Env
	ours    *expression.Environment
	// tracked is ours with cost counted the long way: it must make no difference.
	tracked *expression.Environment
}

// NewEngines makes both with these variables alone.
func NewEngines(variables []Variable) (*Engines, error) {
	return newEngines(variables, environment.VersionedOptions{}, expression.Declarations{})
}

// NewVersionEngines makes both as new expressions see them in a minor version, with these variables alone.
func NewVersionEngines(variables []Variable, minor uint) (*Engines, error) {
	return newEngines(variables, environment.VersionedOptions{}, expression.Declarations{MinorVersion: &minor})
}

// NewPolicyEngines makes both with what a policy sees, as the plugin's compiler extends the environment, and some more variables.
func NewPolicyEngines() (*Engines, error) {
	return newEngines(variables, environment.VersionedOptions{
		EnvOptions: []cel.EnvOption{
			cel.Variable(authorizerName, library.AuthorizerType),
			cel.Variable(requestResourceName, library.ResourceCheckType),
		},
		DeclTypes: []*apiservercel.DeclType{plugincel.BuildNamespaceType(), plugincel.BuildRequestType()},
	}, expression.Declarations{RequestResource: &expression.Resource{
		Group: theResource.Group, Resource: theResource.Resource, Subresource: theSubresource, Namespace: theNamespace, Name: theName,
	}})
}

// newEngines declares the variables in both, and the rest in each one's own way.
func newEngines(variables []Variable, upstream environment.VersionedOptions, declarations expression.Declarations) (*Engines, error) {
	declarations.Variables = []expression.Variable{}
	for _, v := range variables {
		declared, kind := expression.Variable{Name: v.Name, Type: typeOf(v.Type)}, v.Type
		if v.Schema != nil {
			declared.Schema, kind = v.Schema, cel.DynType
			if declType := openapi.SchemaDeclType(v.Schema, true); declType != nil {
				declType = declType.MaybeAssignTypeName(v.Type.TypeName())
				upstream.DeclTypes, kind = append(upstream.DeclTypes, declType), declType.CelType()
			}
		}
		upstream.EnvOptions = append(upstream.EnvOptions, cel.Variable(v.Name, kind))
		declarations.Variables = append(declarations.Variables, declared)
	}
	upstream.IntroducedVersion = version.MajorMinor(1, 0)
	env, err := upstreamEnv(upstream, declarations.MinorVersion)
	if err != nil {
		return nil, fmt.Errorf("upstream's environment: %w", err)
	}
	engines := &Engines{upstream: env}
	if engines.tracing, err = env.Extend(cel.EnableMacroCallTracking()); err != nil {
		return nil, err
	}
	if engines.ours, err = expression.NewEnvironment(declarations); err != nil {
		return nil, err
	}
	declarations.Tracked = true
	engines.tracked, err = expression.NewEnvironment(declarations)
	return engines, err
}

func upstreamEnv(options environment.VersionedOptions, minor *uint) (*cel.Env, error) {
	compatible := version.MajorMinor(math.MaxUint32, math.MaxUint32)
	if minor != nil {
		compatible = version.MajorMinor(1, *minor)
	}
	set, err := environment.MustBaseEnvSet(compatible).Extend(options)
	if err != nil {
		return nil, err
	}
	if minor != nil {
		return set.NewExpressionsEnv(), nil
	}
	return set.StoredExpressionsEnv(), nil
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
