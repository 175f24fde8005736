package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// celGo evaluates in this process.
type celGo struct {
	// cost: as the apiserver runs it, with its cost estimator and limit; otherwise without tracking and without a context.
	cost bool
	// mapped: objects are maps; otherwise they are read by reflection, as the apiserver reads typed objects.
	mapped bool
	// programs are made when first asked for.
	programs map[*testCase]cel.Program
}

func (e *celGo) name() string {
	name := "cel-go"
	if e.cost {
		name += " with cost"
	}
	if e.mapped {
		name += ", maps"
	}
	return name
}

func declarations(names []string) []cel.EnvOption {
	var options []cel.EnvOption
	for _, name := range names {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	return options
}

// kubernetes is the environment of stored expressions.
func kubernetes(names []string) (*cel.Env, error) {
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, 37)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: declarations(names),
	})
	if err != nil {
		return nil, err
	}
	return set.StoredExpressionsEnv(), nil
}

// withoutCost is an environment with the functions of kubernetes. That one's own programs cannot do without cost tracking.
func withoutCost(names []string) (*cel.Env, error) {
	return cel.NewEnv(append(declarations(names),
		cel.HomogeneousAggregateLiterals(), cel.DefaultUTCTimeZone(true), cel.CrossTypeNumericComparisons(true), cel.OptionalTypes(),
		ext.Strings(ext.StringsVersion(2)), ext.Sets(), ext.TwoVarComprehensions(), ext.Lists(ext.ListsVersion(3)),
		library.URLs(), library.Regex(), library.Lists(library.ListsVersion(1)), library.Authz(), library.Quantity(), library.IP(), library.CIDR(),
		library.Format(), library.AuthzSelectors(), library.SemverLib(library.SemverVersion(1)))...)
}

func (e *celGo) compile(c *testCase) (cel.Program, error) {
	env, err := kubernetes(c.names)
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(c.expression)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	if e.cost {
		return env.Program(ast, cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	}
	env, err = withoutCost(c.names)
	if err != nil {
		return nil, err
	}
	return env.Program(ast, cel.EvalOptions(cel.OptOptimize))
}

func (e *celGo) program(c *testCase) (cel.Program, error) {
	if known := e.programs[c]; known != nil {
		return known, nil
	}
	program, err := e.compile(c)
	if err == nil {
		e.programs[c] = program
	}
	return program, err
}

// activation has the variables of a case in the order of its names, as the apiserver's has them in fields.
type activation struct {
	names  []string
	values []any
}

func (e *celGo) activation(c *testCase) cel.Activation {
	a := &activation{names: c.names}
	for _, root := range c.roots {
		if e.mapped {
			a.values = append(a.values, root.mapped)
		} else {
			a.values = append(a.values, root.typed)
		}
	}
	return a
}

// ResolveName implements cel.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	for i, known := range a.names {
		if known == name {
			return a.values[i], true
		}
	}
	return nil, false
}

// Parent implements cel.Activation.
func (a *activation) Parent() cel.Activation { return nil }

func (e *celGo) show(c *testCase) (answer, error) {
	program, err := e.program(c)
	if err != nil {
		return answer{reason: err.Error()}, nil
	}
	variables, a := e.activation(c), answer{runs: true}
	for range 50 {
		value, details, err := program.ContextEval(context.Background(), variables)
		a.value = show(value, err)
		if cost := details.ActualCost(); cost != nil && !slices.Contains(a.costs, *cost) {
			a.costs = append(a.costs, *cost)
		}
	}
	return a, nil
}

func (e *celGo) run(c *testCase, count int) error {
	program, err := e.program(c)
	if err != nil {
		return err
	}
	variables, ctx := e.activation(c), context.Background()
	if e.cost {
		for range count {
			_, _, _ = program.ContextEval(ctx, variables)
		}
		return nil
	}
	for range count {
		_, _, _ = program.Eval(variables)
	}
	return nil
}

// evaluateOnce is the value of an expression as plain data.
func evaluateOnce(c *testCase) (any, error) {
	e := &celGo{cost: true, programs: map[*testCase]cel.Program{}}
	program, err := e.program(c)
	if err != nil {
		return nil, err
	}
	value, _, err := program.ContextEval(context.Background(), e.activation(c))
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	return plainOf(value)
}
