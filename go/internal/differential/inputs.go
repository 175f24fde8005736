package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/cel/common"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/celgate/celgate/go/internal/wire"
)

// input is what an expression is evaluated over, in both forms.
type input struct {
	activation map[string]any
	record     []byte
}

// fixedInputs is how many of the inputs are the same for every seed: cases from files see these.
const fixedInputs = 20

// newInputs makes a pool of inputs. The first is made of the texts as they are.
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
	object, err := m.object(text)
	if err != nil {
		return nil, err
	}
	old, err := m.object(text)
	if err != nil {
		return nil, err
	}
	if !m.intact && m.one(8) {
		old = nil
	}
	if !m.intact && m.one(16) {
		object = nil
	}
	params, err := m.object(objectTexts[m.rand.IntN(len(objectTexts))])
	if err != nil {
		return nil, err
	}
	namespace := &corev1.Namespace{}
	if err := m.decode(namespaceText, namespace); err != nil {
		return nil, err
	}
	if !m.intact && m.one(8) {
		namespace = nil
	}
	return m.encode(object, old, params, namespace, m.request())
}

// object decodes a text, often after changing it: into its Go type if client-go has one, else unstructured.
func (m *inputMaker) object(text string) (runtime.Object, error) {
	var kind metav1.TypeMeta
	if err := json.Unmarshal([]byte(text), &kind); err != nil {
		return nil, err
	}
	typed, err := clientgoscheme.Scheme.New(kind.GroupVersionKind())
	if err != nil || m.one(4) {
		custom := &unstructured.Unstructured{}
		return custom, m.decode(text, custom)
	}
	return typed, m.decode(text, typed)
}

// decode decodes the text after changing it; what is no longer decodable is decoded as it was.
func (m *inputMaker) decode(text string, into any) error {
	var content any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&content); err != nil {
		return err
	}
	if m.intact {
		return json.Unmarshal([]byte(text), into)
	}
	for range m.rand.IntN(6) {
		content = m.change(content, "")
	}
	var changed bytes.Buffer
	encoder := json.NewEncoder(&changed)
	if err := encoder.Encode(content); err != nil {
		return err
	}
	if json.Unmarshal(changed.Bytes(), into) == nil {
		return nil
	}
	return json.Unmarshal([]byte(text), into)
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

func (m *inputMaker) request() *admissionv1.AdmissionRequest {
	kind := metav1.GroupVersionKind{Group: theResource.Group, Version: theResource.Version, Kind: "Deployment"}
	resource := metav1.GroupVersionResource(theResource)
	dryRun := m.one(2)
	request := &admissionv1.AdmissionRequest{
		Kind:               kind,
		Resource:           resource,
		SubResource:        theSubresource,
		RequestKind:        &kind,
		RequestResource:    &resource,
		RequestSubResource: theSubresource,
		Name:               theName,
		Namespace:          theNamespace,
		Operation:          admissionv1.Operation(pick(m.rand, "CREATE", "UPDATE", "DELETE", "CONNECT")),
		DryRun:             &dryRun,
		Options:            runtime.RawExtension{Object: &metav1.CreateOptions{FieldManager: "kubectl", DryRun: []string{"All"}}},
		UserInfo: authenticationv1.UserInfo{
			Username: theUser.Name, UID: "7", Groups: theUser.Groups, Extra: map[string]authenticationv1.ExtraValue{"scopes": {"a", "b"}},
		},
	}
	if !m.intact && m.one(4) {
		request.Options, request.Name, request.SubResource, request.RequestSubResource = runtime.RawExtension{}, "", "", ""
		request.UserInfo = authenticationv1.UserInfo{Username: "system:serviceaccount:ns:web"}
	}
	return request
}

func (m *inputMaker) encode(object, old, params runtime.Object, namespace *corev1.Namespace, request *admissionv1.AdmissionRequest) (*input, error) {
	in := &input{activation: map[string]any{}}
	bindAuthorizer(in.activation)
	encoder := wire.Get(len(variables))
	defer encoder.Put()
	for root, value := range map[int]any{rootObject: object, rootOldObject: old, rootRequest: request, rootNamespace: namespace} {
		encoder.SetObject(root, value)
		in.activation[variables[root].Name] = celValue(value)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(params)
	if err != nil {
		return nil, err
	}
	for root, value := range map[int]any{
		rootParams: pick[any](m.rand, content, content, content, nil),
		rootBool:   m.one(2),
		rootInt:    pick[any](m.rand, int64(0), int64(1), int64(-1), int64(7), int64(math.MaxInt64), int64(math.MinInt64), int64(1<<53+1)),
		rootUint:   pick[any](m.rand, uint64(0), uint64(1), uint64(7), uint64(math.MaxUint64), uint64(math.MaxInt64)+1),
		rootDouble: pick[any](m.rand, 0.0, 1.0, -1.5, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e300, 9223372036854775807.0, 5e-324),
		rootString: pick(m.rand, stringPool...),
		rootInts:   pick(m.rand, []any{}, []any{int64(1)}, []any{int64(3), int64(1), int64(2), int64(3)}, []any{int64(math.MaxInt64), int64(1)}),
		rootStrings: pick(m.rand, []any{}, []any{"a"}, []any{"b", "a", "b"}, []any{pick(m.rand, stringPool...), pick(m.rand, stringPool...)},
			[]any{"10.0.0.1", "1Gi", "1.2.3", "1h"}),
		rootCounts: pick(m.rand, map[string]any{}, map[string]any{"a": int64(1)}, map[string]any{"a": int64(1), "b": int64(-2), "é": int64(math.MaxInt64)}),
		rootAny:    pick[any](m.rand, nil, true, int64(1), 1.0, 2.5, "a", []any{int64(1), "a"}, map[string]any{"a": int64(1), "b": nil}, uint64(1), []any{}, map[string]any{}),
		rootTexts:  texts,
	} {
		encoder.SetPlain(root, value)
		in.activation[variables[root].Name] = types.DefaultTypeAdapter.NativeToValue(value)
	}
	in.record = bytes.Clone(encoder.Bytes())
	return in, nil
}

// celValue is the value that upstream's activation has for an object.
func celValue(object any) any {
	if custom, ok := object.(*unstructured.Unstructured); ok {
		return types.DefaultTypeAdapter.NativeToValue(custom.Object)
	}
	return common.SchemalessTypedToVal(object)
}

// texts are too long for a literal.
var texts = map[string]any{
	"nines":  strings.Repeat("9", 20_000),
	"points": "0." + strings.Repeat("3", 20_000),
	"labels": strings.Repeat("a.", 20_000) + "a",
	"long":   strings.Repeat("é", 20_000),
	"pairs":  "/p?" + strings.Repeat("k=v&", 9_999) + "k=w",
	"toMany": "/p?" + strings.Repeat("k=v&", 10_000) + "k=w",
}
