package differential

import (
	"math"
	"reflect"
	"testing"
)

func TestPlainValuesAreReadAsTheyAreWritten(t *testing.T) {
	engines, err := NewPolicyEngines()
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []any{
		nil, true, int64(math.MinInt64), int64(math.MaxInt64), uint64(math.MaxUint64), 1.0, -1.5, 1e300, 5e-324, math.Inf(1), math.Inf(-1), math.Copysign(0, -1), "", "é\n\"'\\\x00\u2028\U0001f600",
		[]any{}, []any{int64(1), "a", []any{nil}}, map[string]any{}, map[string]any{"a b": map[string]any{"c": 1.5}},
	} {
		read, err := readPlain(engines.upstream, plainText(value))
		if err != nil || !reflect.DeepEqual(read, value) {
			t.Errorf("%s: %#v, %v", plainText(value), read, err)
		}
	}
	if read, err := readPlain(engines.upstream, plainText(math.NaN())); err != nil || !math.IsNaN(read.(float64)) {
		t.Errorf("NaN: %v, %v", read, err)
	}
}
