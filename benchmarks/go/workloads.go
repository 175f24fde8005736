package main

import (
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// workload is a world and the requests that are sent to it in rotation.
type workload struct {
	name     string
	world    func() (*world, error)
	requests func() ([]admission.Attributes, error)
	objects  admission.ObjectInterfaces
	// cold touches much memory between requests, so that neither engine finds its data in the caches.
	cold bool
	// slow workloads are measured with fewer requests.
	slow bool
	// verified workloads are also measured with upstream's plugin and ours beside it, as --admission-engine=verify has them.
	verified bool
}

var (
	versionedObjects = admission.NewObjectInterfacesFromScheme(clientgoscheme.Scheme)
	internalObjects  = admission.NewObjectInterfacesFromScheme(legacyscheme.Scheme)
)

func worldOf(make func() *world) func() (*world, error) {
	return func() (*world, error) { return make(), nil }
}

// versionedPods are creations of Pods that are already v1.
func versionedPods() ([]admission.Attributes, error) {
	return requests(func(i int) (runtime.Object, runtime.Object, error) { return pod(i), nil, nil }, podKind, podResource)
}

// internalPods are creations of Pods as kube-apiserver passes them.
func internalPods() ([]admission.Attributes, error) {
	return requests(func(i int) (runtime.Object, runtime.Object, error) {
		object, err := internal(pod(i))
		return object, nil, err
	}, podKind, podResource)
}

// updatedPods are updates, with two objects.
func updatedPods() ([]admission.Attributes, error) {
	return requests(func(i int) (runtime.Object, runtime.Object, error) {
		old := pod(i)
		old.Labels["tier"] = "frontend"
		return pod(i), old, nil
	}, podKind, podResource)
}

func widgets() ([]admission.Attributes, error) {
	return requests(func(i int) (runtime.Object, runtime.Object, error) {
		object, err := widget(i)
		return object, nil, err
	}, widgetKind, widgetResource)
}

func requests(make func(i int) (object, old runtime.Object, err error), kind schema.GroupVersionKind, resource schema.GroupVersionResource) ([]admission.Attributes, error) {
	var made []admission.Attributes
	for i := range objectCount {
		object, old, err := make(i)
		if err != nil {
			return nil, err
		}
		made = append(made, attributes(i, object, old, kind, resource))
	}
	return made, nil
}

// denying is different(n) of which the last denies every request.
func denying(n int) func() (*world, error) {
	return worldOf(func() *world {
		w := different(n-1, podResource)
		w.policies = append(w.policies, policy("policy-deny", podResource, v1.Validation{
			Expression: "object.spec.containers.size() > 5", MessageExpression: "'only ' + string(object.spec.containers.size()) + ' containers in ' + object.metadata.name",
		}))
		w.bindings = append(w.bindings, binding("policy-deny-binding", "policy-deny", nil))
		return w
	})
}

func workloads() []*workload {
	var all []*workload
	add := func(name string, world func() (*world, error), requests func() ([]admission.Attributes, error), objects admission.ObjectInterfaces) *workload {
		w := &workload{name: name, world: world, requests: requests, objects: objects}
		all = append(all, w)
		return w
	}
	for _, n := range []int{1, 10, 100, 1000} {
		matching := worldOf(func() *world { return different(n, podResource) })
		w := add(fmt.Sprintf("matching/%d/versioned", n), matching, versionedPods, versionedObjects)
		w.slow, w.verified = n >= 1000, n <= 100
		add(fmt.Sprintf("matching/%d/internal", n), matching, internalPods, internalObjects).slow = n >= 1000
	}
	for _, n := range []int{1, 100} {
		w := add(fmt.Sprintf("matching/%d/cold", n), worldOf(func() *world { return different(n, podResource) }), versionedPods, versionedObjects)
		w.cold, w.slow = true, true
	}
	for _, n := range []int{1, 100, 1000} {
		w := add(fmt.Sprintf("not-matching/%d", n), worldOf(func() *world { return different(n, widgetResource) }), versionedPods, versionedObjects)
		w.verified = n == 100
	}
	for _, n := range []int{10, 100, 1024} {
		add(fmt.Sprintf("bindings/%d", n), worldOf(func() *world { return manyBindings(n) }), versionedPods, versionedObjects).slow = n > 100
		add(fmt.Sprintf("configmap-params/%d", n), worldOf(func() *world { return manyParams(n) }), versionedPods, versionedObjects).slow = n > 100
	}
	add("denied/100", denying(100), versionedPods, versionedObjects).verified = true
	add("update/100", worldOf(func() *world { return different(100, podResource) }), updatedPods, versionedObjects)
	add("custom-resource/100", worldOf(func() *world { return different(100, widgetResource) }), widgets, versionedObjects)
	for _, n := range []int{0, 1, 50, 500} {
		add(fmt.Sprintf("webhooks-not-matching/%d", n), webhooks(n, widgetResource, noConditions), versionedPods, versionedObjects)
	}
	add("webhooks-excluded/50", webhooks(50, podResource, excluding), versionedPods, versionedObjects)
	add("webhooks-called/1", called, versionedPods, versionedObjects)
	w := add("pod-security-standards", podSecurityStandards, versionedPods, versionedObjects)
	w.slow, w.verified = true, true
	return all
}
