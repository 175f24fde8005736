package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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

// Case is a world and requests as a file has them, YAML or JSON: only JSON tells 2.0 from 2.
type Case struct {
	Policies []*v1.ValidatingAdmissionPolicy `json:"policies"`
	// Bindings; a case without any gets one with the action Deny for each policy.
	Bindings   []*v1.ValidatingAdmissionPolicyBinding `json:"bindings,omitempty"`
	Namespaces []*corev1.Namespace                    `json:"namespaces,omitempty"`
	// Static are policies and bindings of manifests; those without a binding get none.
	Static *Static           `json:"static,omitempty"`
	Params []json.RawMessage `json:"params,omitempty"`
	Kinds  []CaseKind        `json:"kinds,omitempty"`
	// Allowed are the authorization checks that are allowed, as "user verb group/resource" or "user verb /path"; others get no opinion,
	// or the error "down" if the verb is "explode".
	Allowed []string `json:"allowed,omitempty"`
	// ByVerb says that authorization checks are answered as AuthorizeByVerb does.
	ByVerb   bool          `json:"byVerb,omitempty"`
	Requests []CaseRequest `json:"requests"`
	// Unordered says that the order of upstream's Go maps shows in its answers: several policies or bindings have a say.
	Unordered bool `json:"unordered,omitempty"`
	// Stored says that policies and bindings get no defaults: they are as the API server has stored them.
	Stored bool `json:"stored,omitempty"`
}

// CaseKind is a custom kind.
type CaseKind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespaced bool   `json:"namespaced,omitempty"`
}

// CaseChange is a change before a request.
type CaseChange struct {
	Apply  json.RawMessage `json:"apply,omitempty"`
	Delete json.RawMessage `json:"delete,omitempty"`
	Unseen bool            `json:"unseen,omitempty"`
	Static *Static         `json:"static,omitempty"`
	// Kinds replaces the custom kinds, if it is there; it may be empty.
	Kinds *[]CaseKind `json:"kinds,omitempty"`
}

// CaseRequest is a request; what is left out follows from the object, or oldObject.
type CaseRequest struct {
	Name       string          `json:"name,omitempty"`
	Changes    []CaseChange    `json:"changes,omitempty"`
	Operation  string          `json:"operation,omitempty"`
	Object     json.RawMessage `json:"object,omitempty"`
	OldObject  json.RawMessage `json:"oldObject,omitempty"`
	Options    json.RawMessage `json:"options,omitempty"`
	APIVersion string          `json:"apiVersion,omitempty"`
	Kind       string          `json:"kind,omitempty"`
	// ResourceVersion is the resource's apiVersion, if it is not the kind's.
	ResourceVersion string  `json:"resourceVersion,omitempty"`
	Resource        string  `json:"resource,omitempty"`
	Subresource     string  `json:"subresource,omitempty"`
	Namespace       *string `json:"namespace,omitempty"`
	ObjectName      *string `json:"objectName,omitempty"`
	DryRun          bool    `json:"dryRun,omitempty"`
	// Ended says that the request's context has ended before it comes.
	Ended bool `json:"ended,omitempty"`
	// Kindless says that typed objects come without apiVersion and kind, as internal ones do.
	Kindless bool              `json:"kindless,omitempty"`
	User     *user.DefaultInfo `json:"user,omitempty"`
	// Expect is the right answer, of both engines unless Differs says otherwise.
	Expect  *Expect  `json:"expect,omitempty"`
	Differs *Differs `json:"differs,omitempty"`
}

// Load reads a case from a file.
func Load(path string) (*Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var c Case
	if filepath.Ext(path) == ".json" {
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&c)
	} else {
		err = yaml.UnmarshalStrict(data, &c)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &c, nil
}

// World makes the case's world.
func (c *Case) World() (*World, error) {
	w := &World{Policies: c.Policies, Bindings: c.Bindings, Namespaces: c.Namespaces, Static: c.Static}
	if len(w.Bindings) == 0 {
		for _, policy := range w.Policies {
			binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: policy.Name}}
			binding.Spec.PolicyName, binding.Spec.ValidationActions = policy.Name, []v1.ValidationAction{v1.Deny}
			w.Bindings = append(w.Bindings, binding)
		}
	}
	w.setVersions()
	for _, data := range c.Params {
		param, err := Decode(data)
		if err != nil {
			return nil, err
		}
		w.Params = append(w.Params, informed(param))
	}
	w.Kinds = kindsOf(c.Kinds)
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
	if c.ByVerb {
		w.Authorize = AuthorizeByVerb
	}
	if !c.Stored {
		w.Default()
	}
	return w, nil
}

func kindsOf(kinds []CaseKind) []Kind {
	made := []Kind{}
	for _, kind := range kinds {
		gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
		resource, _ := meta.UnsafeGuessKindToResource(gvk)
		made = append(made, Kind{Kind: gvk, Resource: resource, Namespaced: kind.Namespaced})
	}
	return made
}

// Script makes the case's script.
func (c *Case) Script() (*Script, error) {
	world, err := c.World()
	if err != nil {
		return nil, err
	}
	script := &Script{World: world}
	for i := range c.Requests {
		r := &c.Requests[i]
		step := Step{Name: r.Name}
		if step.Request, err = r.Request(); err != nil {
			return nil, err
		}
		for _, change := range r.Changes {
			made, err := change.change(c.Stored)
			if err != nil {
				return nil, err
			}
			step.Changes = append(step.Changes, made)
		}
		script.Steps = append(script.Steps, step)
	}
	return script, nil
}

func (c *CaseChange) change(stored bool) (change Change, err error) {
	change.Unseen = c.Unseen
	if change.Static = c.Static; change.Static != nil {
		change.Static.Default()
	}
	if c.Kinds != nil {
		change.Kinds = kindsOf(*c.Kinds)
	}
	if len(c.Apply) > 0 {
		change.Apply, err = Decode(c.Apply)
	}
	if err == nil && len(c.Delete) > 0 {
		change.Delete, err = Decode(c.Delete)
	}
	if !stored {
		defaultStored(change.Apply)
	}
	return change, err
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
	if r.Kindless {
		for _, object := range []runtime.Object{request.Object, request.OldObject} {
			if object != nil {
				informed(object)
			}
		}
	}
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
		version, _ := schema.ParseGroupVersion(cmp.Or(r.ResourceVersion, r.APIVersion))
		request.Resource = version.WithResource(r.Resource)
	}
	if r.Namespace != nil {
		request.Namespace = *r.Namespace
	}
	if r.ObjectName != nil {
		request.Name = *r.ObjectName
	}
	request.Subresource, request.DryRun, request.Ended = r.Subresource, r.DryRun, r.Ended
	if r.User != nil {
		request.User = r.User
	}
}
