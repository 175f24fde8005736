package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"sigs.k8s.io/yaml"
)

// Case is a world and requests as a YAML file has them.
type Case struct {
	Policies []*v1.ValidatingAdmissionPolicy `json:"policies"`
	// Bindings; a case without any gets one with the action Deny for each policy.
	Bindings   []*v1.ValidatingAdmissionPolicyBinding `json:"bindings"`
	Namespaces []*corev1.Namespace                    `json:"namespaces"`
	Params     []json.RawMessage                      `json:"params"`
	Kinds      []CaseKind                             `json:"kinds"`
	// Allowed are the authorization checks that are allowed, as "user verb group/resource" or "user verb /path"; others get no opinion,
	// or the error "down" if the verb is "explode".
	Allowed  []string      `json:"allowed"`
	Requests []CaseRequest `json:"requests"`
	// Unordered says that the order of upstream's Go maps shows in its answers: several policies or bindings have a say.
	Unordered bool `json:"unordered"`
}

// CaseKind is a custom kind.
type CaseKind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespaced bool   `json:"namespaced"`
}

// CaseRequest is a request; what is left out follows from the object, or oldObject.
type CaseRequest struct {
	Name        string           `json:"name"`
	Operation   string           `json:"operation"`
	Object      json.RawMessage  `json:"object"`
	OldObject   json.RawMessage  `json:"oldObject"`
	Options     json.RawMessage  `json:"options"`
	APIVersion  string           `json:"apiVersion"`
	Kind        string           `json:"kind"`
	Resource    string           `json:"resource"`
	Subresource string           `json:"subresource"`
	Namespace   *string          `json:"namespace"`
	ObjectName  *string          `json:"objectName"`
	DryRun      bool             `json:"dryRun"`
	User        user.DefaultInfo `json:"user"`
}

// Load reads a case from a YAML file.
func Load(path string) (*Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var c Case
	if err := yaml.UnmarshalStrict(data, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &c, nil
}

// World makes the case's world.
func (c *Case) World() (*World, error) {
	w := &World{Policies: c.Policies, Bindings: c.Bindings, Namespaces: c.Namespaces}
	if len(w.Bindings) == 0 {
		for _, policy := range w.Policies {
			binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: policy.Name}}
			binding.Spec.PolicyName, binding.Spec.ValidationActions = policy.Name, []v1.ValidationAction{v1.Deny}
			w.Bindings = append(w.Bindings, binding)
		}
	}
	for i, policy := range w.Policies {
		policy.ResourceVersion = fmt.Sprintf("1%d", i)
	}
	for i, binding := range w.Bindings {
		binding.ResourceVersion = fmt.Sprintf("2%d", i)
	}
	for _, data := range c.Params {
		param, err := Decode(data)
		if err != nil {
			return nil, err
		}
		w.Params = append(w.Params, informed(param))
	}
	for _, kind := range c.Kinds {
		gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
		resource, _ := meta.UnsafeGuessKindToResource(gvk)
		w.Kinds = append(w.Kinds, Kind{Kind: gvk, Resource: resource, Namespaced: kind.Namespaced})
	}
	allowed := map[string]bool{}
	for _, check := range c.Allowed {
		allowed[check] = true
	}
	w.Authorize = func(a authorizer.Attributes) (authorizer.Decision, string, error) {
		check := fmt.Sprintf("%s %s %s/%s", a.GetUser().GetName(), a.GetVerb(), a.GetAPIGroup(), a.GetResource())
		if !a.IsResourceRequest() {
			check = fmt.Sprintf("%s %s %s", a.GetUser().GetName(), a.GetVerb(), a.GetPath())
		}
		switch {
		case a.GetVerb() == "explode":
			return authorizer.DecisionNoOpinion, "", errors.New("down")
		case allowed[check]:
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "no rule for " + check, nil
	}
	w.Default()
	return w, nil
}

// informed is a param as informers give it: typed objects come without their kind.
func informed(param runtime.Object) runtime.Object {
	if _, custom := param.(runtime.Unstructured); !custom {
		param.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return param
}

// Request makes the request.
func (r *CaseRequest) Request() (*Request, error) {
	request := &Request{Operation: admission.Create}
	for _, part := range []struct {
		data json.RawMessage
		into *runtime.Object
	}{{r.Object, &request.Object}, {r.OldObject, &request.OldObject}, {r.Options, &request.Options}} {
		if len(part.data) == 0 || string(part.data) == "null" {
			continue
		}
		object, err := Decode(part.data)
		if err != nil {
			return nil, err
		}
		*part.into = object
	}
	subject := request.Object
	if subject == nil {
		subject = request.OldObject
	}
	if subject != nil {
		// Options of a CONNECT have no metadata: such a request says itself what it is about.
		if created, err := Create(subject); err == nil {
			created.Object, created.OldObject, created.Options = request.Object, request.OldObject, request.Options
			request = created
		}
	}
	r.override(request)
	return request, nil
}

func (r *CaseRequest) override(request *Request) {
	if r.Operation != "" {
		request.Operation = admission.Operation(r.Operation)
	}
	if r.Kind != "" {
		request.Kind = schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
	}
	if r.Resource != "" {
		version, _ := schema.ParseGroupVersion(r.APIVersion)
		request.Resource = version.WithResource(r.Resource)
	}
	if r.Namespace != nil {
		request.Namespace = *r.Namespace
	}
	if r.ObjectName != nil {
		request.Name = *r.ObjectName
	}
	request.Subresource, request.DryRun = r.Subresource, r.DryRun
	if r.User.Name != "" {
		request.User = &r.User
	}
}
