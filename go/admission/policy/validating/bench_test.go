package validating_test

import (
	"fmt"
	"testing"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkNoMatch is a request that no policy can match; it must not matter how many there are.
func BenchmarkNoMatch(b *testing.B) {
	for _, policies := range []int{1, 1000} {
		b.Run(fmt.Sprint(policies), func(b *testing.B) {
			cluster := startCluster(b, world(manyPolicies(policies)...))
			a := attributes(&corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}, "secrets", "Secret")
			for b.Loop() {
				if err := cluster.Plugin.Validate(b.Context(), a, cluster.Objects); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAllowed is a pod that policies match and allow.
func BenchmarkAllowed(b *testing.B) {
	for _, policies := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(policies), func(b *testing.B) {
			cluster := startCluster(b, world(manyPolicies(policies)...))
			a := attributes(pod("good").Object, "pods", "Pod")
			for b.Loop() {
				if err := cluster.Plugin.Validate(b.Context(), a, cluster.Objects); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func manyPolicies(n int) []*v1.ValidatingAdmissionPolicy {
	var policies []*v1.ValidatingAdmissionPolicy
	for i := range n {
		policies = append(policies, podPolicy(fmt.Sprintf("p%d", i), fmt.Sprintf("object.metadata.name != 'bad-%d' && object.metadata.namespace != 'x%d'", i, i)))
	}
	return policies
}
