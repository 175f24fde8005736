package e2e

import (
	"context"
	"encoding/json"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
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
		others           []string
		want             string
	}{
		{"typed", "object.replicas > 1", nil, warning(deployment)},
		{"typed-twice", "object.replicas > 1", []string{"replicasets"}, warning(deployment + `\n` + replicaSet)},
		{"well-typed", "object.spec.replicas > 1", nil, `{}`},
	} {
		match := created(appsv1.SchemeGroupVersion.WithResource("deployments"), c.others...)
		status := typeChecked(ctx, t, admin, c.name, match, admissionregistrationv1.Validation{Expression: c.expression})
		if got, err := json.Marshal(status); err != nil || string(got) != c.want {
			t.Errorf("%s: want %s, got %s, %v", c.name, c.want, got, err)
		}
	}
}
