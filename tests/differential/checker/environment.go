package main

import (
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

var (
	namespaceType = plugincel.BuildNamespaceType()
	requestType   = plugincel.BuildRequestType()
)

// stored is the environment that stored expressions see.
var stored = environment.MustBaseEnvSet(version.MajorMinor(math.MaxUint32, math.MaxUint32))

// policyEnvironment is an environment and the declared type of `variables`, to which fields can be added.
type policyEnvironment struct {
	*cel.Env
	variables *apiservercel.DeclType
}

// newPolicyEnvironment is the environment that the plugin's composition makes for one policy.
func newPolicyEnvironment(params, authorizer bool) (policyEnvironment, error) {
	variables := apiservercel.NewObjectType("kubernetes.variables", map[string]*apiservercel.DeclField{})
	env, err := extend(stored.StoredExpressionsEnv(), []*apiservercel.DeclType{variables}, cel.Variable("variables", variables.CelType()))
	if err != nil {
		return policyEnvironment{}, err
	}
	options := []cel.EnvOption{
		cel.Variable("object", cel.DynType),
		cel.Variable("oldObject", cel.DynType),
		cel.Variable("namespaceObject", namespaceType.CelType()),
		cel.Variable("request", requestType.CelType()),
	}
	if params {
		options = append(options, cel.Variable("params", cel.DynType))
	}
	if authorizer {
		options = append(options,
			cel.Variable("authorizer", library.AuthorizerType),
			cel.Variable("authorizer.requestResource", library.ResourceCheckType))
	}
	env, err = extend(env, []*apiservercel.DeclType{namespaceType, requestType}, options...)
	return policyEnvironment{env, variables}, err
}

func extend(env *cel.Env, types []*apiservercel.DeclType, options ...cel.EnvOption) (*cel.Env, error) {
	provider := apiservercel.NewDeclTypeProvider(types...)
	provider.SetRecognizeKeywordAsFieldName(true)
	providerOptions, err := provider.EnvOptions(env.CELTypeProvider())
	if err != nil {
		return nil, err
	}
	return env.Extend(append(options, providerOptions...)...)
}

// declare makes a variable of a policy known by the type of its expression (nil if it does not compile).
func (e policyEnvironment) declare(name string, t *cel.Type) {
	e.variables.Fields[name] = apiservercel.NewDeclField(name, declaredType(t), true, nil, nil)
}

// declaredType is the plugin's convertCelTypeToDeclType.
func declaredType(t *cel.Type) *apiservercel.DeclType {
	if t == nil {
		return apiservercel.DynType
	}
	scalars := []*apiservercel.DeclType{
		apiservercel.AnyType, apiservercel.BoolType, apiservercel.BytesType, apiservercel.DoubleType,
		apiservercel.DurationType, apiservercel.IntType, apiservercel.NullType, apiservercel.StringType,
		apiservercel.TimestampType, apiservercel.UintType,
	}
	for _, scalar := range scalars {
		if scalar.CelType() == t {
			return scalar
		}
	}
	parameters := t.Parameters()
	if t.HasTrait(traits.ContainerType|traits.IndexerType) && len(parameters) == 1 {
		return apiservercel.NewListType(declaredType(parameters[0]), -1)
	}
	if t.HasTrait(traits.ContainerType|traits.IndexerType) && len(parameters) == 2 {
		return apiservercel.NewMapType(declaredType(parameters[0]), declaredType(parameters[1]), -1)
	}
	return apiservercel.DynType
}
