package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/cel/common"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// content is what an input is made of, in a form that a file of cases can have.
type content struct {
	object, oldObject, namespace objectContent
	request                      requestContent
	// plain are the values of the other variables by their roots.
	plain map[int]any
}

// objectContent is an object as JSON; the zero value is null.
type objectContent struct {
	text string
	// unstructured says that the object is no Go struct even where client-go has a type for it.
	unstructured bool
}

// requestContent is what differs from request to request.
type requestContent struct {
	Operation string `json:"operation"`
	DryRun    bool   `json:"dryRun"`
	// Sparse leaves out what a request need not have.
	Sparse bool `json:"sparse,omitempty"`
}

// with returns a copy that shares what is not set anew.
func (c *content) with() *content {
	changed := *c
	changed.plain = maps.Clone(c.plain)
	return &changed
}

// decode returns nil for null.
func (c objectContent) decode() (runtime.Object, error) {
	if c.text == "" {
		return nil, nil
	}
	var kind metav1.TypeMeta
	if err := json.Unmarshal([]byte(c.text), &kind); err != nil {
		return nil, err
	}
	object, err := clientgoscheme.Scheme.New(kind.GroupVersionKind())
	if err != nil || c.unstructured {
		object = &unstructured.Unstructured{}
	}
	text, err := keySorted(c.text)
	if err != nil {
		return nil, err
	}
	return object, json.Unmarshal([]byte(text), object)
}

// keySorted returns JSON whose maps have their keys in order, as the core visits them. Go visits a small map in the order in which it was
// made, from any entry on: made so, upstream's orders include ours.
func keySorted(text string) (string, error) {
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return "", err
	}
	return textOf(value), nil
}

// withSortedKeys makes the maps of a plain value anew, for the same reason.
func withSortedKeys(value any) any {
	switch value := value.(type) {
	case []any:
		made := make([]any, len(value))
		for i, element := range value {
			made[i] = withSortedKeys(element)
		}
		return made
	case map[string]any:
		made := make(map[string]any, len(value))
		for _, key := range sortedKeys(value) {
			made[key] = withSortedKeys(value[key])
		}
		return made
	}
	return value
}

// converted is the object as a param is seen: as maps and lists.
func (c objectContent) converted() (any, error) {
	object, err := c.decode()
	if err != nil || object == nil {
		return nil, err
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(object)
}

func (c requestContent) request() *admissionv1.AdmissionRequest {
	kind := metav1.GroupVersionKind{Group: theResource.Group, Version: theResource.Version, Kind: "Deployment"}
	resource := metav1.GroupVersionResource(theResource)
	request := &admissionv1.AdmissionRequest{
		Kind:               kind,
		Resource:           resource,
		SubResource:        theSubresource,
		RequestKind:        &kind,
		RequestResource:    &resource,
		RequestSubResource: theSubresource,
		Name:               theName,
		Namespace:          theNamespace,
		Operation:          admissionv1.Operation(c.Operation),
		DryRun:             &c.DryRun,
		Options:            runtime.RawExtension{Object: &metav1.CreateOptions{FieldManager: "kubectl", DryRun: []string{"All"}}},
		UserInfo: authenticationv1.UserInfo{
			Username: theUser.Name, UID: "7", Groups: theUser.Groups, Extra: map[string]authenticationv1.ExtraValue{"scopes": {"a", "b"}},
		},
	}
	if c.Sparse {
		request.Options, request.Name, request.SubResource, request.RequestSubResource = runtime.RawExtension{}, "", "", ""
		request.UserInfo = authenticationv1.UserInfo{Username: "system:serviceaccount:ns:web"}
	}
	return request
}

// encode makes the values of both engines.
func (c *content) encode() (*input, error) {
	in := &input{content: c, activation: map[string]any{}}
	bindAuthorizer(in.activation)
	objects := map[int]any{rootRequest: c.request.request()}
	for root, object := range map[int]objectContent{rootObject: c.object, rootOldObject: c.oldObject, rootNamespace: c.namespace} {
		decoded, err := object.decode()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", variables[root].Name, err)
		}
		objects[root] = decoded
	}
	if objects[rootNamespace] == nil {
		objects[rootNamespace] = (*corev1.Namespace)(nil)
	}
	for root, value := range objects {
		in.activation[variables[root].Name] = celValue(value)
	}
	plain := make(map[int]any, len(c.plain))
	for root, value := range c.plain {
		value = withSortedKeys(value)
		plain[root] = value
		in.activation[variables[root].Name] = types.DefaultTypeAdapter.NativeToValue(value)
	}
	in.objects, in.plain = objects, plain
	record, release := in.encoded(&projections{})
	defer release()
	in.record = bytes.Clone(record)
	return in, nil
}

// celValue is the value that upstream's activation has for an object.
func celValue(object any) any {
	if custom, ok := object.(*unstructured.Unstructured); ok {
		return types.DefaultTypeAdapter.NativeToValue(custom.Object)
	}
	return common.SchemalessTypedToVal(object)
}

// textOf writes decoded JSON.
func textOf(value any) string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // It was decoded from JSON.
	}
	return string(bytes.TrimSpace(text.Bytes()))
}
