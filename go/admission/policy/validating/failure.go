package validating

import (
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"
)

// refuse answers a request that the core could not decide. Its policies' failurePolicy decides: what the first matching policy with Fail
// would have said cannot be known, so it denies; policies with Ignore admit.
func (d *dispatcher) refuse(a admission.Attributes, o admission.ObjectInterfaces, view *snapshot, cause error) error {
	counters.failed()
	utilruntime.HandleError(fmt.Errorf("request for %s could not be evaluated: %w", a.GetResource(), cause))
	return d.failClosed(a, o, view, cause)
}

// failClosed denies if a policy with failurePolicy Fail matches, which upstream's own matching finds out.
func (d *dispatcher) failClosed(a admission.Attributes, o admission.ObjectInterfaces, view *snapshot, cause error) error {
	if d.exempt.fromAll(a.GetResource().GroupResource()) {
		return nil
	}
	hooks := view.hooks
	if view.static != nil && d.exempt.fromAPI(a.GetResource().GroupResource()) {
		hooks = view.static.hooks
	}
	for i := range hooks {
		policy := hooks[i].Policy
		if policy.Spec.FailurePolicy != nil && *policy.Spec.FailurePolicy == v1.Ignore {
			continue
		}
		if binding, matches := d.anyMatch(a, o, &hooks[i]); matches {
			refusal := denial{policy: policy, binding: binding, message: cause.Error()}
			return refusal.error(a)
		}
	}
	return nil
}

// anyMatch gives a binding by which a policy matches; an error in matching counts as a match.
func (d *dispatcher) anyMatch(a admission.Attributes, o admission.ObjectInterfaces, hook *PolicyHook) (*PolicyBinding, bool) {
	matches, _, _, err := d.policies.DefinitionMatches(a, o, NewValidatingAdmissionPolicyAccessor(hook.Policy))
	if err != nil {
		return nil, true
	}
	if !matches {
		return nil, false
	}
	for _, binding := range hook.Bindings {
		matches, err := d.policies.BindingMatches(a, o, NewValidatingAdmissionPolicyBindingAccessor(binding))
		if matches || err != nil {
			return binding, true
		}
	}
	return nil, false
}
