package workloads

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// expressions are checks as public policies make them. Each has room for a number, so that no two policies are the same.
var expressions = strings.Split(strings.TrimSpace(checks), "\n")

//go:embed checks.txt
var checks string

// policy is one policy with one validation, for a resource.
func policy(name string, resource schema.GroupVersionResource, validations ...v1.Validation) *v1.ValidatingAdmissionPolicy {
	fail, equivalent := v1.Fail, v1.Equivalent
	scope := v1.AllScopes
	return &v1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1", UID: uid(name)},
		Spec: v1.ValidatingAdmissionPolicySpec{
			FailurePolicy: &fail,
			MatchConstraints: &v1.MatchResources{
				MatchPolicy: &equivalent, NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
				ResourceRules: []v1.NamedRuleWithOperations{{RuleWithOperations: v1.RuleWithOperations{
					Operations: []v1.OperationType{v1.Create, v1.Update},
					Rule:       v1.Rule{APIGroups: []string{resource.Group}, APIVersions: []string{resource.Version}, Resources: []string{resource.Resource}, Scope: &scope},
				}}},
			},
			Validations: validations,
		},
	}
}

func uid(name string) types.UID { return types.UID("uid-" + name) }

func binding(name, policy string, namespaceSelector *metav1.LabelSelector) *v1.ValidatingAdmissionPolicyBinding {
	equivalent := v1.Equivalent
	made := &v1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: "1", UID: uid(name)},
		Spec:       v1.ValidatingAdmissionPolicyBindingSpec{PolicyName: policy, ValidationActions: []v1.ValidationAction{v1.Deny}},
	}
	if namespaceSelector != nil {
		made.Spec.MatchResources = &v1.MatchResources{MatchPolicy: &equivalent, NamespaceSelector: namespaceSelector, ObjectSelector: &metav1.LabelSelector{}}
	}
	return made
}

// add puts the i-th of many different policies and its binding into w.
func (w *World) add(i int, resource schema.GroupVersionResource) {
	name := fmt.Sprintf("policy-%04d", i)
	w.Policies = append(w.Policies, policy(name, resource, v1.Validation{
		Expression: fmt.Sprintf(expressions[i%len(expressions)], i), Message: fmt.Sprintf("check %d failed", i),
	}))
	w.Bindings = append(w.Bindings, binding(name+"-binding", name, nil))
}

// addProbe puts the policy into w that tells when the others are in force.
func (w *World) addProbe() {
	w.Policies = append(w.Policies, policy("zz-probe", probeResource, v1.Validation{Expression: "false"}))
	w.Bindings = append(w.Bindings, binding("zz-probe-binding", "zz-probe", nil))
}

// Different is a world of n policies for Pods.
func Different(n int) *World { return different(n, PodResource) }

func different(n int, resource schema.GroupVersionResource) *World {
	w := &World{}
	for i := range n {
		w.add(i, resource)
	}
	return w
}

// manyBindings is one policy with n bindings, each with a namespaceSelector that all namespaces satisfy.
func manyBindings(n int) *World {
	w := Different(1)
	w.Bindings = nil
	for i := range n {
		w.Bindings = append(w.Bindings, binding(fmt.Sprintf("binding-%04d", i), "policy-0000", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "environment", Operator: metav1.LabelSelectorOpIn, Values: []string{"test", "prod", fmt.Sprintf("e%d", i)}},
		}}))
	}
	return w
}

// manyParams is one policy with n bindings, each with a ConfigMap of its own.
func manyParams(n int) *World {
	w := &World{}
	p := policy("policy-0000", PodResource, v1.Validation{Expression: "object.spec.containers.size() <= int(params.data.maxContainers)"})
	p.Spec.ParamKind = &v1.ParamKind{APIVersion: "v1", Kind: "ConfigMap"}
	w.Policies = append(w.Policies, p)
	deny := v1.DenyAction
	for i := range n {
		name := fmt.Sprintf("limits-%04d", i)
		b := binding("binding-"+name, "policy-0000", nil)
		b.Spec.ParamRef = &v1.ParamRef{Name: name, Namespace: namespaceName(i), ParameterNotFoundAction: &deny}
		w.Bindings = append(w.Bindings, b)
		w.ConfigMaps = append(w.ConfigMaps, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespaceName(i), UID: uid(name), ResourceVersion: "1"},
			Data:       map[string]string{"maxContainers": fmt.Sprint(10 + i)},
		})
	}
	return w
}

// podSecurityStandards is the public corpus with all its bindings; nil when it is not there.
func podSecurityStandards() (*World, error) {
	files, err := filepath.Glob(filepath.Join(os.Getenv("CELGATE_CORPUS"), "pod-security-standards", "*.json"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	w := &World{}
	for _, file := range files {
		var entry struct {
			Policy   *v1.ValidatingAdmissionPolicy
			Bindings []*v1.ValidatingAdmissionPolicyBinding
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(content, &entry); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		complete(entry.Policy.Spec.MatchConstraints)
		entry.Policy.ResourceVersion, entry.Policy.UID = "1", uid(entry.Policy.Name)
		w.Policies = append(w.Policies, entry.Policy)
		for _, b := range entry.Bindings {
			complete(b.Spec.MatchResources)
			b.ResourceVersion, b.UID = "1", uid(b.Name)
			w.Bindings = append(w.Bindings, b)
		}
	}
	return w, nil
}

// complete gives the defaults that the API server would have stored.
func complete(m *v1.MatchResources) {
	if m == nil {
		return
	}
	if m.NamespaceSelector == nil {
		m.NamespaceSelector = &metav1.LabelSelector{}
	}
	if m.ObjectSelector == nil {
		m.ObjectSelector = &metav1.LabelSelector{}
	}
	if m.MatchPolicy == nil {
		equivalent := v1.Equivalent
		m.MatchPolicy = &equivalent
	}
	for i := range m.ResourceRules {
		if m.ResourceRules[i].Scope == nil {
			scope := v1.AllScopes
			m.ResourceRules[i].Scope = &scope
		}
	}
}
