package differential

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// input is what an expression is evaluated over, in both forms.
type input struct {
	content    *content
	activation map[string]any
	record     []byte
	// objects and plain are what the record is made of, by root.
	objects, plain map[int]any
}

// fixedInputs is how many of the inputs are the same for every seed: cases from files see these.
const fixedInputs = 20

// newInputs makes a pool of inputs. The first ones are made of the texts as they are.
func newInputs(seed uint64, n int) ([]*input, error) {
	inputs := make([]*input, n)
	for i := range inputs {
		source := rand.NewPCG(seed, uint64(i))
		if i < fixedInputs {
			source = rand.NewPCG(0, uint64(i))
		}
		maker := inputMaker{rand: rand.New(source), intact: i < len(objectTexts)}
		made, err := maker.input(i)
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		inputs[i] = made
	}
	return inputs, nil
}

// inputMaker makes one input.
type inputMaker struct {
	rand *rand.Rand
	// intact leaves objects as their texts are.
	intact bool
}

func (m *inputMaker) one(n int) bool { return m.rand.IntN(n) == 0 }

func (m *inputMaker) input(number int) (*input, error) {
	text := objectTexts[number%len(objectTexts)]
	made := &content{
		object: m.object(text, m.one(4)), oldObject: m.object(text, m.one(4)), namespace: m.object(namespaceText, false),
		request: m.request(), plain: m.plain(number),
	}
	if m.intact {
		made.oldObject.text = edited.Replace(text)
	}
	if !m.intact && m.one(8) {
		made.oldObject = objectContent{}
	}
	if !m.intact && m.one(16) {
		made.object = objectContent{}
	}
	if !m.intact && m.one(8) {
		made.namespace = objectContent{}
	}
	params := m.object(objectTexts[m.rand.IntN(len(objectTexts))], m.one(4))
	if m.intact {
		params = m.object(text, false)
	}
	var err error
	if made.plain[rootParams], err = params.converted(); err != nil {
		return nil, err
	}
	if !m.intact && m.one(4) {
		made.plain[rootParams] = nil
	}
	return made.encode()
}

// edited is how an old object differs from the new one where both are made of the texts as they are.
var edited = strings.NewReplacer(`"64Mi"`, `"67108864"`, `"generation": 3`, `"generation": 2`, `"replicas": 3`, `"replicas": 2`, `"max": "3"`, `"max": "4"`)

// object is a text, often changed, of which an object is decoded.
func (m *inputMaker) object(text string, unstructured bool) objectContent {
	if m.intact {
		return objectContent{text: text}
	}
	made := objectContent{text: text, unstructured: unstructured}
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return made
	}
	for range m.rand.IntN(6) {
		value = m.change(value, "")
	}
	changed := made
	changed.text = textOf(value)
	if _, err := changed.decode(); err != nil {
		// No longer decodable.
		return made
	}
	return changed
}

// change changes something in a decoded text.
func (m *inputMaker) change(value any, key string) any {
	switch value := value.(type) {
	case map[string]any:
		keys := sortedKeys(value)
		if len(keys) == 0 || m.one(16) {
			return map[string]any{}
		}
		key := keys[m.rand.IntN(len(keys))]
		switch {
		case key == "kind" || key == "apiVersion":
		case m.one(8):
			delete(value, key)
		case m.one(16):
			value[key] = nil
		default:
			value[key] = m.change(value[key], key)
		}
		return value
	case []any:
		switch {
		case len(value) == 0 || m.one(12):
			return []any{}
		case m.one(8):
			return append(value, value[m.rand.IntN(len(value))])
		case m.one(24):
			long := make([]any, 0, 200)
			for len(long) < 200 {
				long = append(long, value...)
			}
			return long
		}
		i := m.rand.IntN(len(value))
		value[i] = m.change(value[i], key)
		return value
	case json.Number:
		return json.Number(pick(m.rand, "0", "1", "-1", "2147483647", "9223372036854775807", "65536", "1.5", "1e3", "3.0"))
	case string:
		return pick(m.rand, stringPool...)
	case bool:
		return !value
	}
	return pick[any](m.rand, "text", json.Number("1"), true)
}

func (m *inputMaker) request() requestContent {
	return requestContent{
		Operation: pick(m.rand, "CREATE", "UPDATE", "DELETE", "CONNECT"),
		DryRun:    m.one(2),
		Sparse:    !m.intact && m.one(4),
	}
}

// plain are the values of the variables that are no objects.
func (m *inputMaker) plain(number int) map[int]any {
	repeats := 20_000
	if number == 0 {
		repeats = 100_000
	}
	return map[int]any{
		rootBool:   m.one(2),
		rootInt:    pick[any](m.rand, int64(0), int64(1), int64(-1), int64(7), int64(math.MaxInt64), int64(math.MinInt64), int64(1<<53+1)),
		rootUint:   pick[any](m.rand, uint64(0), uint64(1), uint64(7), uint64(math.MaxUint64), uint64(math.MaxInt64)+1),
		rootDouble: pick[any](m.rand, 0.0, 1.0, -1.5, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 9223372036854775807.0, 5e-324),
		rootString: pick(m.rand, stringPool...),
		rootInts:   pick(m.rand, []any{}, []any{int64(1)}, []any{int64(3), int64(1), int64(2), int64(3)}, []any{int64(math.MaxInt64), int64(1)}),
		rootStrings: pick(m.rand, []any{}, []any{"a"}, []any{"b", "a", "b"}, []any{pick(m.rand, stringPool...), pick(m.rand, stringPool...)},
			[]any{"10.0.0.1", "1Gi", "1.2.3", "1h"}),
		rootCounts:   pick(m.rand, map[string]any{}, map[string]any{"a": int64(1)}, map[string]any{"a": int64(1), "b": int64(-2), "é": int64(math.MaxInt64)}),
		rootAny:      pick[any](m.rand, nil, true, int64(1), 1.0, 2.5, "a", []any{int64(1), "a"}, map[string]any{"a": int64(1), "b": nil}, uint64(1), []any{}, map[string]any{}),
		rootTexts:    longTexts(repeats),
		rootNumbers:  numbers,
		rootCustom:   customObject,
		rootText:     "Häagen-Dazs ice cream",
		rootLong:     strings.Repeat("0123456789", 30),
		rootPatterns: []any{"^a+$", "b*", "(", "[a-z]{2,3}"},
		rootNothing:  nil,
	}
}

// longTexts are too long for a literal; the first input has them longest.
func longTexts(repeats int) map[string]any {
	return map[string]any{
		"nines":  strings.Repeat("9", repeats),
		"points": "0." + strings.Repeat("3", repeats),
		"labels": strings.Repeat("a.", repeats/2) + "a",
		"long":   strings.Repeat("é", repeats*3/5),
		"pairs":  "/p?" + strings.Repeat("k=v&", 9_999) + "k=w",
		"toMany": "/p?" + strings.Repeat("k=v&", 10_000) + "k=w",
	}
}

// numbers are 0 to 49.
var numbers = func() []any {
	numbers := make([]any, 50)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	return numbers
}()

// customObject is an object without a Go type: numbers of both kinds, null, lists in lists.
var customObject = func() map[string]any {
	made := map[string]any{}
	if err := utiljson.Unmarshal([]byte(objectTexts[0]), &made); err != nil {
		panic(err)
	}
	spec := made["spec"].(map[string]any)
	spec["ratio"], spec["one"], spec["nothing"] = 1.5, 1.0, nil
	spec["matrix"] = []any{[]any{int64(1), int64(2)}, []any{int64(3)}, []any{}}
	return made
}()
