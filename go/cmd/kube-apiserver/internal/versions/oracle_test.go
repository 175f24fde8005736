package versions

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializerjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/apis/admissionregistration"
	"k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	"k8s.io/kubernetes/pkg/apis/admissionregistration/validation"

	"github.com/celgate/celgate/go/internal/cabi/expression"
)

var (
	scheme  = runtime.NewScheme()
	lenient = serializerjson.NewSerializerWithOptions(serializerjson.DefaultMetaFactory, scheme, scheme, serializerjson.SerializerOptions{})
	strict  = serializerjson.NewSerializerWithOptions(serializerjson.DefaultMetaFactory, scheme, scheme, serializerjson.SerializerOptions{Strict: true})
)

func init() { install.Install(scheme) }

// reading is what was read from an object's JSON, in the form that the core shows it in.
type reading struct {
	Object any      `json:"object"`
	Strict []string `json:"strict"`
}

// upstream decodes, defaults and converts to v1. Invalid are what validation says of the object.
func upstream(text []byte) (read *reading, invalid field.ErrorList, err error) {
	object, identity, err := lenient.Decode(text, nil, nil)
	if err != nil {
		return nil, nil, err
	}
	scheme.Default(object)
	read = &reading{Strict: []string{}}
	if _, _, err := strict.Decode(text, nil, nil); err != nil {
		strictError, ok := runtime.AsStrictDecodingError(err)
		if !ok {
			return nil, nil, fmt.Errorf("strict decoding alone fails: %w", err)
		}
		for _, err := range strictError.Errors() {
			read.Strict = append(read.Strict, err.Error())
		}
	}
	var shown any
	switch identity.Kind {
	case "ValidatingAdmissionPolicyBinding":
		internal, converted := &admissionregistration.ValidatingAdmissionPolicyBinding{}, &v1.ValidatingAdmissionPolicyBinding{}
		err = convert(object, internal, converted)
		shown = show(converted.Name, converted.Annotations, converted.Spec)
		invalid = validation.ValidateValidatingAdmissionPolicyBinding(internal)
	case "ValidatingAdmissionPolicy":
		internal, converted := &admissionregistration.ValidatingAdmissionPolicy{}, &v1.ValidatingAdmissionPolicy{}
		err = convert(object, internal, converted)
		shown = show(converted.Name, converted.Annotations, converted.Spec)
		invalid = validation.ValidateValidatingAdmissionPolicy(internal)
	default:
		return nil, nil, fmt.Errorf("%T is neither policy nor binding", object)
	}
	if err != nil {
		return nil, nil, err
	}
	content, err := json.Marshal(shown)
	if err != nil {
		return nil, nil, err
	}
	return read, invalid, json.Unmarshal(content, &read.Object)
}

func convert(object, internal, converted runtime.Object) error {
	if err := scheme.Convert(object, internal, nil); err != nil {
		return err
	}
	return scheme.Convert(internal, converted, nil)
}

func show(name string, annotations map[string]string, spec any) any {
	metadata := map[string]any{"name": name}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	return map[string]any{"metadata": metadata, "spec": spec}
}

// core reads with the Rust core.
func core(text []byte) (*reading, error) {
	content, err := expression.ReadObject(text)
	if err != nil {
		return nil, err
	}
	read := &reading{}
	return read, json.Unmarshal(content, read)
}

// compare says what differs between upstream's reading and the core's, and whether the object can be read.
func compare(text []byte) (difference string, accepted bool) {
	want, invalid, wantErr := upstream(text)
	got, gotErr := core(text)
	switch {
	case wantErr != nil && gotErr != nil:
		return sameField(wantErr.Error(), gotErr.Error()), false
	case wantErr != nil:
		return fmt.Sprintf("upstream refuses it: %v", wantErr), false
	case gotErr != nil && refusedByValidation(invalid, gotErr.Error()):
		return "", false
	case gotErr != nil:
		return fmt.Sprintf("the core refuses it: %v", gotErr), false
	case !reflect.DeepEqual(want.Object, got.Object):
		wantText, _ := json.Marshal(want.Object)
		gotText, _ := json.Marshal(got.Object)
		return fmt.Sprintf("upstream reads %s\nthe core %s", wantText, gotText), true
	case !slices.Equal(want.Strict, got.Strict):
		return fmt.Sprintf("strict: upstream says %q, the core %q", want.Strict, got.Strict), true
	}
	return "", true
}

// refusedByValidation says whether the core refuses what the API's validation refuses, in its words.
func refusedByValidation(invalid field.ErrorList, text string) bool {
	return slices.ContainsFunc(invalid, func(err *field.Error) bool {
		return err.Type == field.ErrorTypeNotSupported && strings.HasSuffix(text, ": "+err.Error())
	})
}

var (
	wantField = regexp.MustCompile(`^json: cannot unmarshal .* into Go struct field \w+\.(\S+) of type`)
	indexes   = regexp.MustCompile(`\[\d+\]`)
	times     = regexp.MustCompile(`(Timestamp|\.time|\.lastTransitionTime)$`)
	// embedded are Go's names of structs that are inlined.
	embedded = regexp.MustCompile(`(RuleWithOperations\.)?Rule\.|RuleWithOperations\.`)
)

// sameField says what is wrong if upstream's error names a field that the core's does not. Upstream leaves out indexes and keys of maps,
// and tells errors of times before others.
func sameField(want, got string) string {
	match := wantField.FindStringSubmatch(want)
	if match == nil || times.MatchString(match[1]) {
		return ""
	}
	path := regexp.QuoteMeta(embedded.ReplaceAllString(match[1], ""))
	if regexp.MustCompile(` ` + path + `(\.\S*)?: `).MatchString(indexes.ReplaceAllString(got, "")) {
		return ""
	}
	return fmt.Sprintf("upstream says %q, the core %q", want, got)
}

// check compares and reports.
func check(t *testing.T, text string) (accepted bool) {
	t.Helper()
	difference, accepted := compare([]byte(text))
	if difference != "" {
		t.Errorf("%s\n%s", text, difference)
	}
	return accepted
}
