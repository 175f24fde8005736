package conformance

import (
	"errors"
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
	// Unexpected says how cel-go's result is not the expected one.
	Unexpected string
	// Upstream and Ours are the results as text.
	Upstream, Ours string
}

// impossible is what no policy can ask for.
func impossible(t *test.SimpleTest) string {
	switch {
	case t.DisableCheck:
		return "the type checker cannot be left out"
	case t.DisableMacros:
		return "macros cannot be left out"
	case t.Container != "":
		return "the container is always empty"
	case t.GetUnknown() != nil || t.GetAnyUnknowns() != nil:
		return "there are no unknown values"
	}
	for _, decl := range t.TypeEnv {
		if decl.GetFunction() != nil {
			return "functions cannot be declared"
		}
	}
	for _, bound := range t.Bindings {
		if _, ok := plain(bound.GetValue()); !ok {
			return "a variable cannot be bound to such a value"
		}
	}
	return ""
}

// plain is a bound value as an object's content; not all values can be one.
func plain(value *celpb.Value) (any, bool) {
	switch kind := value.GetKind().(type) {
	case *celpb.Value_NullValue:
		return nil, true
	case *celpb.Value_BoolValue:
		return kind.BoolValue, true
	case *celpb.Value_Int64Value:
		return kind.Int64Value, true
	case *celpb.Value_DoubleValue:
		return kind.DoubleValue, true
	case *celpb.Value_StringValue:
		return kind.StringValue, true
	case *celpb.Value_ListValue:
		list := []any{}
		for _, value := range kind.ListValue.Values {
			element, ok := plain(value)
			if !ok {
				return nil, false
			}
			list = append(list, element)
		}
		return list, true
	case *celpb.Value_MapValue:
		entries := map[string]any{}
		for _, entry := range kind.MapValue.Entries {
			key, isString := entry.Key.GetKind().(*celpb.Value_StringValue)
			value, ok := plain(entry.Value)
			if !isString || !ok {
				return nil, false
			}
			entries[key.StringValue] = value
		}
		return entries, true
	}
	return nil, false
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
	environments, err := differential.NewEnvironments(declared)
	if err != nil {
		return Outcome{Impossible: "the variables cannot be declared"}, nil
	}
	var outcome Outcome
	activation := map[string]any{}
	encoder := wire.Get(len(declared))
	defer encoder.Put()
	for i, variable := range declared {
		if bound, ok := t.Bindings[variable.Name]; ok {
			value, _ := plain(bound.GetValue())
			activation[variable.Name] = value
			encoder.SetPlain(i, value)
		}
	}
	if outcome.Upstream, outcome.Unexpected, err = upstream(environments, t, activation); err != nil {
		return outcome, err
	}
	if outcome.Ours, err = ours(environments, scratch, t, encoder.Bytes()); err != nil {
		return outcome, err
	}
	// What upstream makes of the order of Go's maps varies.
	for tries := 0; tries < retries && !outcome.Same(); tries++ {
		if outcome.Upstream, _, err = upstream(environments, t, activation); err != nil {
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
func upstream(environments *differential.Environments, t *test.SimpleTest, activation map[string]any) (result, unexpected string, err error) {
	kind, program, err := environments.CompileUpstream(t.Expr)
	if err != nil {
		// cel-go evaluates constants when it plans: an error like others to those who wrote the expression.
		if expectsError(t) && strings.HasPrefix(err.Error(), "program instantiation failed") {
			return err.Error(), "", nil
		}
		return err.Error(), "it does not compile", nil
	}
	if expected := t.GetTypedResult().GetDeducedType(); expected != nil {
		want, err := types.ProtoAsType(expected)
		if err != nil {
			return "", "", err
		}
		if !kind.IsEquivalentType(want) {
			unexpected = fmt.Sprintf("its type is %s instead of %s", kind, want)
		}
	}
	result = "type " + kind.String()
	if t.CheckOnly {
		return result, unexpected, nil
	}
	line := differential.EvaluateUpstream(program, activation)
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
func ours(environments *differential.Environments, scratch *expression.Scratch, t *test.SimpleTest, record []byte) (string, error) {
	compiled, kind, err := environments.Ours.Compile(t.Expr)
	var failed *expression.CompileError
	if errors.As(err, &failed) {
		return failed.Text, nil
	}
	if err != nil {
		return "", err
	}
	defer compiled.Free()
	if t.CheckOnly {
		return "type " + kind, nil
	}
	line, err := compiled.Evaluate(scratch, record, differential.CostLimit, nil)
	return "type " + kind + "\n" + string(line), err
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
