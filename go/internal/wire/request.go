package wire

import (
	"unsafe"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
)

type admissionRequest = admissionv1.AdmissionRequest

// requestPointers is what an encoder's AdmissionRequest points to.
type requestPointers struct {
	kind     metav1.GroupVersionKind
	resource metav1.GroupVersionResource
	dryRun   bool
}

// SetRequest makes the root for the request what upstream's CreateAdmissionRequest (k8s.io/apiserver/pkg/admission/plugin/cel) makes
// of the attributes, without kind and resource: these depend on the policy's match, and the core adds them.
func (e *Encoder) SetRequest(attrs admission.Attributes) {
	r, p := &e.request, &e.requestPointers
	*p = requestPointers{
		kind:     metav1.GroupVersionKind(attrs.GetKind()),
		resource: metav1.GroupVersionResource(attrs.GetResource()),
		dryRun:   attrs.IsDryRun(),
	}
	*r = admissionv1.AdmissionRequest{
		SubResource:        attrs.GetSubresource(),
		RequestKind:        &p.kind,
		RequestResource:    &p.resource,
		RequestSubResource: attrs.GetSubresource(),
		Name:               attrs.GetName(),
		Namespace:          attrs.GetNamespace(),
		Operation:          admissionv1.Operation(attrs.GetOperation()),
		DryRun:             &p.dryRun,
		Options:            runtime.RawExtension{Object: attrs.GetOperationOptions()},
	}
	if user := attrs.GetUserInfo(); user != nil {
		extra := user.GetExtra()
		r.UserInfo = authenticationv1.UserInfo{
			Username: user.GetName(),
			UID:      user.GetUID(),
			Groups:   user.GetGroups(),
			// ExtraValue is []string, so the maps are the same in memory.
			Extra: *(*map[string]authenticationv1.ExtraValue)(unsafe.Pointer(&extra)),
		}
	}
	e.setRoot(RootRequest, e.value(requestNode, unsafe.Pointer(r), RootRequest+1, 1, flagTyped))
}

func (e *Encoder) clearRequest() {
	e.request = admissionv1.AdmissionRequest{}
	e.requestPointers = requestPointers{}
}
