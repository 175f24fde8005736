package differential

import (
	"fmt"
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/celgate/celgate/go/internal/cabi/expression"
)

// CostLimit is Kubernetes' for one expression.
const CostLimit = costLimit

// Variable is one that an environment declares.
type Variable struct {
	Name string
	Type *cel.Type
}

// Environments are Kubernetes' environment in cel-go and in the core, with the same variables.
type Environments struct {
	upstream *cel.Env
	Ours     *expression.Environment
}

// NewEnvironments makes both.
func NewEnvironments(variables []Variable) (*Environments, error) {
	var options []cel.EnvOption
	declarations := expression.Declarations{Variables: []expression.Variable{}}
	for _, v := range variables {
		options = append(options, cel.Variable(v.Name, v.Type))
		declarations.Variables = append(declarations.Variables, expression.Variable{Name: v.Name, Type: typeOf(v.Type)})
	}
	newest := version.MajorMinor(math.MaxUint32, math.MaxUint32)
	set, err := environment.MustBaseEnvSet(newest).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        options,
	})
	if err != nil {
		return nil, fmt.Errorf("upstream's environment: %w", err)
	}
	ours, err := expression.NewEnvironment(declarations)
	return &Environments{upstream: set.StoredExpressionsEnv(), Ours: ours}, err
}

// CompileUpstream returns the expression's type and its program.
func (e *Environments) CompileUpstream(source string) (*cel.Type, cel.Program, error) {
	ast, program, err := compileUpstream(e.upstream, source)
	if err != nil {
		return nil, nil, err
	}
	return ast.OutputType(), program, nil
}

// EvaluateUpstream returns the result as a line of text, as the core has it.
func EvaluateUpstream(program cel.Program, activation map[string]any) string {
	return evaluateUpstream(program, activation)
}

// Show writes a value as such a line has it.
func Show(value ref.Val) string { return string(show(nil, value)) }
