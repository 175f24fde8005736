package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// paramRefCase is one way of naming params.
type paramRefCase struct {
	clusterScoped, byName, byLabel, elsewhere, denyMissing bool
}

const (
	requestNamespace = "theirs"
	namedNamespace   = "mine"
	theParam         = "one"
)

func (c paramRefCase) String() string {
	name := "everything"
	switch {
	case c.byName:
		name = "by name"
	case c.byLabel:
		name = "by label"
	}
	return fmt.Sprintf("%s, cluster-scoped %t, namespace given %t, missing ones denied %t", name, c.clusterScoped, c.elsewhere, c.denyMissing)
}

func paramRefCases() (cases []paramRefCase) {
	for bits := range 1 << 5 {
		has := func(bit int) bool { return bits>>bit&1 == 1 }
		c := paramRefCase{has(0), has(1), has(2), has(3), has(4)}
		if !(c.byName && c.byLabel) && !(c.clusterScoped && c.elsewhere) { // the others are refused: param-refs-that-the-registry-would-refuse
			cases = append(cases, c)
		}
	}
	return cases
}

func (c paramRefCase) kind() Kind {
	version := schema.GroupVersion{Group: "example.com", Version: "v1"}
	if c.clusterScoped {
		return Kind{Kind: version.WithKind("Limit"), Resource: version.WithResource("limits")}
	}
	return Kind{Kind: version.WithKind("Quota"), Resource: version.WithResource("quotas"), Namespaced: true}
}

func (c paramRefCase) ref() *v1.ParamRef {
	ref := &v1.ParamRef{ParameterNotFoundAction: pointer(v1.AllowAction)}
	if c.denyMissing {
		ref.ParameterNotFoundAction = pointer(v1.DenyAction)
	}
	if c.elsewhere {
		ref.Namespace = namedNamespace
	}
	switch {
	case c.byName:
		ref.Name = theParam
	case c.byLabel:
		ref.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"use": "yes"}}
	default:
		ref.Selector = &metav1.LabelSelector{}
	}
	return ref
}

// params are params of each label in each namespace, and of both kinds.
func (c paramRefCase) params() (params []*unstructured.Unstructured) {
	namespaces := []string{"default", namedNamespace, requestNamespace}
	if c.clusterScoped {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		for i, name := range []string{theParam, "two", "three", "four"} {
			param := &unstructured.Unstructured{Object: map[string]any{}}
			param.SetGroupVersionKind(c.kind().Kind)
			param.SetNamespace(namespace)
			param.SetName(name)
			param.SetLabels([]map[string]string{{"use": "yes"}, {"use": "no"}, {"another": "yes"}, {"use": "yes"}}[i])
			params = append(params, param)
		}
	}
	return params
}

// selects says whether a request in a namespace, none if that is empty, is judged by a param.
func (c paramRefCase) selects(param *unstructured.Unstructured, namespace string) bool {
	if c.elsewhere {
		namespace = namedNamespace
	}
	return (c.clusterScoped || param.GetNamespace() == namespace) && (!c.byName || param.GetName() == theParam) && (!c.byLabel || param.GetLabels()["use"] == "yes")
}

// want is what is right for a request: the failures, or the configuration error.
func (c paramRefCase) want(params []*unstructured.Unstructured, namespace string) (failures []string, configuration string) {
	if namespace == "" && !c.clusterScoped && !c.elsewhere {
		return nil, "failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
	}
	for _, param := range params {
		if c.selects(param, namespace) {
			failures = append(failures, fmt.Sprintf("p/b 0 [Audit]: %s/%s", param.GetNamespace(), param.GetName()))
		}
	}
	slices.Sort(failures)
	if len(failures) == 0 && c.denyMissing {
		return nil, "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction"
	}
	return failures, ""
}

func (c paramRefCase) world() *World {
	policy := &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	policy.Spec.ParamKind = &v1.ParamKind{APIVersion: c.kind().Kind.GroupVersion().String(), Kind: c.kind().Kind.Kind}
	policy.Spec.MatchConstraints = &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.OperationAll}, Rule: v1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}}}}}}
	policy.Spec.Validations = []v1.Validation{{Expression: "false", MessageExpression: "string(params.metadata.?namespace.orValue('')) + '/' + params.metadata.name"}}
	binding := &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
	binding.Spec = v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "p", ParamRef: c.ref(), ValidationActions: []v1.ValidationAction{v1.Audit}}
	w := &World{Policies: []*v1.ValidatingAdmissionPolicy{policy}, Bindings: []*v1.ValidatingAdmissionPolicyBinding{binding}, Kinds: []Kind{c.kind()}}
	w.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: requestNamespace}}}
	for _, param := range c.params() {
		w.Params = append(w.Params, param)
	}
	w.Default()
	return w
}

// Every way of naming params: which ones judge a namespaced and a cluster-scoped request, before and after those are deleted that did.
// Upstream: policy/generic/policy_dispatcher.go, CollectParams.
func TestParamRefsInAllCombinations(t *testing.T) {
	for _, c := range paramRefCases() {
		t.Run(c.String(), func(t *testing.T) {
			pod, err := Create(&corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: requestNamespace}})
			if err != nil {
				t.Fatal(err)
			}
			node, err := Create(&corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: "web"}})
			if err != nil {
				t.Fatal(err)
			}
			params := c.params()
			used := func(param *unstructured.Unstructured) bool {
				return c.selects(param, requestNamespace) || c.selects(param, "")
			}
			var deleted []Change
			for _, param := range params {
				if used(param) {
					deleted = append(deleted, Change{Delete: runtime.Object(param)})
				}
			}
			script := &Script{World: c.world(), Steps: []Step{{Request: pod}, {Request: node}, {Changes: deleted, Request: pod}, {Request: node}}}
			ctx := context.Background()
			want, err := PlayUpstream(ctx, script, "p")
			if err != nil {
				t.Fatal(err)
			}
			got, err := PlayCelgate(ctx, script, "p")
			if err != nil {
				t.Fatal(err)
			}
			if difference := Compare(want, got); difference != nil {
				t.Errorf("request %d: %s: %s", difference.Step, difference.What, difference.Text)
			}
			for i := range script.Steps {
				if i == 2 {
					params = slices.DeleteFunc(params, used)
				}
				failures, configuration := c.want(params, script.Steps[i].Request.Namespace)
				if i < 2 && failures == nil && configuration == "" {
					t.Errorf("request %d shows nothing", i)
				}
				answer, err := got.Outcomes[i].Readable()
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(answer.Failures, failures) || !strings.HasSuffix(answer.Message, configuration) || configuration == "" && answer.Verdict != allowed {
					t.Errorf("request %d: want %q %s, got %+v", i, failures, configuration, answer)
				}
			}
		})
	}
}
