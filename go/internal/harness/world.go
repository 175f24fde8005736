package harness

import (
	"context"
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// World is what a cluster holds.
type World struct {
	Policies   []*v1.ValidatingAdmissionPolicy
	Bindings   []*v1.ValidatingAdmissionPolicyBinding
	Namespaces []*corev1.Namespace
	Webhooks   []*v1.ValidatingWebhookConfiguration
	// Static are the policies of manifests; nil if the server has none configured.
	Static *Static
	// Params are of types that client-go knows, or unstructured of one of Kinds.
	Params []runtime.Object
	// Kinds are the custom kinds that the cluster knows.
	Kinds []Kind
	// Mapper is what the plugin knows kinds by; nil knows a few built-in ones and Kinds.
	Mapper meta.RESTMapper
	// Authorize answers authorization checks; nil allows everything.
	Authorize func(authorizer.Attributes) (authorizer.Decision, string, error)
}

// Kind is a custom kind.
type Kind struct {
	Kind       schema.GroupVersionKind
	Resource   schema.GroupVersionResource
	Namespaced bool
}

// Request is an admission request.
type Request struct {
	Object, OldObject runtime.Object
	Kind              schema.GroupVersionKind
	Resource          schema.GroupVersionResource
	Subresource       string
	Namespace, Name   string
	Operation         admission.Operation
	Options           runtime.Object
	DryRun            bool
	User              user.Info
	// Ended says that the request's context has ended before it comes: its client has gone.
	Ended bool
}

// attributes makes the request's attributes. Each attempt needs its own: they collect annotations.
func (r *Request) attributes() admission.Attributes {
	subject := r.User
	if subject == nil {
		subject = &user.DefaultInfo{Name: "alice", Groups: []string{"developers", "system:authenticated"}}
	}
	return admission.NewAttributesRecord(r.Object, r.OldObject, r.Kind, r.Namespace, r.Name, r.Resource, r.Subresource, r.Operation, r.Options, r.DryRun, subject)
}

// Default fills in what the API server would before it stores a policy or binding.
func (w *World) Default() {
	for _, policy := range w.Policies {
		defaultStored(policy)
	}
	for _, binding := range w.Bindings {
		defaultStored(binding)
	}
	if w.Static != nil {
		w.Static.Default()
	}
}

// setVersions gives policies and bindings the resourceVersions by which engines tell their versions apart.
func (w *World) setVersions() {
	for i, policy := range w.Policies {
		policy.ResourceVersion = fmt.Sprintf("1%d", i)
	}
	for i, binding := range w.Bindings {
		binding.ResourceVersion = fmt.Sprintf("2%d", i)
	}
}

func defaultStored(object runtime.Object) {
	switch object := object.(type) {
	case *v1.ValidatingAdmissionPolicy:
		if object.Spec.FailurePolicy == nil {
			object.Spec.FailurePolicy = pointer(v1.Fail)
		}
		defaultMatch(object.Spec.MatchConstraints)
	case *v1.ValidatingAdmissionPolicyBinding:
		defaultMatch(object.Spec.MatchResources)
		if ref := object.Spec.ParamRef; ref != nil && ref.ParameterNotFoundAction == nil {
			ref.ParameterNotFoundAction = pointer(v1.DenyAction)
		}
	}
}

func defaultMatch(match *v1.MatchResources) {
	if match == nil {
		return
	}
	if match.MatchPolicy == nil {
		match.MatchPolicy = pointer(v1.Equivalent)
	}
	if match.NamespaceSelector == nil {
		match.NamespaceSelector = &metav1.LabelSelector{}
	}
	if match.ObjectSelector == nil {
		match.ObjectSelector = &metav1.LabelSelector{}
	}
	for _, rules := range [][]v1.NamedRuleWithOperations{match.ResourceRules, match.ExcludeResourceRules} {
		for i := range rules {
			if rules[i].Scope == nil {
				rules[i].Scope = pointer(v1.AllScopes)
			}
		}
	}
}

func pointer[T any](value T) *T { return &value }

// worldAuthorizer answers as the world says.
type worldAuthorizer struct{ world *World }

func (a worldAuthorizer) Authorize(_ context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	if a.world.Authorize == nil {
		return authorizer.DecisionAllow, "", nil
	}
	return a.world.Authorize(attributes)
}

// AuthorizeByVerb answers authorization checks by their verb: allow, deny and explode do as they say, others have no opinion.
func AuthorizeByVerb(a authorizer.Attributes) (authorizer.Decision, string, error) {
	switch a.GetVerb() {
	case "allow":
		return authorizer.DecisionAllow, "allowed " + a.GetResource(), nil
	case "deny":
		return authorizer.DecisionDeny, "denied " + a.GetUser().GetName(), nil
	case "explode":
		return authorizer.DecisionNoOpinion, "", fmt.Errorf("no answer for %s%s", a.GetResource(), a.GetPath())
	}
	return authorizer.DecisionNoOpinion, "", nil
}
