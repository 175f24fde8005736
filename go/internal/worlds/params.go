package worlds

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celgate/celgate/go/internal/harness"
)

// params makes the params that a world begins with.
func (g *Generator) params() []runtime.Object {
	var params []runtime.Object
	count := 3 + g.random.IntN(10)
	if g.small {
		count = 4
	}
	for range count {
		param := g.param()
		known := false
		for _, other := range params {
			known = known || sameObject(param, other)
		}
		if !known {
			params = append(params, param)
		}
	}
	return params
}

// param makes a param of any kind. Namespaces are params, too, but those are made with the world.
func (g *Generator) param() runtime.Object {
	meta := metav1.ObjectMeta{Name: pick(g, "one", "one", "two"), Labels: pick(g, nil, map[string]string{"use": "yes"}, map[string]string{"use": "yes"}, map[string]string{"use": "no"})}
	namespaced := meta
	namespaced.Namespace = pick(g, "prod", "prod", "dev")
	switch g.random.IntN(10) {
	case 0, 1, 2:
		param := &corev1.ConfigMap{ObjectMeta: namespaced}
		if !g.one(6) {
			param.Data = map[string]string{"max": fmt.Sprint(g.random.IntN(4)), "name": pick(g, "web", "db")}
		}
		return param
	case 3:
		return &corev1.Node{ObjectMeta: meta, Spec: corev1.NodeSpec{Unschedulable: g.one(2)}}
	case 4:
		return &appsv1.Deployment{ObjectMeta: namespaced, Spec: appsv1.DeploymentSpec{Replicas: pointer(int32(g.random.IntN(3)))}}
	case 5, 6:
		return g.custom("example.com/v1", "Limit", meta)
	case 7:
		return g.custom("example.com/v1", harness.WidgetKind, namespaced)
	default:
		return g.custom("example.com/v1", "Quota", namespaced)
	}
}

func (g *Generator) custom(apiVersion, kind string, meta metav1.ObjectMeta) *unstructured.Unstructured {
	param := &unstructured.Unstructured{Object: map[string]any{}}
	if !g.one(8) {
		param.Object["spec"] = map[string]any{"max": pick[any](g, int64(1), 3.0, 2.5, "many", nil), "name": pick(g, "web", "db"), "list": []any{int64(1), 2.0, "x"}}
	}
	param.SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kind))
	param.SetName(meta.Name)
	param.SetNamespace(meta.Namespace)
	param.SetLabels(meta.Labels)
	return param
}
