package workloads

import (
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// Workload is a world and the requests that are sent to it in rotation.
type Workload struct {
	Name     string
	World    func() (*World, error)
	Requests func() ([]admission.Attributes, error)
	Objects  admission.ObjectInterfaces
	// Cold workloads touch much memory between requests, so that no engine finds its data in the caches.
	Cold bool
	// Slow workloads are measured with fewer rounds.
	Slow bool
}

// versionedObjects are the interfaces of objects that are already of the version that policies match.
var versionedObjects = admission.NewObjectInterfacesFromScheme(clientgoscheme.Scheme)

func worldOf(make func() *World) func() (*World, error) {
	return func() (*World, error) { return make(), nil }
}

// versionedPods are creations of Pods that are already v1.
func versionedPods() ([]admission.Attributes, error) {
	return Requests(func(i int) (runtime.Object, runtime.Object, error) { return Pod(i), nil, nil }, PodKind, PodResource)
}

// updatedPods are updates, with two objects.
func updatedPods() ([]admission.Attributes, error) {
	return Requests(func(i int) (runtime.Object, runtime.Object, error) {
		old := Pod(i)
		old.Labels["tier"] = "frontend"
		return Pod(i), old, nil
	}, PodKind, PodResource)
}

func widgets() ([]admission.Attributes, error) {
	return Requests(func(i int) (runtime.Object, runtime.Object, error) {
		object, err := widget(i)
		return object, nil, err
	}, widgetKind, widgetResource)
}

// Requests are one request for each of the objects in rotation.
func Requests(make func(i int) (object, old runtime.Object, err error), kind schema.GroupVersionKind, resource schema.GroupVersionResource) ([]admission.Attributes, error) {
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

// denying is Different(n) of which the last denies every request.
func denying(n int) func() (*World, error) {
	return worldOf(func() *World {
		w := Different(n - 1)
		w.Policies = append(w.Policies, policy("policy-deny", PodResource, v1.Validation{
			Expression: "object.spec.containers.size() > 5", MessageExpression: "'only ' + string(object.spec.containers.size()) + ' containers in ' + object.metadata.name",
		}))
		w.Bindings = append(w.Bindings, binding("policy-deny-binding", "policy-deny", nil))
		return w
	})
}

// All are the workloads, in the order of the report.
func All() []*Workload {
	var all []*Workload
	add := func(name string, world func() (*World, error), requests func() ([]admission.Attributes, error)) *Workload {
		w := &Workload{Name: name, World: world, Requests: requests, Objects: versionedObjects}
		all = append(all, w)
		return w
	}
	matching := func(n int) func() (*World, error) { return worldOf(func() *World { return Different(n) }) }
	for _, n := range []int{1, 10, 100, 1000} {
		add(fmt.Sprintf("matching/%d/versioned", n), matching(n), versionedPods).Slow = n >= 1000
	}
	for _, n := range []int{1, 100} {
		w := add(fmt.Sprintf("matching/%d/cold", n), matching(n), versionedPods)
		w.Cold, w.Slow = true, true
	}
	for _, n := range []int{1, 100, 1000} {
		add(fmt.Sprintf("not-matching/%d", n), worldOf(func() *World { return different(n, widgetResource) }), versionedPods)
	}
	for _, n := range []int{10, 100, 1024} {
		add(fmt.Sprintf("bindings/%d", n), worldOf(func() *World { return manyBindings(n) }), versionedPods).Slow = n > 100
		add(fmt.Sprintf("configmap-params/%d", n), worldOf(func() *World { return manyParams(n) }), versionedPods).Slow = n > 100
	}
	add("denied/100", denying(100), versionedPods)
	add("update/100", matching(100), updatedPods)
	add("custom-resource/100", worldOf(func() *World { return different(100, widgetResource) }), widgets)
	for _, n := range []int{0, 1, 50, 500} {
		add(fmt.Sprintf("webhooks-not-matching/%d", n), webhooks(n, widgetResource, noConditions), versionedPods)
	}
	add("webhooks-excluded/50", webhooks(50, PodResource, excluding), versionedPods)
	add("webhooks-called/1", called, versionedPods)
	add("pod-security-standards", podSecurityStandards, versionedPods).Slow = true
	return all
}
