package validating

import (
	"encoding/json"
	"errors"
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/klog/v2"

	"github.com/celgate/celgate/go/internal/cabi"
)

// TypeChecker finds what is wrong with a policy's expressions once the types of object and params are known. It changes no decision.
type TypeChecker struct {
	// SchemaResolver resolves schemas, which nobody changes. One that gives the same schema again saves writing it anew for the engine.
	SchemaResolver resolver.SchemaResolver
	RestMapper     meta.RESTMapper

	written writtenSchemas
}

// typeCheckInput is what the engine is given (docs/abi.md, "Type checking").
type typeCheckInput struct {
	Policy struct {
		Spec *v1.ValidatingAdmissionPolicySpec `json:"spec"`
	} `json:"policy"`
	Types  []typedKind `json:"types"`
	Params *typedKind  `json:"params"`
}

// typedKind is a kind and its schema; the engine takes a kind without one for anything.
type typedKind struct {
	Kind struct {
		Group   string `json:"group"`
		Version string `json:"version"`
		Kind    string `json:"kind"`
	} `json:"kind"`
	Schema json.RawMessage `json:"schema"`
}

// Check returns the warnings for the policy's status, nil if there are none. The policy is not changed.
func (c *TypeChecker) Check(policy *v1.ValidatingAdmissionPolicy) []v1.ExpressionWarning {
	warnings, err := c.check(policy)
	if err != nil {
		utilruntime.HandleError(fmt.Errorf("type checking policy %q: %w", policy.Name, err))
	}
	return warnings
}

func (c *TypeChecker) check(policy *v1.ValidatingAdmissionPolicy) ([]v1.ExpressionWarning, error) {
	var input typeCheckInput
	input.Policy.Spec = &policy.Spec
	for _, kind := range c.kinds(policy) {
		if typed, known := c.typed(kind); known {
			input.Types = append(input.Types, typed)
		}
	}
	if len(input.Types) == 0 {
		return nil, nil
	}
	if kind := paramsKind(policy); !kind.Empty() {
		typed, _ := c.typed(kind)
		input.Params = &typed
	}
	content, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	content, err = cabi.TypeCheck(content)
	if err != nil {
		return nil, err
	}
	var warnings []v1.ExpressionWarning
	if err := json.Unmarshal(content, &warnings); err != nil {
		return nil, err
	}
	if len(warnings) == 0 {
		return nil, nil
	}
	return warnings, nil
}

// typed resolves a kind's schema; not known is a kind without one, which may be one that does not exist.
func (c *TypeChecker) typed(kind schema.GroupVersionKind) (typed typedKind, known bool) {
	typed.Kind.Group, typed.Kind.Version, typed.Kind.Kind = kind.Group, kind.Version, kind.Kind
	resolved, err := c.SchemaResolver.ResolveSchema(kind)
	if err != nil {
		if !errors.Is(err, resolver.ErrSchemaNotFound) {
			klog.V(2).ErrorS(err, "Type checking goes without a schema that cannot be resolved", "gvk", kind)
		}
		return typed, false
	}
	if typed.Schema, err = c.written.json(resolved); err != nil {
		klog.V(2).ErrorS(err, "Type checking goes without a schema that cannot be written", "gvk", kind)
		return typed, false
	}
	return typed, true
}

// paramsKind is empty if the policy has no params, or none that can be.
func paramsKind(policy *v1.ValidatingAdmissionPolicy) schema.GroupVersionKind {
	if policy.Spec.ParamKind == nil {
		return schema.GroupVersionKind{}
	}
	version, err := schema.ParseGroupVersion(policy.Spec.ParamKind.APIVersion)
	if err != nil {
		return schema.GroupVersionKind{}
	}
	return version.WithKind(policy.Spec.ParamKind.Kind)
}
