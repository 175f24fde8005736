package verifying

import (
	"time"

	"k8s.io/apiserver/pkg/admission"

	"github.com/celgate/celgate/go/admission/policy/validating"
	"github.com/celgate/celgate/go/internal/answer"
)

// observed is a request with all that a plugin says of it.
type observed struct {
	admission.Attributes
	warnings    *answer.Warnings
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
