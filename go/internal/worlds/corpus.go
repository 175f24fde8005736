package worlds

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celgate/celgate/go/internal/harness"
)

// Corpus is public policies with objects for them.
type Corpus struct {
	entries []*entry
	// kinds are those of their params.
	kinds []harness.Kind
}

// entry is a policy.
type entry struct {
	policy   *v1.ValidatingAdmissionPolicy
	bindings []*v1.ValidatingAdmissionPolicyBinding
	params   []runtime.Object
	objects  []runtime.Object
}

// corpusFile is a file of the corpus: of one library or the other.
type corpusFile struct {
	Policy   *v1.ValidatingAdmissionPolicy          `json:"policy"`
	Bindings []*v1.ValidatingAdmissionPolicyBinding `json:"bindings"`
	Cases    []struct {
		Object  json.RawMessage                      `json:"object"`
		Binding *v1.ValidatingAdmissionPolicyBinding `json:"binding"`
		Params  json.RawMessage                      `json:"params"`
	} `json:"cases"`
	Violating []json.RawMessage `json:"violating_objects"`
}

// LoadCorpus reads the policies below a directory, nil if none is given or it is not there.
func LoadCorpus(root string) (*Corpus, error) {
	if root == "" {
		return nil, nil
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*.json"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	corpus := &Corpus{}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var file corpusFile
		if err := json.Unmarshal(data, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if file.Policy == nil {
			return nil, fmt.Errorf("%s: no policy in it", path)
		}
		if err := corpus.add(&file); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return corpus, nil
}

func (c *Corpus) add(file *corpusFile) error {
	e := &entry{policy: file.Policy, bindings: file.Bindings}
	for i, example := range file.Cases {
		if i == 0 && example.Binding != nil {
			e.bindings = append(e.bindings, example.Binding)
		}
		if i == 0 && len(example.Params) > 0 && string(example.Params) != "null" {
			param, err := harness.Decode(example.Params)
			if err != nil {
				return err
			}
			e.params = append(e.params, param)
			kind := param.GetObjectKind().GroupVersionKind()
			resource, _ := meta.UnsafeGuessKindToResource(kind)
			if custom := (harness.Kind{Kind: kind, Resource: resource}); !slices.Contains(c.kinds, custom) {
				c.kinds = append(c.kinds, custom)
			}
		}
		file.Violating = append(file.Violating, example.Object)
	}
	for _, data := range file.Violating {
		object, err := harness.Decode(data)
		if err != nil {
			return err
		}
		e.objects = append(e.objects, object)
	}
	c.entries = append(c.entries, e)
	return nil
}

// named gives a copy of the policy under a name, with up to three of its bindings.
func (e *entry) named(g *Generator, name string) (*v1.ValidatingAdmissionPolicy, []*v1.ValidatingAdmissionPolicyBinding) {
	world := &harness.World{Policies: []*v1.ValidatingAdmissionPolicy{e.policy.DeepCopy()}}
	world.Policies[0].Name = name
	for _, binding := range some(g, 3, e.bindings) {
		copied := binding.DeepCopy()
		copied.Name, copied.Spec.PolicyName = fmt.Sprintf("%s-b%d", name, len(world.Bindings)), name
		if copied.Spec.MatchResources != nil && g.one(2) {
			copied.Spec.MatchResources.ObjectSelector = nil // what restricts it to its own examples
		}
		world.Bindings = append(world.Bindings, copied)
	}
	world.Default()
	return world.Policies[0], world.Bindings
}
