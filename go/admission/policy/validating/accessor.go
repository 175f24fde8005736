package validating

import (
	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
)

// NewValidatingAdmissionPolicyAccessor gives a policy to upstream's generic code.
func NewValidatingAdmissionPolicyAccessor(policy *Policy) generic.PolicyAccessor {
	return policyAccessor{policy}
}

// NewValidatingAdmissionPolicyBindingAccessor gives a binding to upstream's generic code.
func NewValidatingAdmissionPolicyBindingAccessor(binding *PolicyBinding) generic.BindingAccessor {
	return bindingAccessor{binding}
}

type policyAccessor struct{ *Policy }

func (p policyAccessor) GetParamKind() *v1.ParamKind { return p.Spec.ParamKind }

func (p policyAccessor) GetMatchConstraints() *v1.MatchResources { return p.Spec.MatchConstraints }

func (p policyAccessor) GetFailurePolicy() *v1.FailurePolicyType { return p.Spec.FailurePolicy }

type bindingAccessor struct{ *PolicyBinding }

func (b bindingAccessor) GetPolicyName() types.NamespacedName {
	return types.NamespacedName{Name: b.Spec.PolicyName}
}

func (b bindingAccessor) GetParamRef() *v1.ParamRef { return b.Spec.ParamRef }

func (b bindingAccessor) GetMatchResources() *v1.MatchResources { return b.Spec.MatchResources }
