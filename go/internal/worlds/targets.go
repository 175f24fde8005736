package worlds

import (
	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "k8s.io/api/admissionregistration/v1"

	"github.com/celgate/celgate/go/internal/harness"
)

// targets are what requests are about, Pods first.
var targets = []*target{
	{version: "v1", kind: "Pod", resource: "pods", operations: usual, build: pod},
	{version: "v1", kind: "Pod", resource: "pods", operations: usual, build: pod},
	{group: "apps", version: "v1", kind: "Deployment", resource: "deployments", operations: usual, build: deployment},
	{group: "apps", version: "v1", kind: "Deployment", resource: "deployments", operations: usual, build: deployment},
	{group: "apps", version: "v1beta1", kind: "Deployment", resource: "deployments", operations: usual, build: oldDeployment},
	{group: "example.com", version: "v1", kind: harness.WidgetKind, resource: "widgets", operations: usual, build: widget},
	{group: "example.com", version: "v2", kind: harness.WidgetKind, resource: "widgets", operations: usual, build: widget},
	{version: "v1", kind: "Namespace", resource: "namespaces", operations: usual, build: namespaceObject},
	{version: "v1", kind: "Node", resource: "nodes", cluster: true, operations: usual, build: node},
	{version: "v1", kind: "ConfigMap", resource: "configmaps", operations: usual, build: configMap},
	{weight: 2, version: "v1", kind: "Pod", resource: "pods", subresource: "status", operations: update, build: pod},
	{weight: 2, version: "v1", kind: "Pod", resource: "pods", subresource: "ephemeralcontainers", operations: update, build: pod},
	{weight: 2, group: "example.com", version: "v1", kind: harness.WidgetKind, resource: "widgets", subresource: "status", operations: update, build: widget},
	{weight: 2, version: "v1", kind: "Namespace", resource: "namespaces", subresource: "finalize", operations: update, build: namespaceObject},
	{weight: 2, group: "apps", version: "v1", kind: "Deployment", resource: "deployments", subresource: "status", operations: update, build: deployment},
	{weight: 2, group: "apps", version: "v1", kind: "Scale", resource: "deployments", subresource: "scale", kindGroup: "autoscaling", kindVers: "v1", operations: update, build: scale},
	{weight: 2, group: "example.com", version: "v1", kind: "Scale", resource: "widgets", subresource: "scale", kindGroup: "autoscaling", kindVers: "v1", operations: update, build: scale},
	{weight: 2, group: "apps", version: "v1beta1", kind: "Scale", resource: "deployments", subresource: "scale", operations: update, build: oldScale},
	{weight: 2, version: "v1", kind: "Eviction", resource: "pods", subresource: "eviction", kindGroup: "policy", kindVers: "v1", operations: create, build: eviction},
	{weight: 2, version: "v1", kind: "Binding", resource: "pods", subresource: "binding", operations: create, build: bindingObject},
	{weight: 2, version: "v1", kind: "TokenRequest", resource: "serviceaccounts", subresource: "token", kindGroup: "authentication.k8s.io", kindVers: "v1", operations: create, build: token},
	{weight: 2, version: "v1", kind: "PodExecOptions", resource: "pods", subresource: "exec", operations: connect, build: exec},
	{weight: 2, version: "v1", kind: "PodAttachOptions", resource: "pods", subresource: "attach", operations: connect, build: attach},
	{weight: 2, version: "v1", kind: "PodPortForwardOptions", resource: "pods", subresource: "portforward", operations: connect, build: portForward},
	{weight: 2, version: "v1", kind: "ServiceProxyOptions", resource: "services", subresource: "proxy", operations: connect, build: serviceProxy},
	{weight: 2, version: "v1", kind: "NodeProxyOptions", resource: "nodes", subresource: "proxy", cluster: true, operations: connect, build: nodeProxy},
	{weight: 2, group: "extensions", version: "v1beta1", kind: "Deployment", resource: "deployments", operations: usual, build: oldestDeployment},
	{weight: 2, group: "example.com", version: "v1", kind: "Namespace", resource: "namespaces", cluster: true, operations: usual, build: widget},
	// What no policy may intercept.
	{weight: 3, group: "authentication.k8s.io", version: "v1", kind: "TokenReview", resource: "tokenreviews", cluster: true, operations: create, build: review},
	{weight: 3, group: "authorization.k8s.io", version: "v1", kind: "SubjectAccessReview", resource: "subjectaccessreviews", cluster: true, operations: create, build: accessReview},
	{weight: 3, group: v1.GroupName, version: "v1", kind: "ValidatingAdmissionPolicy", resource: "validatingadmissionpolicies", cluster: true, operations: usual, build: policyObject},
	{weight: 3, group: v1.GroupName, version: "v1", kind: "ValidatingAdmissionPolicy", resource: "validatingadmissionpolicies", subresource: "status", cluster: true, operations: update, build: policyObject},
}

func (g *Generator) meta(r *harness.Request) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:        r.Name,
		Namespace:   r.Namespace,
		Labels:      pick(g, nil, map[string]string{"app": "web"}, map[string]string{"app": "db", "tier": "back"}, map[string]string{}),
		Annotations: pick(g, nil, map[string]string{"note": "x"}),
	}
}

func pod(g *Generator, r *harness.Request) runtime.Object {
	pod := &corev1.Pod{ObjectMeta: g.meta(r)}
	for range g.random.IntN(3) {
		container := corev1.Container{Name: pick(g, "a", "b"), Image: pick(g, "nginx", "nginx:1.27", "registry/x:y")}
		if g.one(2) {
			container.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(pick(g, "64Mi", "67108864", "2Gi"))}
		}
		if g.one(3) {
			container.SecurityContext = &corev1.SecurityContext{Privileged: pointer(g.one(2))}
		}
		pod.Spec.Containers = append(pod.Spec.Containers, container)
	}
	return pod
}

func deployment(g *Generator, r *harness.Request) runtime.Object {
	return &appsv1.Deployment{ObjectMeta: g.meta(r), Spec: appsv1.DeploymentSpec{Replicas: pointer(int32(g.random.IntN(6))), Paused: g.one(2)}}
}

func oldDeployment(g *Generator, r *harness.Request) runtime.Object {
	return &appsv1beta1.Deployment{ObjectMeta: g.meta(r), Spec: appsv1beta1.DeploymentSpec{Replicas: pick(g, nil, pointer(int32(4)))}}
}

func oldestDeployment(g *Generator, r *harness.Request) runtime.Object {
	return &extensionsv1beta1.Deployment{ObjectMeta: g.meta(r), Spec: extensionsv1beta1.DeploymentSpec{Replicas: pick(g, nil, pointer(int32(4)))}}
}

func widget(g *Generator, r *harness.Request) runtime.Object {
	widget := &unstructured.Unstructured{Object: map[string]any{}}
	if !g.one(5) {
		widget.Object["spec"] = map[string]any{
			"replicas":   pick[any](g, int64(2), int64(5), 2.0, 4.5, "three", nil),
			"containers": []any{map[string]any{"image": pick(g, "a", "a:b"), "resources": map[string]any{"limits": map[string]any{"memory": "64Mi"}}}},
		}
	}
	widget.SetName(r.Name)
	widget.SetNamespace(r.Namespace)
	if g.one(2) {
		widget.SetLabels(map[string]string{"app": pick(g, "web", "db")})
	}
	return widget
}

func namespaceObject(g *Generator, r *harness.Request) runtime.Object {
	return namespace(r.Name, pick(g, nil, map[string]string{"env": "prod"}, map[string]string{"env": "dev", "team": "b"}))
}

func node(g *Generator, r *harness.Request) runtime.Object {
	return &corev1.Node{ObjectMeta: g.meta(r), Spec: corev1.NodeSpec{Unschedulable: g.one(2)}}
}

func configMap(g *Generator, r *harness.Request) runtime.Object {
	return &corev1.ConfigMap{ObjectMeta: g.meta(r), Data: pick(g, nil, map[string]string{"max": "2"}), BinaryData: pick(g, nil, map[string][]byte{"b": {0, 255}})}
}

func scale(g *Generator, r *harness.Request) runtime.Object {
	return &autoscalingv1.Scale{ObjectMeta: g.meta(r), Spec: autoscalingv1.ScaleSpec{Replicas: int32(g.random.IntN(5))}}
}

func oldScale(g *Generator, r *harness.Request) runtime.Object {
	return &appsv1beta1.Scale{ObjectMeta: g.meta(r), Spec: appsv1beta1.ScaleSpec{Replicas: int32(g.random.IntN(5))}}
}

func eviction(g *Generator, r *harness.Request) runtime.Object {
	return &policyv1.Eviction{ObjectMeta: g.meta(r), DeleteOptions: pick(g, nil, &metav1.DeleteOptions{GracePeriodSeconds: pointer(int64(1))})}
}

func bindingObject(g *Generator, r *harness.Request) runtime.Object {
	return &corev1.Binding{ObjectMeta: g.meta(r), Target: corev1.ObjectReference{Kind: "Node", Name: pick(g, "node", "other")}}
}

func token(g *Generator, r *harness.Request) runtime.Object {
	return &authenticationv1.TokenRequest{ObjectMeta: g.meta(r), Spec: authenticationv1.TokenRequestSpec{Audiences: pick(g, nil, []string{"a"}), ExpirationSeconds: pointer(int64(600))}}
}

func exec(g *Generator, _ *harness.Request) runtime.Object {
	return &corev1.PodExecOptions{Stdin: g.one(2), Container: pick(g, "", "a"), Command: pick(g, nil, []string{"sh"}, []string{"ls", "-l"})}
}

func attach(g *Generator, _ *harness.Request) runtime.Object {
	return &corev1.PodAttachOptions{Stdout: g.one(2), Container: "a"}
}

func portForward(g *Generator, _ *harness.Request) runtime.Object {
	return &corev1.PodPortForwardOptions{Ports: pick(g, nil, []int32{80})}
}

func serviceProxy(g *Generator, _ *harness.Request) runtime.Object {
	return &corev1.ServiceProxyOptions{Path: pick(g, "", "/x")}
}

func nodeProxy(g *Generator, _ *harness.Request) runtime.Object {
	return &corev1.NodeProxyOptions{Path: pick(g, "", "/x")}
}

func review(*Generator, *harness.Request) runtime.Object {
	return &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "t"}}
}

func accessReview(*Generator, *harness.Request) runtime.Object {
	return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: "u"}}
}
