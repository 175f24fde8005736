package harness

import (
	"encoding/json"
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// WidgetKind is a custom kind with the versions v1, v2 and v3; objects cannot be converted to v3.
const WidgetKind = "Widget"

// Objects are the object interfaces of a small API server: client-go's types, and Widgets of example.com in these versions. Deployments of
// apps/v1, apps/v1beta1 and extensions/v1beta1 are the same resource, as are the Widgets' versions.
func Objects(widgets ...string) admission.ObjectInterfaces {
	equivalents := runtime.NewEquivalentResourceRegistryWithIdentity(func(resource schema.GroupResource) string {
		if resource == extensionsv1beta1.Resource("deployments") {
			resource = appsv1.Resource("deployments")
		}
		return resource.String()
	})
	for _, version := range widgets {
		gv := schema.GroupVersion{Group: "example.com", Version: version}
		equivalents.RegisterKindFor(gv.WithResource("widgets"), "", gv.WithKind(WidgetKind))
	}
	for _, gv := range []schema.GroupVersion{appsv1beta1.SchemeGroupVersion, appsv1.SchemeGroupVersion, extensionsv1beta1.SchemeGroupVersion} {
		equivalents.RegisterKindFor(gv.WithResource("deployments"), "", gv.WithKind("Deployment"))
		equivalents.RegisterKindFor(gv.WithResource("deployments"), "status", gv.WithKind("Deployment"))
	}
	equivalents.RegisterKindFor(appsv1.SchemeGroupVersion.WithResource("deployments"), "scale", autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
	equivalents.RegisterKindFor(appsv1beta1.SchemeGroupVersion.WithResource("deployments"), "scale", appsv1beta1.SchemeGroupVersion.WithKind("Scale"))
	equivalents.RegisterKindFor(extensionsv1beta1.SchemeGroupVersion.WithResource("deployments"), "scale", extensionsv1beta1.SchemeGroupVersion.WithKind("Scale"))
	// A version without a kind.
	equivalents.RegisterKindFor(schema.GroupVersionResource{Group: "apps", Version: "v0", Resource: "deployments"}, "", schema.GroupVersionKind{})
	scheme := clientgoscheme.Scheme
	return &admission.RuntimeObjectInterfaces{
		ObjectCreater:            creater{scheme},
		ObjectTyper:              scheme,
		ObjectDefaulter:          scheme,
		ObjectConvertor:          convertor{scheme},
		EquivalentResourceMapper: equivalents,
	}
}

// creater makes unstructured objects of kinds that the scheme does not know.
type creater struct{ *runtime.Scheme }

// New implements runtime.ObjectCreater.
func (c creater) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	if kind.Kind != WidgetKind {
		return c.Scheme.New(kind)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}

// convertor converts Widgets by noting the version in their spec.
type convertor struct{ *runtime.Scheme }

// Convert implements runtime.ObjectConvertor.
func (c convertor) Convert(in, out, context any) error {
	if sameThing(in, out) {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		return json.Unmarshal(data, out)
	}
	from, ok := in.(*unstructured.Unstructured)
	to, outOK := out.(*unstructured.Unstructured)
	if !ok || !outOK {
		return c.Scheme.Convert(in, out, context)
	}
	kind := to.GroupVersionKind()
	if kind.Version == "v3" {
		return fmt.Errorf("conversion webhook for %s failed: no", kind)
	}
	to.Object = from.DeepCopy().Object
	to.SetGroupVersionKind(kind)
	return unstructured.SetNestedField(to.Object, kind.Version, "spec", "convertedTo")
}

// sameThing says whether objects differ in defaults at most: they are of one type, or Deployments or Scales of several versions.
func sameThing(in, out any) bool {
	if _, custom := in.(*unstructured.Unstructured); custom {
		return false
	}
	return reflect.TypeOf(in) == reflect.TypeOf(out) || isDeployment(in) && isDeployment(out) || isScale(in) && isScale(out)
}

func isDeployment(object any) bool {
	switch object.(type) {
	case *appsv1.Deployment, *appsv1beta1.Deployment, *extensionsv1beta1.Deployment:
		return true
	}
	return false
}

func isScale(object any) bool {
	switch object.(type) {
	case *autoscalingv1.Scale, *appsv1beta1.Scale, *extensionsv1beta1.Scale:
		return true
	}
	return false
}
