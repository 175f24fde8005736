package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/openapi3"
)

// checkScenarios goes through what upstream's end-to-end tests of ValidatingAdmissionPolicy
// (test/e2e/apimachinery/validatingadmissionpolicy.go) ask of a cluster.
func checkScenarios(ctx context.Context, t *testing.T, p *process) {
	admin := client(t, p.kubeconfig, "admin")
	t.Run("validates a Deployment", func(t *testing.T) {
		validations := []admissionregistrationv1.Validation{
			{Expression: "object.spec.replicas > 1", MessageExpression: "'wants replicas > 1, got ' + object.spec.replicas"},
			{Expression: "namespaceObject.metadata.name == 'scenario-deployment'", Message: "another namespace"},
		}
		checkDeployments(ctx, t, admin, "scenario-deployment", nil, validations, 2)
	})
	t.Run("expressions refer to variables", func(t *testing.T) {
		variables := []admissionregistrationv1.Variable{
			{Name: "replicas", Expression: "object.spec.replicas"},
			{Name: "oddReplicas", Expression: "variables.replicas % 2 == 1"},
		}
		validations := []admissionregistrationv1.Validation{{Expression: "variables.replicas > 1"}, {Expression: "variables.oddReplicas"}}
		checkDeployments(ctx, t, admin, "scenario-variables", variables, validations, 3)
	})
	t.Run("type checks expressions", func(t *testing.T) { checkConfusedTypes(ctx, t, admin) })
	t.Run("type checks a custom resource", func(t *testing.T) { checkCustomTypes(ctx, t, p, admin) })
	t.Run("policies are served", func(t *testing.T) {
		api := admin.AdmissionregistrationV1().ValidatingAdmissionPolicies()
		template := &admissionregistrationv1.ValidatingAdmissionPolicy{Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			Validations:      []admissionregistrationv1.Validation{{Expression: "object.spec.replicas <= 100"}},
			MatchConstraints: created(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}),
		}}
		name := checkOperations(ctx, t, admin, "validatingadmissionpolicies", api, template, `{"spec": {"failurePolicy": "Ignore"}}`,
			func(policy *admissionregistrationv1.ValidatingAdmissionPolicy) bool {
				return *policy.Spec.FailurePolicy == admissionregistrationv1.Ignore
			})
		checkStatus(ctx, t, admin, name)
		finish(ctx, t, api, name)
	})
	t.Run("bindings are served", func(t *testing.T) {
		api := admin.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
		template := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "replicalimit-policy.example.com", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		}}
		name := checkOperations(ctx, t, admin, "validatingadmissionpolicybindings", api, template, `{"spec": {"validationActions": ["Warn"]}}`,
			func(binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) bool {
				return slices.Equal(binding.Spec.ValidationActions, []admissionregistrationv1.ValidationAction{admissionregistrationv1.Warn})
			})
		finish(ctx, t, api, name)
	})
}

// created matches the creation of one resource, or of others of its group and version as well.
func created(resource schema.GroupVersionResource, others ...string) *admissionregistrationv1.MatchResources {
	return &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
		RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{resource.Group}, APIVersions: []string{resource.Version}, Resources: append([]string{resource.Resource}, others...),
			},
		},
	}}}
}

// checkDeployments makes a namespace that a policy is bound to, in which deployments of one replica are denied, those of allowed ones are
// not, and neither are replica sets.
func checkDeployments(ctx context.Context, t *testing.T, admin kubernetes.Interface, name string, variables []admissionregistrationv1.Variable,
	validations []admissionregistrationv1.Validation, allowed int32) {
	_, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"scenario": name}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	api := admin.AdmissionregistrationV1()
	if _, err = api.ValidatingAdmissionPolicies().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: created(appsv1.SchemeGroupVersion.WithResource("deployments")),
			Variables:        variables,
			Validations:      validations,
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err = api.ValidatingAdmissionPolicyBindings().Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name,
			MatchResources:    &admissionregistrationv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"scenario": name}}},
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	selector := &metav1.LabelSelector{MatchLabels: pod.Labels}
	deploy := func(replicas int32) error {
		_, err := admin.AppsV1().Deployments(name).Create(ctx, &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "scenario-"},
			Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: pod},
		}, metav1.CreateOptions{})
		return err
	}
	eventually(t, "the marker is denied", func() bool {
		err := deploy(1)
		if err != nil && !apierrors.IsInvalid(err) {
			t.Fatal(err)
		}
		return err != nil
	})
	if err := deploy(allowed); err != nil {
		t.Errorf("a deployment of %d replicas is denied: %v", allowed, err)
	}
	one := int32(1)
	if _, err := admin.AppsV1().ReplicaSets(name).Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "single"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &one, Selector: selector, Template: pod},
	}, metav1.CreateOptions{}); err != nil {
		t.Errorf("a replica set is denied: %v", err)
	}
}

// eventually waits until a policy that was just made has its effect.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(effectTimeout); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", effectTimeout, what)
		}
	}
}

// checked makes a policy and returns what type checking says of it.
func checked(ctx context.Context, t *testing.T, admin kubernetes.Interface, name string, resource schema.GroupVersionResource,
	validations ...admissionregistrationv1.Validation) []admissionregistrationv1.ExpressionWarning {
	t.Helper()
	return typeChecked(ctx, t, admin, name, created(resource), validations...).ExpressionWarnings
}

// typeChecked makes a policy and returns its status of type checking.
func typeChecked(ctx context.Context, t *testing.T, admin kubernetes.Interface, name string, match *admissionregistrationv1.MatchResources,
	validations ...admissionregistrationv1.Validation) *admissionregistrationv1.TypeChecking {
	t.Helper()
	policies := admin.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	policy, err := policies.Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       admissionregistrationv1.ValidatingAdmissionPolicySpec{MatchConstraints: match, Validations: validations},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, name+" is type checked", func() bool {
		if policy, err = policies.Get(ctx, name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		return policy.Status.ObservedGeneration == policy.Generation
	})
	return policy.Status.TypeChecking
}

// expectWarnings compares warnings with pairs of a field and a part of the text.
func expectWarnings(t *testing.T, got []admissionregistrationv1.ExpressionWarning, want ...string) {
	t.Helper()
	if len(got) != len(want)/2 {
		t.Fatalf("want %d warnings, got %v", len(want)/2, got)
	}
	for i, warning := range got {
		if warning.FieldRef != want[2*i] || !strings.Contains(warning.Warning, want[2*i+1]) {
			t.Errorf("want %q at %s, got %q at %s", want[2*i+1], want[2*i], warning.Warning, warning.FieldRef)
		}
	}
}

func checkConfusedTypes(ctx context.Context, t *testing.T, admin kubernetes.Interface) {
	deployments := appsv1.SchemeGroupVersion.WithResource("deployments")
	expectWarnings(t, checked(ctx, t, admin, "scenario-correct", deployments, admissionregistrationv1.Validation{Expression: "object.spec.replicas > 1"}))
	expectWarnings(t, checked(ctx, t, admin, "scenario-confused", deployments, admissionregistrationv1.Validation{
		Expression: "object.spec.replicas > '1'", MessageExpression: "'wants replicas > 1, got ' + object.spec.replicas",
	}), "spec.validations[0].expression", "found no matching overload for '_>_' applied to '(int, string)'",
		"spec.validations[0].messageExpression", "found no matching overload for '_+_' applied to '(string, int)'")
}

func checkCustomTypes(ctx context.Context, t *testing.T, p *process, admin kubernetes.Interface) {
	crontabs := schema.GroupVersionResource{Group: "stable.scenario.example.com", Version: "v1", Resource: "crontabs"}
	extensions, err := apiextensionsclient.NewForConfig(config(t, p.kubeconfig, "admin"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := extensions.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: crontabs.GroupResource().String()},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: crontabs.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: crontabs.Resource, Singular: "crontab", Kind: "CronTab"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: crontabs.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {
						Type: "object",
						Properties: map[string]apiextensionsv1.JSONSchemaProps{
							"cronSpec": {Type: "string"}, "image": {Type: "string"}, "replicas": {Type: "integer"},
						},
					}},
				}},
			}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the custom resource's schema is published", func() bool {
		_, err := openapi3.NewRoot(admin.Discovery().OpenAPIV3()).GVSpec(crontabs.GroupVersion())
		return err == nil
	})
	expectWarnings(t, checked(ctx, t, admin, "scenario-custom-correct", crontabs, admissionregistrationv1.Validation{Expression: "object.spec.replicas > 1"}))
	expectWarnings(t, checked(ctx, t, admin, "scenario-custom-confused", crontabs,
		admissionregistrationv1.Validation{Expression: "object.spec.replicas > '1'"},
		admissionregistrationv1.Validation{Expression: "object.spec.maxRetries < 10"},
	), "spec.validations[0].expression", "found no matching overload for '_>_' applied to '(int, string)'",
		"spec.validations[1].expression", "undefined field 'maxRetries'")
}

// operations are those of a generated client for one kind.
type operations[T metav1.Object, L any] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Get(context.Context, string, metav1.GetOptions) (T, error)
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
	Patch(ctx context.Context, name string, kind types.PatchType, data []byte, options metav1.PatchOptions, subresources ...string) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
	DeleteCollection(context.Context, metav1.DeleteOptions, metav1.ListOptions) error
}

// scenarioLabel is what the objects of checkOperations have in common.
const scenarioLabel = "scenario"

// checkOperations uses every operation but deletion on three objects made of a template, and returns the name of the last.
func checkOperations[T metav1.Object, L metav1.ListInterface](ctx context.Context, t *testing.T, admin kubernetes.Interface, resource string,
	api operations[T, L], template T, patch string, patched func(T) bool) string {
	resources, err := admin.Discovery().ServerResourcesForGroupVersion(admissionregistrationv1.SchemeGroupVersion.String())
	if err != nil || !slices.ContainsFunc(resources.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }) {
		t.Fatalf("discovery of %s: %v, %v", resource, resources, err)
	}
	template.SetGenerateName("scenario-")
	template.SetLabels(map[string]string{scenarioLabel: resource})
	var made T
	for range 3 {
		if made, err = api.Create(ctx, template, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	name := made.GetName()
	read, err := api.Get(ctx, name, metav1.GetOptions{})
	if err != nil || read.GetUID() != made.GetUID() {
		t.Fatalf("got %v, %v", read, err)
	}
	selected := metav1.ListOptions{LabelSelector: scenarioLabel + "=" + resource}
	list, err := api.List(ctx, selected)
	if err != nil {
		t.Fatal(err)
	}
	watched, err := api.Watch(ctx, metav1.ListOptions{LabelSelector: selected.LabelSelector, ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()

	changed, err := api.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil || !patched(changed) {
		t.Fatalf("patched to %v, %v", changed, err)
	}
	eventually(t, "an update without conflict", func() bool {
		current, err := api.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		current.SetAnnotations(map[string]string{"updated": "true"})
		updated, err := api.Update(ctx, current, metav1.UpdateOptions{})
		if err != nil && !apierrors.IsConflict(err) || err == nil && updated.GetAnnotations()["updated"] != "true" {
			t.Fatalf("updated to %v, %v", updated, err)
		}
		return err == nil
	})
	for deadline := time.After(effectTimeout); ; {
		select {
		case event := <-watched.ResultChan():
			// Events of type checking come between.
			if object, ok := event.Object.(T); ok && object.GetName() == name && patched(object) {
				return name
			}
		case <-deadline:
			t.Fatal("the change is not watched")
		}
	}
}

// finish deletes what checkOperations made.
func finish[T metav1.Object, L metav1.ListInterface](ctx context.Context, t *testing.T, api operations[T, L], name string) {
	read, err := api.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	selected := metav1.ListOptions{LabelSelector: scenarioLabel + "=" + read.GetLabels()[scenarioLabel]}
	expect := func(want int) {
		t.Helper()
		list, err := api.List(ctx, selected)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		var items struct{ Items []any }
		if err := json.Unmarshal(data, &items); err != nil || len(items.Items) != want {
			t.Errorf("want %d objects, got %s", want, data)
		}
	}
	expect(3)
	if err := api.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("deleted, but: %v", err)
	}
	expect(2)
	if err := api.DeleteCollection(ctx, metav1.DeleteOptions{}, selected); err != nil {
		t.Fatal(err)
	}
	expect(0)
}

// checkStatus changes the conditions of a policy's status, which type checking leaves alone.
func checkStatus(ctx context.Context, t *testing.T, admin kubernetes.Interface, name string) {
	t.Helper()
	policies := admin.AdmissionregistrationV1().ValidatingAdmissionPolicies()
	const condition = `{"type": "%s", "status": "False", "reason": "scenario", "message": "set by a test", "lastTransitionTime": "2024-01-01T00:00:00Z"}`
	patch := fmt.Sprintf(`{"status": {"conditions": [`+condition+`]}}`, "PatchStatusFailed")
	policy, err := policies.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	if err != nil || len(policy.Status.Conditions) != 1 || policy.Status.Conditions[0].Type != "PatchStatusFailed" {
		t.Fatalf("patched to %v, %v", policy, err)
	}
	eventually(t, "an update of the status without conflict", func() bool {
		current, err := policies.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		current.Status.Conditions = append(current.Status.Conditions, metav1.Condition{
			Type: "StatusUpdateFailed", Status: metav1.ConditionFalse, Reason: "scenario", LastTransitionTime: metav1.Now(),
		})
		updated, err := policies.UpdateStatus(ctx, current, metav1.UpdateOptions{})
		if err != nil && !apierrors.IsConflict(err) || err == nil && len(updated.Status.Conditions) != 2 {
			t.Fatalf("updated to %v, %v", updated, err)
		}
		return err == nil
	})
}
