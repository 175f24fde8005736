package harness

import (
	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Request makes a request.
func (g *Generator) Request() *Request {
	r := &Request{
		Namespace: pick(g, "prod", "prod", "dev", "plain", "missing"),
		Name:      pick(g, "web", "web", "db", "prod"),
		Operation: pick(g, admission.Create, admission.Create, admission.Update, admission.Delete),
		DryRun:    g.one(10),
	}
	if g.one(3) {
		r.User = &user.DefaultInfo{Name: "bob", UID: "7", Groups: []string{"guests"}, Extra: map[string][]string{"scopes": {"a", "b"}}}
	}
	build := g.target(r)
	if r.Operation != admission.Delete {
		r.Object = build()
	}
	if r.Operation == admission.Update || r.Operation == admission.Delete {
		r.OldObject = build()
	}
	switch r.Operation {
	case admission.Create:
		r.Options = &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "CreateOptions"}, FieldManager: "me"}
		if g.one(8) {
			r.Name = ""
		}
	case admission.Delete:
		r.Options = &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "DeleteOptions"}}
	}
	if g.one(8) {
		r.Subresource = "status"
	}
	return r
}

// target chooses what the request is about and gives a function that makes such objects.
func (g *Generator) target(r *Request) func() runtime.Object {
	about := func(group, version, kind, resource string) metav1.TypeMeta {
		gv := schema.GroupVersion{Group: group, Version: version}
		r.Kind, r.Resource = gv.WithKind(kind), gv.WithResource(resource)
		return metav1.TypeMeta{APIVersion: gv.String(), Kind: kind}
	}
	switch g.random.IntN(8) {
	case 0, 1, 2:
		kind := about("", "v1", "Pod", "pods")
		return func() runtime.Object { return g.pod(kind, g.meta(r)) }
	case 3:
		kind := about("apps", "v1", "Deployment", "deployments")
		return func() runtime.Object {
			replicas := int32(g.random.IntN(6))
			return &appsv1.Deployment{TypeMeta: kind, ObjectMeta: g.meta(r), Spec: appsv1.DeploymentSpec{Replicas: &replicas, Paused: g.one(2)}}
		}
	case 4:
		kind := about("apps", "v1beta1", "Deployment", "deployments")
		return func() runtime.Object { return &appsv1beta1.Deployment{TypeMeta: kind, ObjectMeta: g.meta(r)} }
	case 5:
		kind := about("example.com", pick(g, "v1", "v2"), WidgetKind, "widgets")
		return func() runtime.Object { return g.widget(kind, r) }
	case 6:
		kind := about("", "v1", "Namespace", "namespaces")
		r.Name = pick(g, "prod", "new")
		r.Namespace = r.Name
		return func() runtime.Object {
			return &corev1.Namespace{TypeMeta: kind, ObjectMeta: metav1.ObjectMeta{Name: r.Name, Labels: pick(g, nil, map[string]string{"env": "prod"}, map[string]string{"env": "dev", "team": "b"})}}
		}
	default:
		kind := about("", "v1", "Node", "nodes")
		r.Namespace = ""
		return func() runtime.Object { return &corev1.Node{TypeMeta: kind, ObjectMeta: g.meta(r)} }
	}
}

func (g *Generator) meta(r *Request) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:        r.Name,
		Namespace:   r.Namespace,
		Labels:      pick(g, nil, map[string]string{"app": "web"}, map[string]string{"app": "db", "tier": "back"}, map[string]string{}),
		Annotations: pick(g, nil, map[string]string{"note": "x"}),
	}
}

func (g *Generator) pod(kind metav1.TypeMeta, meta metav1.ObjectMeta) *corev1.Pod {
	pod := &corev1.Pod{TypeMeta: kind, ObjectMeta: meta}
	for range g.random.IntN(3) {
		container := corev1.Container{Name: pick(g, "a", "b"), Image: pick(g, "nginx", "nginx:1.27", "registry/x:y")}
		if g.one(2) {
			container.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(pick(g, "64Mi", "67108864", "2Gi"))}
		}
		if g.one(3) {
			privileged := g.one(2)
			container.SecurityContext = &corev1.SecurityContext{Privileged: &privileged}
		}
		pod.Spec.Containers = append(pod.Spec.Containers, container)
	}
	return pod
}

func (g *Generator) widget(kind metav1.TypeMeta, r *Request) *unstructured.Unstructured {
	widget := &unstructured.Unstructured{Object: map[string]any{}}
	if !g.one(5) {
		widget.Object["spec"] = map[string]any{
			"replicas":   pick[any](g, int64(2), int64(5), 2.0, 4.5, "three", nil),
			"containers": []any{map[string]any{"image": pick(g, "a", "a:b"), "resources": map[string]any{"limits": map[string]any{"memory": "64Mi"}}}},
		}
	}
	widget.SetAPIVersion(kind.APIVersion)
	widget.SetKind(kind.Kind)
	widget.SetName(r.Name)
	widget.SetNamespace(r.Namespace)
	if g.one(2) {
		widget.SetLabels(map[string]string{"app": pick(g, "web", "db")})
	}
	return widget
}
