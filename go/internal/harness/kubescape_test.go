package harness

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// corpus is the directory of public policies as data, $CELGATE_CORPUS or ../shared/corpus beside the repository.
func corpus(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("CELGATE_CORPUS")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "corpus")
	}
	dir := filepath.Join(root, name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the corpus is not here: %v", err)
	}
	return dir
}

type kubescapeFile struct {
	Policy json.RawMessage `json:"policy"`
	Cases  []struct {
		Name     string          `json:"name"`
		Expected string          `json:"expected"`
		Object   json.RawMessage `json:"object"`
		Binding  json.RawMessage `json:"binding"`
		Params   json.RawMessage `json:"params"`
	} `json:"cases"`
}

// Every case of the library gets the expected verdict, and all else that upstream says.
func TestKubescape(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus(t, "kubescape"), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var file kubescapeFile
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, c := range file.Cases {
			t.Run(strings.TrimSuffix(filepath.Base(path), ".json")+"/"+c.Name, func(t *testing.T) {
				t.Parallel()
				runKubescape(t, file.Policy, c.Binding, c.Params, c.Object, c.Expected)
			})
		}
	}
}

func runKubescape(t *testing.T, policyJSON, bindingJSON, paramsJSON, objectJSON json.RawMessage, expected string) {
	var policy v1.ValidatingAdmissionPolicy
	var binding v1.ValidatingAdmissionPolicyBinding
	for data, into := range map[*json.RawMessage]any{&policyJSON: &policy, &bindingJSON: &binding} {
		if err := json.Unmarshal(*data, into); err != nil {
			t.Fatal(err)
		}
	}
	policy.ResourceVersion, policy.UID = "1", "policy"
	binding.ResourceVersion, binding.UID = "2", "binding"
	world := &World{Policies: []*v1.ValidatingAdmissionPolicy{&policy}, Bindings: []*v1.ValidatingAdmissionPolicyBinding{&binding}}
	if len(paramsJSON) > 0 && string(paramsJSON) != "null" {
		param, err := Decode(paramsJSON)
		if err != nil {
			t.Fatal(err)
		}
		kind := param.GetObjectKind().GroupVersionKind()
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		world.Kinds = append(world.Kinds, Kind{Kind: kind, Resource: resource})
		world.Params = append(world.Params, param)
	} else if kind := policy.Spec.ParamKind; kind != nil {
		known := metav1.TypeMeta{APIVersion: kind.APIVersion, Kind: kind.Kind}
		gvk := known.GroupVersionKind()
		resource, _ := meta.UnsafeGuessKindToResource(gvk)
		world.Kinds = append(world.Kinds, Kind{Kind: gvk, Resource: resource})
	}
	object, err := Decode(objectJSON)
	if err != nil {
		t.Fatal(err)
	}
	request, err := Create(object)
	if err != nil {
		t.Fatal(err)
	}
	if request.Namespace != "" {
		world.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: request.Namespace}}}
	}
	world.Default()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pair, err := StartPair(ctx, world)
	if err != nil {
		t.Fatal(err)
	}
	outcome, difference := pair.Do(ctx, request)
	if difference != "" {
		t.Error(difference)
	}
	verdict := "pass"
	if outcome.Status != "" {
		verdict = "fail"
	} else if len(outcome.Warnings) > 0 {
		verdict = "warn"
	}
	if verdict != expected {
		t.Errorf("verdict %s, expected %s: %s", verdict, expected, outcome)
	}
}
