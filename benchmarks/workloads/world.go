package workloads

import (
	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// World is what a workload installs, besides the namespaces.
type World struct {
	Policies   []*v1.ValidatingAdmissionPolicy
	Bindings   []*v1.ValidatingAdmissionPolicyBinding
	ConfigMaps []*corev1.ConfigMap
	// Webhooks, if there are any, are the world of the webhook plugin instead.
	Webhooks *v1.ValidatingWebhookConfiguration
}

// Objects are all objects of the world, with the namespaces.
func (w *World) Objects() []runtime.Object {
	var all []runtime.Object
	for _, o := range namespaces() {
		all = append(all, o)
	}
	for _, o := range w.Policies {
		all = append(all, o)
	}
	for _, o := range w.Bindings {
		all = append(all, o)
	}
	if w.Webhooks != nil {
		all = append(all, w.Webhooks)
	}
	return append(all, w.params()...)
}

// params are the objects that are read through the dynamic client.
func (w *World) params() []runtime.Object {
	var all []runtime.Object
	for _, o := range w.ConfigMaps {
		all = append(all, o)
	}
	return all
}
