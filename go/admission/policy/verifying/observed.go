package verifying

import (
	"context"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/warning"

	"github.com/celgate/celgate/go/admission/policy/validating"
)

// observed is a request with all that a plugin says of it.
type observed struct {
	admission.Attributes
	recorder    *recorder
	annotations map[string]string
	// denials are all errors that could have been err.
	denials []error
	err     error
	elapsed time.Duration
}

// AddAnnotation notes an audit annotation and passes it on. What is noted is what was said, whether or not the key was taken.
func (o *observed) AddAnnotation(key, value string) error {
	if _, said := o.annotations[key]; !said {
		if o.annotations == nil {
			o.annotations = map[string]string{}
		}
		o.annotations[key] = value
	}
	return o.Attributes.AddAnnotation(key, value)
}

// witness is the request for celgate's plugin, which tells it of all denials.
type witness struct{ *observed }

var _ validating.Witness = witness{}

// Denied implements validating.Witness.
func (w witness) Denied(err error) { w.denials = append(w.denials, err) }

// recorder records warnings and, if there is a request behind them, passes them on.
type recorder struct {
	to    context.Context
	lock  sync.Mutex
	texts []string
}

func warningsTo(ctx context.Context) *recorder { return &recorder{to: ctx} }

// AddWarning implements warning.Recorder.
func (r *recorder) AddWarning(agent, text string) {
	if r.to != nil {
		warning.AddWarning(r.to, agent, text)
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.texts = append(r.texts, agent+text)
}
