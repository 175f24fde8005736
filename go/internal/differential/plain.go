package differential

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// readPlain evaluates a constant expression to a value of the kinds that decoded objects have.
func readPlain(env *cel.Env, text string) (any, error) {
	// Not checked, since lists in objects may have elements of several types.
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, issues.Err()
	}
	program, err := env.Program(parsed)
	if err != nil {
		return nil, err
	}
	value, _, err := program.Eval(map[string]any{})
	if err != nil {
		return nil, err
	}
	return PlainOf(value)
}

// PlainOf is a value as decoded objects have it: nil, bool, int64, uint64, float64, string, []any or map[string]any. It is an error if no
// object can have it.
func PlainOf(value ref.Val) (any, error) {
	switch value := value.(type) {
	case types.Null:
		return nil, nil
	case types.Bool, types.Int, types.Uint, types.Double, types.String:
		return value.Value(), nil
	case traits.Lister:
		list := []any{}
		for i := types.Int(0); i < value.Size().(types.Int); i++ {
			element, err := PlainOf(value.Get(i))
			if err != nil {
				return nil, err
			}
			list = append(list, element)
		}
		return list, nil
	case traits.Mapper:
		entries := map[string]any{}
		for it := value.Iterator(); it.HasNext() == types.True; {
			key, isString := it.Next().(types.String)
			if !isString {
				return nil, fmt.Errorf("a key that is no string")
			}
			entry, err := PlainOf(value.Get(key))
			if err != nil {
				return nil, err
			}
			entries[string(key)] = entry
		}
		return entries, nil
	}
	return nil, fmt.Errorf("no object has a %s", value.Type().TypeName())
}

// plainText writes such a value as an expression.
func plainText(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(value)
	case int64:
		return strconv.FormatInt(value, 10)
	case uint64:
		return strconv.FormatUint(value, 10) + "u"
	case float64:
		return doubleText(value)
	case string:
		return strconv.Quote(value)
	case []any:
		parts := make([]string, len(value))
		for i, element := range value {
			parts[i] = plainText(element)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, key := range sortedKeys(value) {
			parts = append(parts, strconv.Quote(key)+": "+plainText(value[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	panic(fmt.Sprintf("no text for %T", value))
}

func doubleText(value float64) string {
	switch {
	case math.IsNaN(value):
		return "0.0 / 0.0"
	case math.IsInf(value, 1):
		return "1.0 / 0.0"
	case math.IsInf(value, -1):
		return "-1.0 / 0.0"
	}
	text := strconv.FormatFloat(value, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}
