package validating

import (
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/klog/v2"
)

// maxAnnotationValue is the size in bytes to which an audit annotation's value is cut.
const maxAnnotationValue = 10 * 1024

// MaxFailures is how many failures the annotation about them tells of.
const MaxFailures = 50

// FailuresKey is the audit annotation that tells of failures of bindings with the action Audit.
const FailuresKey = "validation.policy.admission.k8s.io/validation_failure"

// annotations collects one policy's audit annotations. The zero value has none.
type annotations struct {
	keys   []string
	values map[string][]string
}

// add notes a value. Several bindings and params may give the same key different values; the same value counts once.
func (a *annotations) add(key, value string) {
	if len(value) > maxAnnotationValue {
		value = value[:maxAnnotationValue]
	}
	if a.values == nil {
		a.values = map[string][]string{}
	}
	known := a.values[key]
	if known == nil {
		a.keys = append(a.keys, key)
	}
	if !slices.Contains(known, value) {
		a.values[key] = append(known, value)
	}
}

// publish adds the annotations to the audit event and forgets them.
func (a *annotations) publish(policy string, attributes admission.Attributes) {
	for _, key := range a.keys {
		value := strings.Join(a.values[key], ", ")
		if err := attributes.AddAnnotation(policy+"/"+key, value); err != nil {
			klog.Warningf("Failed to set admission audit annotation %s to %s for ValidatingAdmissionPolicy %s: %v", key, value, policy, err)
		}
	}
	*a = annotations{}
}

// ValidationFailureValue is one failure in the annotation about failures, as JSON has it.
type ValidationFailureValue struct {
	Message           string                `json:"message"`
	Policy            string                `json:"policy"`
	Binding           string                `json:"binding"`
	ExpressionIndex   int                   `json:"expressionIndex"`
	ValidationActions []v1.ValidationAction `json:"validationActions"`
}

// publishFailures adds the annotation about failures to the audit event.
func publishFailures(attributes admission.Attributes, failures []ValidationFailureValue) {
	if len(failures) == 0 {
		return
	}
	if len(failures) > MaxFailures {
		klog.Warningf("Validation failures count %d for resource %s exceeds limit of %d; truncating audit annotation", len(failures), attributes.GetResource().String(), MaxFailures)
		failures = failures[:MaxFailures]
	}
	value, err := utiljson.Marshal(failures)
	if err == nil {
		err = attributes.AddAnnotation(FailuresKey, string(value))
	}
	if err != nil {
		klog.Warningf("Failed to set admission audit annotation %s for %s: %v", FailuresKey, policiesOf(failures), err)
	}
}

func policiesOf(failures []ValidationFailureValue) string {
	var names []string
	for _, failure := range failures {
		names = append(names, failure.Policy+"/"+failure.Binding)
	}
	return strings.Join(names, ", ")
}
