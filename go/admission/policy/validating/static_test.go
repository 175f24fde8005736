package validating_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/manifest/source"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"

	"github.com/celgate/celgate/go/internal/harness"
)

// manifests are what a loader finds in its directory.
type manifests struct {
	lock     sync.Mutex
	version  int
	policies []*v1.ValidatingAdmissionPolicy
}

func (m *manifests) set(policies ...*v1.ValidatingAdmissionPolicy) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.version++
	m.policies = policies
}

func (m *manifests) load(string) ([]*v1.ValidatingAdmissionPolicy, []*v1.ValidatingAdmissionPolicyBinding, string, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	w := world(m.policies...)
	w.Default()
	return w.Policies, w.Bindings, fmt.Sprint(m.version), nil
}

// staticPolicy denies every request for any resource.
func staticPolicy(name string) *v1.ValidatingAdmissionPolicy {
	policy := podPolicy(name, "false")
	rule := &policy.Spec.MatchConstraints.ResourceRules[0].Rule
	rule.APIGroups, rule.APIVersions, rule.Resources = []string{"*"}, []string{"*"}, []string{"*"}
	return policy
}

// Static policies come first, may judge the admission configuration itself, and follow their directory.
func TestStaticPolicies(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ManifestBasedAdmissionControlConfig, true)
	t.Cleanup(source.SetReloadIntervalForTests(20 * time.Millisecond))
	dir := t.TempDir()
	loader := &manifests{}
	loader.set(staticPolicy("z.static.k8s.io"))
	plugin := newPlugin(t)
	plugin.SetStaticManifestsDir(dir)
	plugin.SetManifestLoaders(&initializer.ManifestLoaders{LoadValidatingPolicyManifests: loader.load})
	w := world(podPolicy("a", "false"))
	w.Default()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cluster, err := harness.Start(ctx, plugin, w)
	if err != nil {
		t.Fatal(err)
	}
	configuration := pod("x")
	configuration.Resource = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"}
	for name, request := range map[string]*harness.Request{"pod": pod("x"), "configuration": configuration} {
		if outcome := cluster.Do(ctx, request); !strings.Contains(outcome.Status, "'z.static.k8s.io'") {
			t.Errorf("%s: %s", name, outcome)
		}
	}
	review := pod("x")
	review.Resource = schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "tokenreviews"}
	if outcome := cluster.Do(ctx, review); outcome.Status != "" {
		t.Errorf("token review: %s", outcome)
	}

	loader.set()
	if err := os.WriteFile(filepath.Join(dir, "changed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the API's policy judges pods", func() bool { return strings.Contains(cluster.Do(ctx, pod("x")).Status, "'a'") })
	if outcome := cluster.Do(ctx, configuration); outcome.Status != "" {
		t.Errorf("configuration without static policies: %s", outcome)
	}
}
