package validating

import (
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"

	"github.com/celgate/celgate/go/internal/cabi"
)

// Policy is the API type of a policy.
type Policy = v1.ValidatingAdmissionPolicy

// PolicyBinding is the API type of a binding.
type PolicyBinding = v1.ValidatingAdmissionPolicyBinding

// PolicyEvaluator is a compiled policy.
type PolicyEvaluator = *Evaluator

// PolicyHook is a policy with its bindings, params and compiled form.
type PolicyHook = generic.PolicyHook[*Policy, *PolicyBinding, PolicyEvaluator]

// Evaluator is a policy in the engine's form.
type Evaluator struct {
	policy *cabi.Policy
	// err is why the policy as a whole could not be compiled; policy then only matches as the original does. It is an error of the
	// policy's configuration, so failurePolicy applies to it.
	err error
}

// CompileError is why the policy as a whole could not be compiled, or nil. Expressions that do not compile are not among its
// reasons: they fail when they are evaluated, as upstream's do.
func (e *Evaluator) CompileError() error { return e.err }
