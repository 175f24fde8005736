package validating

import (
	"context"
	"errors"
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// brokenDispatcher is one whose requests all fail.
func brokenDispatcher() *dispatcher {
	client := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}})
	matcher := matching.NewMatcher(informers.NewSharedInformerFactory(client, 0).Core().V1().Namespaces().Lister(), client)
	return &dispatcher{policies: generic.NewPolicyMatcher(matcher), exempt: newExemptions()}
}

func hookFor(name, resource string, failurePolicy v1.FailurePolicyType, bindings ...*PolicyBinding) PolicyHook {
	hook := testHook(name, bindings...)
	hook.Policy.Spec.FailurePolicy = &failurePolicy
	hook.Policy.Spec.MatchConstraints = &v1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
		ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
			Operations: []v1.OperationType{v1.OperationAll},
			Rule:       v1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{resource}},
		}}},
	}
	return hook
}

// A failure of the core denies exactly the requests that a policy with failurePolicy Fail matches.
func TestRefuse(t *testing.T) {
	binding := testBinding("p", "b", v1.Warn)
	elsewhere := testBinding("p", "elsewhere", v1.Deny)
	elsewhere.Spec.MatchResources = &v1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}, ObjectSelector: &metav1.LabelSelector{}}
	malformed := hookFor("malformed", "secrets", v1.Fail)
	malformed.Policy.Spec.MatchConstraints = nil
	for name, c := range map[string]struct {
		hooks  []PolicyHook
		denied string
	}{
		"fail":          {[]PolicyHook{hookFor("other", "secrets", v1.Fail, binding), hookFor("p", "pods", v1.Fail, elsewhere, binding)}, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: celgate: internal error: x"},
		"ignore":        {[]PolicyHook{hookFor("p", "pods", v1.Ignore, binding)}, ""},
		"no binding":    {[]PolicyHook{hookFor("p", "pods", v1.Fail)}, ""},
		"other binding": {[]PolicyHook{hookFor("p", "pods", v1.Fail, elsewhere)}, ""},
		"malformed":     {[]PolicyHook{malformed}, "ValidatingAdmissionPolicy 'malformed' denied request: celgate: internal error: x"},
	} {
		before := counters.failures.Load()
		err := brokenDispatcher().refuse(podAttributes(), admission.NewObjectInterfacesFromScheme(clientgoscheme.Scheme), &snapshot{hooks: c.hooks}, errors.New("celgate: internal error: x"))
		if (err == nil) != (c.denied == "") || err != nil && !strings.Contains(err.Error(), c.denied) {
			t.Errorf("%s: %v", name, err)
		}
		if counters.failures.Load() != before+1 {
			t.Errorf("%s: not counted", name)
		}
	}
}

// Reports that make no sense are failures of the core too.
func TestMalformedReports(t *testing.T) {
	var far, farBinding, nobody, cut, noLookUp reportBuilder
	far.decision(9, 0, 0, 1, 2, "", "x")
	farBinding.decision(0, 9, 0, 1, 2, "", "x")
	nobody.decision(0, 4294967295, 0, 1, 2, "", "x")
	cut.decision(0, 0, 0, 1, 2, "", "x")
	cut = cut[:len(cut)-1]
	noLookUp.numbers(6, 0, 0)
	view := &snapshot{hooks: []PolicyHook{hookFor("p", "pods", v1.Fail, testBinding("p", "b", v1.Deny))}}
	view.policies, view.bindings = []*Policy{view.hooks[0].Policy}, view.hooks[0].Bindings
	for name, report := range map[string]reportBuilder{"policy": far, "binding": farBinding, "no binding": nobody, "cut": cut, "namespace": noLookUp} {
		err := brokenDispatcher().replay(context.Background(), podAttributes(), admission.NewObjectInterfacesFromScheme(clientgoscheme.Scheme), &plan{view: view, numbers: view.numbers}, &work{}, report, 0)
		if err == nil || !strings.Contains(err.Error(), "celgate: internal error") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFailClosedSparesExempt(t *testing.T) {
	d := brokenDispatcher()
	d.exempt.all.Insert(schema.GroupResource{Resource: "pods"})
	view := &snapshot{hooks: []PolicyHook{hookFor("p", "pods", v1.Fail, testBinding("p", "b", v1.Deny))}}
	if err := d.failClosed(podAttributes(), admission.NewObjectInterfacesFromScheme(clientgoscheme.Scheme), view, errors.New("x")); err != nil {
		t.Error(err)
	}
}
