package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/celgate/celgate/go/internal/wire"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/cel/common"
)

// lengths are those of the lists from which the time for one element is taken.
var lengths = [2]int{100, 1000}

// root is a value that expressions can read, in each form in which an evaluator wants it.
type root struct {
	// object is what the record holds: nil, a Go object that is read by reflection upstream, or unstructured content.
	object any
	// plain is the value as JSON has it, with whole numbers as int64.
	plain any
	// typed and mapped are cel-go's values of object and plain.
	typed, mapped ref.Val
}

func plainRoot(plain any) root {
	value := types.DefaultTypeAdapter.NativeToValue(plain)
	return root{object: plain, plain: plain, typed: value, mapped: value}
}

func typedRoot(object runtime.Object) (root, error) {
	plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return root{}, err
	}
	return root{object: object, plain: plain, typed: common.SchemalessTypedToVal(object), mapped: types.DefaultTypeAdapter.NativeToValue(plain)}, nil
}

// fixedRoots are the values that do not depend on the policy.
func fixedRoots() (map[string]root, error) {
	p, err := pod()
	if err != nil {
		return nil, err
	}
	object, err := typedRoot(p)
	if err != nil {
		return nil, err
	}
	namespace, err := typedRoot(&corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "team-1", Labels: map[string]string{"environment": "prod"}}})
	if err != nil {
		return nil, err
	}
	roots := map[string]root{
		"object":          object,
		"oldObject":       plainRoot(nil),
		"params":          plainRoot(nil),
		"namespaceObject": namespace,
		"request": plainRoot(map[string]any{
			"operation": "CREATE", "name": "server-1", "namespace": "team-1", "dryRun": false,
			"kind": map[string]any{"group": "", "version": "v1", "kind": "Pod"}, "resource": map[string]any{"group": "", "version": "v1", "resource": "pods"},
			"userInfo": map[string]any{"username": "user-1", "groups": []any{"system:authenticated", "group-1"}},
		}),
	}
	data := map[string]any{"text": strings.Repeat("0123456789", 10)}
	for _, n := range lengths {
		numbers, maps := make([]any, n), make([]any, n)
		for i := range numbers {
			numbers[i] = int64(i)
			maps[i] = map[string]any{"a": int64(i % 10), "b": "abcdef"}
		}
		data[fmt.Sprintf("numbers%d", n)], data[fmt.Sprintf("maps%d", n)] = numbers, maps
	}
	roots["data"] = plainRoot(data)
	return roots, nil
}

// encode makes the record of these roots.
func encode(roots []root) []byte {
	encoder := wire.Get(len(roots))
	defer encoder.Put()
	for i, root := range roots {
		switch object := root.object.(type) {
		case nil:
			encoder.SetNull(i)
		case runtime.Object:
			encoder.SetObject(i, object)
		case map[string]any:
			encoder.SetObject(i, &unstructured.Unstructured{Object: object})
		}
	}
	return append([]byte(nil), encoder.Bytes()...)
}

// plainOf is the value as JSON has it; an error for values of kinds that JSON has not.
func plainOf(value ref.Val) (any, error) {
	switch value := value.(type) {
	case types.Null:
		return nil, nil
	case types.Bool:
		return bool(value), nil
	case types.Int:
		return int64(value), nil
	case types.Double:
		return float64(value), nil
	case types.String:
		return string(value), nil
	case traits.Lister:
		list := []any{}
		for it := value.Iterator(); it.HasNext() == types.True; {
			plain, err := plainOf(it.Next())
			if err != nil {
				return nil, err
			}
			list = append(list, plain)
		}
		return list, nil
	case traits.Mapper:
		object := map[string]any{}
		for it := value.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			name, ok := key.(types.String)
			if !ok {
				return nil, fmt.Errorf("a key of type %s", key.Type())
			}
			plain, err := plainOf(value.Get(key))
			if err != nil {
				return nil, err
			}
			object[string(name)] = plain
		}
		return object, nil
	}
	return nil, fmt.Errorf("a value of type %s", value.Type())
}

// show prints a result in the way that all evaluators do here.
func show(value ref.Val, err error) string {
	if err != nil {
		return "error"
	}
	plain, err := plainOf(value)
	if err != nil {
		return value.Type().TypeName()
	}
	text := &strings.Builder{}
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(plain); err != nil {
		return err.Error()
	}
	return strings.TrimSpace(text.String())
}
