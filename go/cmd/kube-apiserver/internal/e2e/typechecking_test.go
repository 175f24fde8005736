package e2e

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// checkTypes expects the status that Kubernetes' documentation shows for its examples, and an empty one for what is right.
func checkTypes(ctx context.Context, t *testing.T, admin kubernetes.Interface) {
	t.Helper()
	const (
		deployment = `apps/v1, Kind=Deployment: ERROR: \u003cinput\u003e:1:7: undefined field 'replicas'\n | object.replicas \u003e 1\n | ......^\n`
		replicaSet = `apps/v1, Kind=ReplicaSet: ERROR: \u003cinput\u003e:1:7: undefined field 'replicas'\n | object.replicas \u003e 1\n | ......^\n`
	)
	warning := func(text string) string {
		return `{"expressionWarnings":[{"fieldRef":"spec.validations[0].expression","warning":"` + text + `"}]}`
	}
	for _, c := range []struct {
		name, expression string
		resources        []string
		want             string
	}{
		{"typed", "object.replicas > 1", []string{"deployments"}, warning(deployment)},
		{"typed-twice", "object.replicas > 1", []string{"deployments", "replicasets"}, warning(deployment + `\n` + replicaSet)},
		{"well-typed", "object.spec.replicas > 1", []string{"deployments"}, `{}`},
	} {
		policies := admin.AdmissionregistrationV1().ValidatingAdmissionPolicies()
		_, err := policies.Create(ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: c.name},
			Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
				MatchConstraints: &admissionregistrationv1.MatchResources{
					ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
						Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
						Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: c.resources},
					}}},
				},
				Validations: []admissionregistrationv1.Validation{{Expression: c.expression}},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(effectTimeout)
		for {
			policy, err := policies.Get(ctx, c.name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if policy.Status.ObservedGeneration == policy.Generation {
				if got, _ := json.Marshal(policy.Status.TypeChecking); string(got) != c.want {
					t.Errorf("%s: want %s, got %s", c.name, c.want, got)
				}
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s is not type checked", c.name)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}
