package validating

import (
	"encoding/json"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// writtenSchemas keeps the JSON of the schemas that were written last: that of a Pod takes longer to write than its policies take to check, and
// policies that come together are often about the same kinds. Its zero value is empty.
type writtenSchemas struct {
	lock sync.Mutex
	// A schema's place is free again when as many others have come after it.
	kept [keptSchemas]writtenSchema
	next int
}

// keptSchemas is more than the kinds of one policy.
const keptSchemas = 16

type writtenSchema struct {
	schema *spec.Schema
	json   json.RawMessage
}

// json is the JSON of a schema that nobody changes.
func (w *writtenSchemas) json(schema *spec.Schema) (json.RawMessage, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for i := range w.kept {
		if w.kept[i].schema == schema {
			return w.kept[i].json, nil
		}
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	w.kept[w.next] = writtenSchema{schema, text}
	w.next = (w.next + 1) % keptSchemas
	return text, nil
}
