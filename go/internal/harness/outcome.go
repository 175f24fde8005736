package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"
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
	recorder := &warnings{}
	attributes := &annotated{Attributes: request.attributes(), annotations: map[string]string{}}
	err := validator.Validate(warning.WithWarningRecorder(ctx, recorder), attributes, objects)
	return Outcome{Status: statusText(err), Warnings: recorder.texts, Annotations: attributes.annotations}
}

func statusText(err error) string {
	if err == nil {
		return ""
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return fmt.Sprintf("%T: %v", err, err)
	}
	data, marshalErr := json.Marshal(status.Status())
	if marshalErr != nil {
		return marshalErr.Error()
	}
	return string(data)
}

// warnings records warnings.
type warnings struct {
	lock  sync.Mutex
	texts []string
}

// AddWarning implements warning.Recorder.
func (w *warnings) AddWarning(agent, text string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.texts = append(w.texts, agent+text)
}

// annotated records the annotations that the attributes accept.
type annotated struct {
	admission.Attributes
	annotations map[string]string
}

// AddAnnotation implements admission.Attributes.
func (a *annotated) AddAnnotation(key, value string) error {
	err := a.Attributes.AddAnnotation(key, value)
	if err == nil {
		a.annotations[key] = value
	}
	return err
}
