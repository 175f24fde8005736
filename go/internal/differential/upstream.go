package differential

import (
	"context"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// patience is how long cel-go may take for one evaluation; some of its operations do not end.
const patience = 5 * time.Second

// impatient is in the text of an evaluation that took too long.
const impatient = "operation interrupted"

// compileUpstream returns the checked expression and its program, or the text of what is wrong.
func compileUpstream(env *cel.Env, source string) (ast *cel.Ast, program cel.Program, err error) {
	defer func() {
		// One of cel-go's validators and its planner panic for some expressions, and their caller with them.
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%s%v", panicked, reason)
		}
	}()
	ast, issues := env.Compile(source)
	if issues != nil {
		return nil, nil, fmt.Errorf("compilation failed: %s", issues.String())
	}
	program, err = env.Program(ast, cel.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		return ast, nil, fmt.Errorf("program instantiation failed: %w", err)
	}
	return ast, program, nil
}

// panicked starts the text of a compilation that ended upstream's caller.
const panicked = "panic: "

// EvaluateUpstream returns the result as a line of text, as the core has it (docs/abi.md, "Expressions").
func EvaluateUpstream(program cel.Program, activation map[string]any) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	value, details, err := program.ContextEval(ctx, activation)
	cost := uint64(0)
	if actual := details.ActualCost(); actual != nil {
		cost = *actual
	}
	out := make([]byte, 0, 64)
	if err != nil {
		out = append(out, "error\t"...)
		out = strconv.AppendUint(out, cost, 10)
		return string(append(append(out, '\t'), err.Error()...))
	}
	out = append(out, "value\t"...)
	out = strconv.AppendUint(out, cost, 10)
	return string(show(append(out, '\t'), value))
}

// Show writes a value as such a line has it.
func Show(value ref.Val) string { return string(show(nil, value)) }

// show appends a value without loss and in one way only.
func show(out []byte, value ref.Val) []byte {
	switch value := value.(type) {
	case types.Null:
		return append(out, "null"...)
	case types.Bool:
		return strconv.AppendBool(out, bool(value))
	case types.Int:
		return strconv.AppendInt(out, int64(value), 10)
	case types.Uint:
		return append(strconv.AppendUint(out, uint64(value), 10), 'u')
	case types.Double:
		if math.IsNaN(float64(value)) {
			return append(out, "double:NaN"...)
		}
		return fmt.Appendf(out, "double:%016x", math.Float64bits(float64(value)))
	case types.String:
		// The core's strings are UTF-8.
		return quoted(out, 's', string([]rune(string(value))))
	case types.Bytes:
		return quoted(out, 'b', string(value))
	case types.Duration:
		return fmt.Appendf(out, "duration:%d", int64(value.Duration))
	case types.Timestamp:
		_, offset := value.Zone()
		return fmt.Appendf(out, "timestamp:%d.%09d%+d", value.Unix(), value.Nanosecond(), offset)
	case *types.Optional:
		if !value.HasValue() {
			return append(out, "none"...)
		}
		return append(show(append(out, "some("...), value.GetValue()), ')')
	case *types.Type:
		return append(append(out, "type:"...), value.TypeName()...)
	case *types.Err:
		return quoted(append(out, "error:"...), 's', value.Error())
	case traits.Lister:
		out = append(out, '[')
		for i := types.Int(0); i < value.Size().(types.Int); i++ {
			if i > 0 {
				out = append(out, ", "...)
			}
			out = show(out, value.Get(i))
		}
		return append(out, ']')
	case traits.Mapper:
		var entries []string
		for it := value.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			entry := append(show(nil, key), ": "...)
			if found, ok := value.Find(key); ok {
				entry = show(entry, found)
			} else {
				// No look-up finds NaN.
				entry = append(entry, "none of its own"...)
			}
			entries = append(entries, string(entry))
		}
		sort.Strings(entries)
		return fmt.Appendf(out, "{%s}", strings.Join(entries, ", "))
	}
	return append(append(out, "opaque:"...), value.Type().TypeName()...)
}

// quoted appends printable ASCII as it is and every other byte in hexadecimal.
func quoted(out []byte, kind byte, text string) []byte {
	out = append(out, kind, '"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c >= ' ' && c <= '~':
			out = append(out, c)
		default:
			out = fmt.Appendf(out, "\\x%02x", c)
		}
	}
	return append(out, '"')
}
