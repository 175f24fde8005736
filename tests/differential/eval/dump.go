package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
)

// patience is how long cel-go may take for one expression.
const patience = 20 * time.Second

func newEnvironment(names []string) (*cel.Env, error) {
	var options []cel.EnvOption
	for _, name := range names {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, 37)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        options,
	})
	if err != nil {
		return nil, err
	}
	return set.StoredExpressionsEnv(), nil
}

func dump(in io.Reader, out *bufio.Writer) error {
	activation, err := variables()
	if err != nil {
		return err
	}
	// Declared and not bound, as the authorizer is in places.
	names := []string{"unbound"}
	for name := range activation {
		names = append(names, name)
	}
	env, err := newEnvironment(names)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		expression, err := hex.DecodeString(lines.Text())
		if err != nil {
			return err
		}
		fmt.Fprintln(out, evaluateOften(env, activation, string(expression)))
	}
	return lines.Err()
}

// evaluateOften joins the distinct results of some evaluations: the order of Go's maps is random.
func evaluateOften(env *cel.Env, activation map[string]any, expression string) string {
	results := []string{evaluate(env, activation, expression)}
	if loops.MatchString(expression) {
		for range 5 {
			if result := evaluate(env, activation, expression); !slices.Contains(results, result) {
				results = append(results, result)
			}
		}
	}
	return strings.Join(results, alternative)
}

var loops = regexp.MustCompile(`\.(all|exists|existsOne|exists_one|map|filter|transform\w+)\(|==`)

// alternative separates results that differ by chance.
const alternative = " ||| "

// evaluate returns one line: stage, cost and result, separated by tabs.
func evaluate(env *cel.Env, activation map[string]any, expression string) string {
	ast, err := compile(env, expression)
	if err != nil {
		return "compile\t0\t" + strconv.Quote(err.Error())
	}
	program, err := instantiate(env, ast)
	if err != nil {
		return "plan\t0\t" + strconv.Quote(err.Error())
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	value, details, err := program.ContextEval(ctx, activation)
	cost := uint64(0)
	if actual := details.ActualCost(); actual != nil {
		cost = *actual
	}
	if err != nil {
		return fmt.Sprintf("error\t%d\t%s", cost, strconv.Quote(err.Error()))
	}
	return fmt.Sprintf("value\t%d\t%s", cost, show(value))
}

// compile checks the expression; one of cel-go's validators panics for some.
func compile(env *cel.Env, expression string) (ast *cel.Ast, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v", reason)
		}
	}()
	ast, issues := env.Compile(expression)
	return ast, issues.Err()
}

// instantiate plans the program; cel-go panics for some, and its caller with it.
func instantiate(env *cel.Env, ast *cel.Ast) (program cel.Program, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("internal error: %v", reason)
		}
	}()
	return env.Program(ast, cel.InterruptCheckFrequency(100))
}

// show prints a value without loss and in one way only.
func show(value ref.Val) string {
	switch value := value.(type) {
	case types.Null:
		return "null"
	case types.Bool:
		return fmt.Sprint(bool(value))
	case types.Int:
		return fmt.Sprint(int64(value))
	case types.Uint:
		return fmt.Sprint(uint64(value)) + "u"
	case types.Double:
		return fmt.Sprintf("double:%016x", math.Float64bits(float64(value)))
	case types.String:
		return fmt.Sprintf("string:%x", string(value))
	case types.Bytes:
		return fmt.Sprintf("bytes:%x", []byte(value))
	case types.Duration:
		return fmt.Sprintf("duration:%d", int64(value.Duration))
	case types.Timestamp:
		_, offset := value.Zone()
		return fmt.Sprintf("timestamp:%d.%09d%+d", value.Unix(), value.Nanosecond(), offset)
	case *types.Optional:
		if !value.HasValue() {
			return "none"
		}
		return "some(" + show(value.GetValue()) + ")"
	case *types.Type:
		return "type:" + value.TypeName()
	case *types.Err:
		return "error:" + strconv.Quote(value.Error())
	case traits.Lister:
		var parts []string
		for i := types.Int(0); i < value.Size().(types.Int); i++ {
			parts = append(parts, show(value.Get(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case traits.Mapper:
		var parts []string
		for it := value.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			parts = append(parts, show(key)+": "+show(value.Get(key)))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "opaque:" + value.Type().TypeName()
}
