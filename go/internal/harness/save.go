package harness

import (
	"encoding/json"
	"math"
	"os"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
)

// FromScript makes the case of a script. Of the authorizer only AuthorizeByVerb can be kept.
func FromScript(script *Script) (*Case, error) {
	w := script.World
	c := &Case{Policies: w.Policies, Bindings: w.Bindings, Static: w.Static, Namespaces: w.Namespaces, Kinds: caseKinds(w.Kinds), ByVerb: true, Stored: true, Unordered: true}
	for _, param := range w.Params {
		data, err := encode(param)
		if err != nil {
			return nil, err
		}
		c.Params = append(c.Params, data)
	}
	for i := range script.Steps {
		request, err := caseRequest(&script.Steps[i])
		if err != nil {
			return nil, err
		}
		c.Requests = append(c.Requests, request)
	}
	return c, nil
}

// Save writes a case to a JSON file.
func (c *Case) Save(path string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

func caseKinds(kinds []Kind) []CaseKind {
	made := []CaseKind{}
	for _, kind := range kinds {
		made = append(made, CaseKind{APIVersion: kind.Kind.GroupVersion().String(), Kind: kind.Kind.Kind, Namespaced: kind.Namespaced})
	}
	return made
}

func caseRequest(step *Step) (CaseRequest, error) {
	r := step.Request
	made := CaseRequest{
		Name: step.Name, Operation: string(r.Operation), APIVersion: r.Kind.GroupVersion().String(), Kind: r.Kind.Kind,
		ResourceVersion: r.Resource.GroupVersion().String(), Resource: r.Resource.Resource, Subresource: r.Subresource,
		Namespace: &r.Namespace, ObjectName: &r.Name, DryRun: r.DryRun, Ended: r.Ended,
	}
	if r.User != nil {
		made.User = &user.DefaultInfo{Name: r.User.GetName(), UID: r.User.GetUID(), Groups: r.User.GetGroups(), Extra: r.User.GetExtra()}
	}
	for _, object := range []runtime.Object{r.Object, r.OldObject} {
		if object != nil && object.GetObjectKind().GroupVersionKind().Empty() {
			made.Kindless = true
		}
	}
	for _, part := range []struct {
		object runtime.Object
		into   *json.RawMessage
	}{{r.Object, &made.Object}, {r.OldObject, &made.OldObject}, {r.Options, &made.Options}} {
		var err error
		if *part.into, err = encode(part.object); err != nil {
			return made, err
		}
	}
	for _, change := range step.Changes {
		made.Changes = append(made.Changes, CaseChange{Unseen: change.Unseen, Static: change.Static})
		into := &made.Changes[len(made.Changes)-1]
		if change.Kinds != nil {
			kinds := caseKinds(change.Kinds)
			into.Kinds = &kinds
		}
		var err error
		if into.Apply, err = encode(change.Apply); err != nil {
			return made, err
		}
		if into.Delete, err = encode(change.Delete); err != nil {
			return made, err
		}
	}
	return made, nil
}

// encode writes an object with its kind, and doubles as such.
func encode(object runtime.Object) (json.RawMessage, error) {
	if object == nil {
		return nil, nil
	}
	if custom, ok := object.(*unstructured.Unstructured); ok {
		return json.Marshal(withDoubles(custom.Object))
	}
	copied := object.DeepCopyObject()
	if copied.GetObjectKind().GroupVersionKind() == (schema.GroupVersionKind{}) {
		copied.GetObjectKind().SetGroupVersionKind(paramKind(object))
	}
	return json.Marshal(copied)
}

// withDoubles gives JSON in which 2.0 is not 2.
func withDoubles(value any) any {
	switch value := value.(type) {
	case map[string]any:
		made := map[string]any{}
		for key, value := range value {
			made[key] = withDoubles(value)
		}
		return made
	case []any:
		made := make([]any, len(value))
		for i := range value {
			made[i] = withDoubles(value[i])
		}
		return made
	case float64:
		if value == math.Trunc(value) && math.Abs(value) < 1e15 {
			return json.Number(strconv.FormatFloat(value, 'f', 1, 64))
		}
	}
	return value
}
