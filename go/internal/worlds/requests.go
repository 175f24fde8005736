package worlds

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/celgate/celgate/go/internal/harness"
)

// Request makes a request.
func (g *Generator) Request() *harness.Request {
	r := &harness.Request{
		Namespace: pick(g, "prod", "prod", "prod", "dev", "dev", "plain", "late", "missing"),
		Name:      pick(g, "web", "web", "db", "prod", "other"),
		DryRun:    g.one(10),
		Ended:     g.one(10),
	}
	switch g.random.IntN(6) {
	case 0, 1:
		r.User = &user.DefaultInfo{Name: "bob", UID: "7", Groups: []string{"guests"}, Extra: map[string][]string{"scopes": {"a", "b"}}}
	case 2:
		r.User = &user.DefaultInfo{Name: "system:serviceaccount:prod:robot"}
	}
	if len(g.objects) > 0 && g.one(4) {
		g.example(r)
		return r
	}
	target := pick(g, targets...)
	if g.static && g.one(6) {
		target = pick(g, admissionTargets...)
	}
	if target.weight > 1 && g.one(target.weight) {
		target = targets[0]
	}
	target.about(g, r)
	g.objectsOf(r, target)
	g.options(r)
	return r
}

// example makes a request about an object of the corpus.
func (g *Generator) example(r *harness.Request) {
	object := pick(g, g.objects...)
	// The harness has an example object of everything that the corpus has, so it can be created.
	created, err := harness.Create(object.DeepCopyObject())
	if err != nil {
		return
	}
	created.User, created.DryRun, created.Ended = r.User, r.DryRun, r.Ended
	if created.Namespace != "" && created.Kind.Kind != "Namespace" {
		created.Namespace = r.Namespace
		if accessor, err := meta.Accessor(created.Object); err == nil {
			accessor.SetNamespace(r.Namespace)
		}
	}
	if g.one(3) {
		created.Operation, created.OldObject = admission.Update, pick(g, created.Object, object)
	}
	*r = *created
	g.options(r)
}

// target is what a request can be about.
type target struct {
	// weight is how often the first target is taken instead, once in so many times; 0 is never.
	weight              int
	group, version      string
	kind, resource      string
	subresource         string
	kindGroup, kindVers string
	cluster             bool
	operations          []admission.Operation
	build               func(*Generator, *harness.Request) runtime.Object
}

var (
	usual   = []admission.Operation{admission.Create, admission.Create, admission.Update, admission.Delete}
	update  = []admission.Operation{admission.Update}
	create  = []admission.Operation{admission.Create}
	connect = []admission.Operation{admission.Connect}
)

// about sets what the request says of its resource.
func (t *target) about(g *Generator, r *harness.Request) {
	resource := schema.GroupVersion{Group: t.group, Version: t.version}
	r.Resource, r.Kind, r.Subresource = resource.WithResource(t.resource), resource.WithKind(t.kind), t.subresource
	if t.kindVers != "" {
		r.Kind = schema.GroupVersionKind{Group: t.kindGroup, Version: t.kindVers, Kind: t.kind}
	}
	r.Operation = pick(g, t.operations...)
	switch {
	case t.resource == "namespaces" && t.group == "":
		r.Name = pick(g, "prod", "dev", "new", "late")
		r.Namespace = r.Name
	case t.cluster:
		r.Namespace = ""
	}
}

// objectsOf makes object and oldObject.
func (g *Generator) objectsOf(r *harness.Request, t *target) {
	if r.Operation != admission.Delete {
		r.Object = t.build(g, r)
		r.Object.GetObjectKind().SetGroupVersionKind(r.Kind)
	}
	if r.Operation == admission.Update || r.Operation == admission.Delete && !g.one(20) {
		r.OldObject = t.build(g, r)
		r.OldObject.GetObjectKind().SetGroupVersionKind(r.Kind)
	}
	if r.Operation == admission.Update && g.one(3) {
		r.OldObject = r.Object.DeepCopyObject()
	}
	if r.Operation == admission.Create && r.Subresource == "" && g.one(8) {
		// generateName: the name is made after admission.
		r.Name = ""
		if accessor, err := meta.Accessor(r.Object); err == nil {
			accessor.SetName("")
			accessor.SetGenerateName("web-")
		}
	}
	if g.one(4) {
		for _, object := range []runtime.Object{r.Object, r.OldObject} {
			if _, custom := object.(*unstructured.Unstructured); object != nil && !custom {
				object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as internal objects come, which are converted
			}
		}
	}
	if r.Operation == admission.Delete && g.one(5) {
		r.Name = "" // as the request for a whole collection asks at first
	}
}

func (g *Generator) options(r *harness.Request) {
	about := func(kind string) metav1.TypeMeta {
		return metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: kind}
	}
	if g.one(15) {
		return
	}
	switch r.Operation {
	case admission.Create:
		r.Options = &metav1.CreateOptions{TypeMeta: about("CreateOptions"), FieldManager: pick(g, "", "me", "kubectl"), FieldValidation: pick(g, "", "Strict")}
	case admission.Update:
		r.Options = pick[runtime.Object](g, &metav1.UpdateOptions{TypeMeta: about("UpdateOptions"), FieldManager: "me"},
			&metav1.PatchOptions{TypeMeta: about("PatchOptions"), Force: pointer(true), FieldManager: "you"})
	case admission.Delete:
		options := &metav1.DeleteOptions{TypeMeta: about("DeleteOptions")}
		if g.one(2) {
			options.GracePeriodSeconds, options.PropagationPolicy = pointer(int64(30)), pointer(metav1.DeletePropagationForeground)
			options.Preconditions = &metav1.Preconditions{UID: pointer(types.UID("u"))}
		}
		r.Options = options
	}
}
