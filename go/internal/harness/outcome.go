package harness

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"

	"github.com/celgate/celgate/go/internal/answer"
)

// Outcome is what a user can see of a request. Two are equal if their texts are.
type Outcome struct {
	// Status is the error as the client gets it, "" if the request is allowed.
	Status string
	// Warnings are in the order in which they were given.
	Warnings []string
	// Annotations are the audit annotations.
	Annotations map[string]string
}

func (o Outcome) String() string {
	data, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// Equal is the same as comparing the texts, and cheap.
func (o *Outcome) Equal(other *Outcome) bool {
	return o.Status == other.Status && slices.Equal(o.Warnings, other.Warnings) && maps.Equal(o.Annotations, other.Annotations)
}

// Do sends a request through the plugin.
func (c *Cluster) Do(ctx context.Context, request *Request) Outcome {
	return Observe(ctx, c.Plugin, request, c.Objects)
}

// Validator decides requests.
type Validator interface {
	Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error
}

// Observe sends a request through a validator and records what a user can see of it.
func Observe(ctx context.Context, validator Validator, request *Request, objects admission.ObjectInterfaces) Outcome {
	if request.Ended {
		ended, end := context.WithCancel(ctx)
		end()
		ctx = ended
	}
	recorder := &answer.Warnings{}
	attributes := &annotated{Attributes: request.attributes(), annotations: map[string]string{}}
	err := validator.Validate(warning.WithWarningRecorder(ctx, recorder), attributes, objects)
	return Outcome{Status: answer.Status(err), Warnings: recorder.Texts(), Annotations: attributes.annotations}
}

// annotated records the annotations that the attributes accept. Webhooks that are called at once annotate at once, as attributes allow.
type annotated struct {
	admission.Attributes
	lock        sync.Mutex
	annotations map[string]string
}

// AddAnnotation implements admission.Attributes.
func (a *annotated) AddAnnotation(key, value string) error {
	err := a.Attributes.AddAnnotation(key, value)
	if err == nil {
		a.lock.Lock()
		defer a.lock.Unlock()
		a.annotations[key] = value
	}
	return err
}
