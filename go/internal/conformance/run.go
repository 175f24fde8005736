package conformance

import (
	"fmt"
	"strings"

	celpb "cel.dev/expr"
	"cel.dev/expr/conformance/test"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celgate/celgate/go/internal/cabi/expression"
	"github.com/celgate/celgate/go/internal/differential"
	"github.com/celgate/celgate/go/internal/wire"
)

// Outcome is what became of one test.
type Outcome struct {
	// Impossible says why Kubernetes' environment cannot express the test; nothing was run then.
	Impossible string
	// Missing says what of the test's own environment was left out; what is run without it need not give the expected result.
	Missing string
	// Unexpected says how cel-go's result is not the expected one.
	Unexpected string
	// Upstream and Ours are the results as text.
	Upstream, Ours string
}

// impossible is what no policy can ask for.
func impossible(t *test.SimpleTest) string {
	if t.GetUnknown() != nil || t.GetAnyUnknowns() != nil {
		return "there are no unknown values"
	}
	for _, decl := range t.TypeEnv {
		if decl.GetFunction() != nil {
			return "functions cannot be declared"
		}
	}
	for _, bound := range t.Bindings {
		if _, ok := content(bound.GetValue()); !ok {
			return "no object contains such a value, and a variable cannot be bound to it"
		}
	}
	return ""
}

// missing is what a policy's environment does not have of the test's.
func missing(t *test.SimpleTest) string {
	switch {
	case t.DisableMacros:
		return "macros cannot be left out"
	case t.DisableCheck:
		return "the type checker cannot be left out, and it refuses the expression"
	case strings.HasPrefix(t.Container, "cel.expr.conformance."):
		return "the test's messages are not in the environment"
	case t.Container != "":
		return "the container is always empty"
	}
	return ""
}

// content is a bound value as part of an object; not all values can be one.
func content(value *celpb.Value) (any, bool) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, false
	}
	bound, err := cel.ProtoAsValue(registry, value)
	if err != nil {
		return nil, false
	}
	plain, err := differential.PlainOf(bound)
	return plain, err == nil
}

// Run runs a test with both.
func Run(scratch *expression.Scratch, t *test.SimpleTest) (Outcome, error) {
	if why := impossible(t); why != "" {
		return Outcome{Impossible: why}, nil
	}
	declared, err := variables(t)
	if err != nil {
		return Outcome{Impossible: "a variable's type is not known: " + err.Error()}, nil
	}
	engines, err := differential.NewEngines(declared)
	if err != nil {
		return Outcome{Impossible: "the variables cannot be declared"}, nil
	}
	activation := map[string]any{}
	encoder := wire.Get(len(declared))
	defer encoder.Put()
	for i, variable := range declared {
		if bound, ok := t.Bindings[variable.Name]; ok {
			value, _ := content(bound.GetValue())
			activation[variable.Name] = value
			encoder.SetPlain(i, value)
		}
	}
	compiled, err := engines.Compile(t.Expr)
	if err != nil {
		return Outcome{}, err
	}
	defer compiled.Free()
	outcome := Outcome{Missing: missing(t)}
	if outcome.Upstream, outcome.Unexpected, err = upstream(compiled, t, activation); err != nil {
		return outcome, err
	}
	if outcome.Ours, err = ours(compiled, scratch, t, encoder.Bytes()); err != nil {
		return outcome, err
	}
	// What upstream makes of the order of Go's maps varies, also when it plans.
	for tries := 0; tries < retries && !outcome.Same(); tries++ {
		again, err := engines.Compile(t.Expr)
		if err != nil {
			return outcome, err
		}
		outcome.Upstream, _, err = upstream(again, t, activation)
		again.Free()
		if err != nil {
			return outcome, err
		}
	}
	return outcome, nil
}

// retries is how often upstream is asked again before its result counts as another than ours.
const retries = 20

// variables are those that the test declares.
func variables(t *test.SimpleTest) ([]differential.Variable, error) {
	var declared []differential.Variable
	for _, decl := range t.TypeEnv {
		kind, err := types.ProtoAsType(decl.GetIdent().GetType())
		if err != nil {
			return nil, err
		}
		declared = append(declared, differential.Variable{Name: decl.Name, Type: kind})
	}
	return declared, nil
}

// upstream returns cel-go's result, and how it is not the expected one.
func upstream(compiled *differential.Compiled, t *test.SimpleTest, activation map[string]any) (result, unexpected string, err error) {
	result = compiled.UpstreamVerdict
	if compiled.Program == nil {
		// cel-go evaluates constants when it plans: an error like others to those who wrote the expression.
		if expectsError(t) && strings.HasPrefix(result, "program instantiation failed") {
			return result, "", nil
		}
		return result, "it does not compile", nil
	}
	if expected := t.GetTypedResult().GetDeducedType(); expected != nil {
		want, err := types.ProtoAsType(expected)
		if err != nil {
			return "", "", err
		}
		if kind := compiled.AST.OutputType(); !kind.IsEquivalentType(want) {
			unexpected = fmt.Sprintf("its type is %s instead of %s", kind, want)
		}
	}
	if t.CheckOnly {
		return result, unexpected, nil
	}
	line := differential.EvaluateUpstream(compiled.Program, activation)
	verdict, value := cut(line)
	if unexpected == "" {
		unexpected = compare(t, verdict, value)
	}
	return result + "\n" + line, unexpected, nil
}

// cut takes verdict and value from a result's line.
func cut(line string) (verdict, value string) {
	parts := strings.SplitN(line, "\t", 3)
	if len(parts) < 3 {
		return line, ""
	}
	return parts[0], parts[2]
}

func compare(t *test.SimpleTest, verdict, value string) string {
	if expectsError(t) {
		if verdict != "error" {
			return "it is no error"
		}
		return ""
	}
	if verdict == "error" {
		return "it is an error"
	}
	want, err := expected(t)
	if err != nil {
		return "the expected value has no counterpart"
	}
	if shown := differential.Show(want); shown != value {
		return fmt.Sprintf("it is %s instead of %s", value, shown)
	}
	return ""
}

func expectsError(t *test.SimpleTest) bool {
	return t.GetEvalError() != nil || t.GetAnyEvalErrors() != nil
}

func expected(t *test.SimpleTest) (ref.Val, error) {
	value := t.GetValue()
	if typed := t.GetTypedResult(); typed != nil {
		value = typed.Result
	}
	if value == nil {
		return types.True, nil
	}
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, err
	}
	return cel.ProtoAsValue(registry, value)
}

// ours returns the core's result in the same form.
func ours(compiled *differential.Compiled, scratch *expression.Scratch, t *test.SimpleTest, record []byte) (string, error) {
	if compiled.Ours == nil || t.CheckOnly {
		return compiled.OurVerdict, nil
	}
	line, err := compiled.Ours.Evaluate(scratch, record, differential.CostLimit, nil)
	return compiled.OurVerdict + "\n" + string(line), err
}

// Same says whether both results are the same; the texts of syntax errors are our own, and docs/differences.md has one more.
func (o Outcome) Same() bool {
	const syntax = "Syntax error"
	// An Any of a message that this program links: docs/differences.md.
	if strings.Contains(o.Upstream, "\tunknown type: 'cel.expr.conformance.") {
		return strings.Contains(o.Ours, "\tunsupported conversion to ref.Val: (*dynamicpb.Message)type_url:")
	}
	return o.Upstream == o.Ours || strings.Contains(o.Upstream, syntax) && strings.Contains(o.Ours, syntax)
}
