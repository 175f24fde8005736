package validating_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"

	"github.com/celgate/celgate/go/admission/policy/validating"
)

// policyFor is a policy that denies all of a resource, and says so by its name.
func policyFor(resource, name, version string) *v1.ValidatingAdmissionPolicy {
	policy := podPolicy(name, "false")
	policy.ResourceVersion = version
	policy.Spec.MatchConstraints.ResourceRules[0].Resources = []string{resource}
	policy.Spec.Validations[0].Message = name + " " + version
	return policy
}

// One changed policy among many is all that is compiled, and only plans of what it is about are made anew. Those that are kept still
// tell the names of the policies that they are about.
func TestPlansAreKept(t *testing.T) {
	quick(t)
	policies := manyPolicies(1000)
	policies = append(policies, policyFor("pods", "pods", "1"), policyFor("secrets", "secrets", "1"), policyFor("configmaps", "configmaps", "1"))
	w := world(policies...)
	cluster := startCluster(t, w)
	ctx := t.Context()
	says := func(a admission.Attributes) string {
		if err := cluster.Plugin.Validate(ctx, a, cluster.Objects); err != nil {
			return err.Error()
		}
		return ""
	}
	request := func(kind string, object runtime.Object) admission.Attributes {
		return attributes(object, strings.ToLower(kind)+"s", kind)
	}
	meta := func(kind string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: "v1", Kind: kind} }
	secret := request("Secret", &corev1.Secret{TypeMeta: meta("Secret")})
	others := map[string]admission.Attributes{
		"pods":       request("Pod", pod("x").Object),
		"configmaps": request("ConfigMap", &corev1.ConfigMap{TypeMeta: meta("ConfigMap")}),
		"services":   request("Service", &corev1.Service{TypeMeta: meta("Service")}),
	}
	ask := func() {
		t.Helper()
		for resource, a := range others {
			got := says(a)
			if want := fmt.Sprintf("'%[1]s' with binding '%[1]s' denied request: %[1]s 1", resource); resource != "services" && !strings.Contains(got, want) {
				t.Errorf("%s: %q", resource, got)
			} else if resource == "services" && got != "" {
				t.Errorf("services: %q", got)
			}
		}
	}
	ask()
	if got := says(secret); !strings.Contains(got, "secrets 1") {
		t.Fatal(got)
	}
	compiled, plans := validating.Compiled(cluster.Plugin), validating.Plans(cluster.Plugin)
	if len(compiled) != 1003 || len(plans) != 4 {
		t.Fatalf("%d policies, %d plans", len(compiled), len(plans))
	}

	// unchanged checks that all is as before but for one policy and its resource's plan.
	unchanged := func(policy string) {
		t.Helper()
		for name, now := range validating.Compiled(cluster.Plugin) {
			if was := compiled[name]; (was == now) == (name == policy) {
				t.Errorf("%s: %v was %v", name, now, was)
			}
		}
		now := validating.Plans(cluster.Plugin)
		for resource := range others {
			if was, kept := plans[resource], now[resource]; was != kept || len(now) > 4 {
				t.Errorf("%s: %v was %v", resource, kept, was)
			}
		}
		if now["secrets"] == plans["secrets"] {
			t.Error("the plan for secrets is kept")
		}
		compiled, plans = validating.Compiled(cluster.Plugin), now
		ask()
	}
	client := cluster.Client.AdmissionregistrationV1()
	next := world(policyFor("secrets", "secrets", "2"), policyFor("secrets", "a", "1"))
	next.Default()
	if _, err := client.ValidatingAdmissionPolicies().Update(ctx, next.Policies[0], metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the changed policy is in force", func() bool { return strings.Contains(says(secret), "secrets 2") })
	unchanged("secrets")

	// It comes first, so that the numbers of all others change.
	if _, err := client.ValidatingAdmissionPolicies().Create(ctx, next.Policies[1], metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.ValidatingAdmissionPolicyBindings().Create(ctx, next.Bindings[1], metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new policy is in force", func() bool { return strings.Contains(says(secret), "'a' with binding 'a' denied request: a 1") })
	unchanged("a")

	if err := client.ValidatingAdmissionPolicyBindings().Delete(ctx, "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the policy is no longer in force", func() bool { return strings.Contains(says(secret), "secrets 2") })
	unchanged("")
}
