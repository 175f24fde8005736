package main

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"

	"github.com/celgate/celgate/benchmarks/workloads"
)

// internalObjects are the interfaces of objects as kube-apiserver passes them to admission.
var internalObjects = admission.NewObjectInterfacesFromScheme(legacyscheme.Scheme)

// internalPods are creations of Pods as kube-apiserver passes them.
func internalPods() ([]admission.Attributes, error) {
	return workloads.Requests(func(i int) (runtime.Object, runtime.Object, error) {
		object := &core.Pod{}
		return object, nil, legacyscheme.Scheme.Convert(workloads.Pod(i), object, nil)
	}, workloads.PodKind, workloads.PodResource)
}

// allWorkloads are the shared ones, each matching/N/versioned followed by the same with internal objects.
func allWorkloads() []*workloads.Workload {
	var all []*workloads.Workload
	for _, w := range workloads.All() {
		all = append(all, w)
		if name, ok := strings.CutSuffix(w.Name, "/versioned"); ok {
			internal := *w
			internal.Name, internal.Requests, internal.Objects = name+"/internal", internalPods, internalObjects
			all = append(all, &internal)
		}
	}
	return all
}
