package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/cel/common"
)

const podText = `{
  "apiVersion": "v1", "kind": "Pod",
  "metadata": {"name": "web-1", "namespace": "default", "generation": 3,
    "creationTimestamp": "2024-02-29T12:34:56Z",
    "labels": {"app": "web", "tier": "front", "env": "prod"}, "annotations": {"a/b": "c", "n": "12"},
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u1", "controller": true}]},
  "spec": {
    "serviceAccountName": "sa", "hostNetwork": false, "priority": 7, "terminationGracePeriodSeconds": 30,
    "nodeSelector": {"disk": "ssd"},
    "securityContext": {"runAsNonRoot": true, "supplementalGroups": [1, 2, 3]},
    "containers": [
      {"name": "a", "image": "registry.example.com/team/app:v1.2.3", "args": ["--x", "--y=1"],
       "ports": [{"containerPort": 80, "name": "http"}, {"containerPort": 443}],
       "env": [{"name": "A", "value": "1"}, {"name": "B"}],
       "resources": {"limits": {"cpu": "500m", "memory": "64Mi"}, "requests": {"cpu": "0.25"}},
       "securityContext": {"privileged": false, "runAsUser": 1000, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}},
       "livenessProbe": {"httpGet": {"path": "/", "port": 8080}}},
      {"name": "b", "image": "nginx", "livenessProbe": {"httpGet": {"path": "/x", "port": "http"}},
       "securityContext": {"privileged": true}},
      {"name": "c", "image": "docker.io/busybox:latest"}],
    "volumes": [{"name": "v", "hostPath": {"path": "/var"}}, {"name": "e", "emptyDir": {}}]},
  "status": {}}`

// variables are the activation that all expressions see.
func variables() (map[string]any, error) {
	var pod, old corev1.Pod
	if err := json.Unmarshal([]byte(podText), &pod); err != nil {
		return nil, err
	}
	oldText := strings.NewReplacer(`"64Mi"`, `"67108864"`, `"generation": 3`, `"generation": 2`).Replace(podText)
	if err := json.Unmarshal([]byte(oldText), &old); err != nil {
		return nil, err
	}
	plain := func(text string) (map[string]any, error) {
		var decoded map[string]any
		// Numbers as the apiserver's decoder has them: whole ones are int64.
		err := utiljson.Unmarshal([]byte(text), &decoded)
		return decoded, err
	}
	crd, err := plain(podText)
	if err != nil {
		return nil, err
	}
	crd["spec"].(map[string]any)["ratio"] = 1.5
	crd["spec"].(map[string]any)["one"] = 1.0
	crd["spec"].(map[string]any)["nothing"] = nil
	crd["spec"].(map[string]any)["matrix"] = []any{[]any{int64(1), int64(2)}, []any{int64(3)}, []any{}}
	converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&pod)
	if err != nil {
		return nil, err
	}
	numbers := make([]any, 50)
	for i := range numbers {
		numbers[i] = int64(i)
	}
	return map[string]any{
		"object":    common.SchemalessTypedToVal(&pod),
		"oldObject": common.SchemalessTypedToVal(&old),
		"crd":       crd,
		"params":    converted,
		"numbers":   numbers,
		"text":      "Häagen-Dazs ice cream",
		"long":      strings.Repeat("0123456789", 30),
		"patterns":  []any{"^a+$", "b*", "(", "[a-z]{2,3}"},
		"nothing":   nil,
	}, nil
}

// tree says what a value is and how upstream holds it: typed values are read by reflection, structs are Go structs.
type tree struct {
	Kind     string   `json:"kind"`
	Text     string   `json:"text,omitempty"`
	Typed    bool     `json:"typed,omitempty"`
	Quantity bool     `json:"quantity,omitempty"`
	Time     bool     `json:"time,omitempty"`
	Keys     []string `json:"keys,omitempty"`
	Parts    []tree   `json:"parts,omitempty"`
}

func values(out io.Writer) error {
	all, err := variables()
	if err != nil {
		return err
	}
	trees := map[string]tree{}
	for name, value := range all {
		trees[name] = treeOf(types.DefaultTypeAdapter.NativeToValue(value), "", "")
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(trees)
}

// treeOf needs the names of the field and of the one above it to know quantities and times, which are strings to CEL.
func treeOf(value ref.Val, field, parent string) tree {
	typed := strings.HasPrefix(fmt.Sprintf("%T", value), "*common.reflect")
	switch value := value.(type) {
	case types.Null:
		return tree{Kind: "null"}
	case types.Bool:
		return tree{Kind: "bool", Text: fmt.Sprint(bool(value))}
	case types.Int:
		return tree{Kind: "int", Text: fmt.Sprint(int64(value))}
	case types.Double:
		return tree{Kind: "double", Text: fmt.Sprint(float64(value))}
	case types.String:
		quantity := parent == "limits" || parent == "requests"
		return tree{Kind: "string", Text: string(value), Quantity: quantity, Time: strings.HasSuffix(field, "Timestamp")}
	case traits.Lister:
		list := tree{Kind: "list", Typed: typed}
		for i := types.Int(0); i < value.Size().(types.Int); i++ {
			list.Parts = append(list.Parts, treeOf(value.Get(i), field, ""))
		}
		return list
	case traits.Mapper:
		object := tree{Kind: "map", Typed: typed}
		if strings.HasSuffix(fmt.Sprintf("%T", value), "Struct") {
			object.Kind = "struct"
		}
		for it := value.Iterator(); it.HasNext() == types.True; {
			object.Keys = append(object.Keys, string(it.Next().(types.String)))
		}
		sort.Strings(object.Keys)
		for _, key := range object.Keys {
			object.Parts = append(object.Parts, treeOf(value.Get(types.String(key)), key, field))
		}
		return object
	}
	panic(fmt.Sprintf("no tree of %T", value))
}
