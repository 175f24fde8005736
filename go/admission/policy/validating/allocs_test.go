//go:build !asan && !race && !gcstress

package validating_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
)

// Nothing is allocated where no policy can match, nor for a request that is allowed without conversion.
func TestAllocations(t *testing.T) {
	cluster := startCluster(t, world(podPolicy("p", "object.metadata.name != 'bad'", "has(object.spec) && request.namespace == 'ns'")))
	ctx := t.Context()
	for name, a := range map[string]admission.Attributes{
		"no match": attributes(&corev1.Secret{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}, "secrets", "Secret"),
		"allowed":  attributes(pod("good").Object, "pods", "Pod"),
	} {
		validate := func() {
			if err := cluster.Plugin.Validate(ctx, a, cluster.Objects); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for range 3 {
			validate()
		}
		if got := testing.AllocsPerRun(200, validate); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}
