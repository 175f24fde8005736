// Package answer has what a client can see of an admission plugin's answer, for all who compare answers.
package answer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/warning"
)

// Status is an error as the client gets it, "" if there is none.
func Status(err error) string {
	if err == nil {
		return ""
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return fmt.Sprintf("%T: %v", err, err)
	}
	text, marshalErr := json.Marshal(status.Status())
	if marshalErr != nil {
		return marshalErr.Error()
	}
	return string(text)
}

// Warnings records warnings. It is a warning.Recorder.
type Warnings struct {
	// To is the context of the request that they are passed on to; nil passes none on.
	To    context.Context
	lock  sync.Mutex
	texts []string
}

// AddWarning implements warning.Recorder.
func (w *Warnings) AddWarning(agent, text string) {
	if w.To != nil {
		warning.AddWarning(w.To, agent, text)
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	w.texts = append(w.texts, agent+text)
}

// Texts are the warnings so far, in the order in which they were given.
func (w *Warnings) Texts() []string {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.texts
}
