package validating

import (
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// exemptions are the resources that policies must not intercept.
type exemptions struct {
	// all are exempt from every policy: reviews that authentication and authorization are made of. The API server gives the list.
	all sets.Set[schema.GroupResource]
	// api are exempt from the API's policies, which could lock out their own repair, but not from static ones.
	api sets.Set[schema.GroupResource]
}

func newExemptions() *exemptions {
	return &exemptions{
		all: sets.New[schema.GroupResource](),
		api: sets.New(
			schema.GroupResource{Group: admissionregistrationv1.GroupName, Resource: "validatingadmissionpolicies"},
			schema.GroupResource{Group: admissionregistrationv1.GroupName, Resource: "validatingadmissionpolicybindings"},
			schema.GroupResource{Group: admissionregistrationv1.GroupName, Resource: "mutatingadmissionpolicies"},
			schema.GroupResource{Group: admissionregistrationv1.GroupName, Resource: "mutatingadmissionpolicybindings"},
		),
	}
}

func (e *exemptions) fromAll(resource schema.GroupResource) bool { return e.all.Has(resource) }

func (e *exemptions) fromAPI(resource schema.GroupResource) bool { return e.api.Has(resource) }
