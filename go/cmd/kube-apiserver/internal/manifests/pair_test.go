package manifests

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/manifest/source"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	"k8s.io/component-base/metrics/legacyregistry"
	kubeadmission "k8s.io/kubernetes/pkg/kubeapiserver/admission"

	celgate "github.com/celgate/celgate/go/admission/policy/validating"
	"github.com/celgate/celgate/go/internal/harness"
)

// interval is how often the plugins look at their directories.
const interval = 20 * time.Millisecond

// plugin is what a plugin must have for manifests.
type plugin interface {
	harness.Plugin
	SetStaticManifestsDir(dir string)
	SetAPIServerID(id string)
}

// server is one of the plugins, with its directory.
type server struct {
	id      string
	cluster *harness.Cluster
}

// start runs a plugin over a directory until the test ends.
func start(t *testing.T, id string, plugin plugin, dir string) (*server, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	plugin.SetStaticManifestsDir(dir)
	plugin.SetAPIServerID(id)
	kubeadmission.NewPluginInitializer().Initialize(plugin)
	w := &harness.World{
		Policies:   []*v1.ValidatingAdmissionPolicy{apiPolicy()},
		Bindings:   []*v1.ValidatingAdmissionPolicyBinding{apiBinding()},
		Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "ns", Labels: map[string]string{"team": "a"}}}},
	}
	w.Default()
	cluster, err := harness.Start(ctx, plugin, w)
	return &server{id, cluster}, err
}

// apiPolicy is a policy of the API, which warns of everything.
func apiPolicy() *v1.ValidatingAdmissionPolicy {
	any := []string{"*"}
	rule := v1.NamedRuleWithOperations{RuleWithOperations: v1.RuleWithOperations{
		Operations: []v1.OperationType{v1.OperationAll}, Rule: v1.Rule{APIGroups: any, APIVersions: any, Resources: any}}}
	return &v1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "api"}, Spec: v1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &v1.MatchResources{ResourceRules: []v1.NamedRuleWithOperations{rule}},
		Validations:      []v1.Validation{{Expression: "false", Message: "from the API"}},
	}}
}

func apiBinding() *v1.ValidatingAdmissionPolicyBinding {
	return &v1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "api"}, Spec: v1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: "api", ValidationActions: []v1.ValidationAction{v1.Warn, v1.Audit}}}
}

// pair is both plugins over one directory.
type pair struct {
	dir              string
	upstream, ours   *server
	upErr, celgateEr error
}

// newPair starts both.
func newPair(t *testing.T, dir string) *pair {
	t.Helper()
	theirs, err := upstream.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	own, err := celgate.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{dir: dir}
	p.upstream, p.upErr = start(t, t.Name()+"/upstream", theirs, dir)
	p.ours, p.celgateEr = start(t, t.Name()+"/celgate", own, dir)
	return p
}

// enable turns the feature on and makes reloads quick.
func enable(t *testing.T) {
	t.Helper()
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ManifestBasedAdmissionControlConfig, true)
	t.Cleanup(source.SetReloadIntervalForTests(interval))
}

// requests are what each state of a directory is judged by.
func requests(t *testing.T) map[string]*harness.Request {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "x", Namespace: "ns"}
	objects := map[string]runtime.Object{
		"pod":        &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: meta},
		"deployment": &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: meta},
		"policy": &v1.ValidatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicy"},
			ObjectMeta: metav1.ObjectMeta{Name: "x"},
		},
		"binding": &v1.ValidatingAdmissionPolicyBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingAdmissionPolicyBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: "x"},
		},
	}
	made := map[string]*harness.Request{}
	for name, object := range objects {
		request, err := harness.Create(object)
		if err != nil {
			t.Fatal(err)
		}
		made[name] = request
		if name == "pod" {
			deleted := *request
			deleted.Object, deleted.OldObject, deleted.Operation = nil, object, admission.Delete
			made["deletion"] = &deleted
		}
	}
	return made
}

// outcomes compares what both plugins answer, and gives the answers.
func (p *pair) outcomes(t *testing.T) (outcomes map[string]harness.Outcome, difference string) {
	t.Helper()
	outcomes = map[string]harness.Outcome{}
	for name, request := range requests(t) {
		want, got := p.upstream.cluster.Do(t.Context(), request), p.ours.cluster.Do(t.Context(), request)
		if want.String() != got.String() {
			difference += fmt.Sprintf("%s: upstream says %s\ncelgate %s\n", name, want, got)
		}
		outcomes[name] = got
	}
	return outcomes, difference
}

// counters are a server's counted reloads.
type counters struct {
	successes int
	// failed says that reloads failed: how often depends on how often a server looks.
	failed   bool
	failures int
}

const reloads = "apiserver_manifest_admission_config_controller_automatic_reloads_total"

func (s *server) counters(t *testing.T) counters {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var found counters
	for _, family := range families {
		if family.GetName() != reloads {
			continue
		}
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["apiserver_id_hash"] != fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(s.id))) || labels["plugin"] != "ValidatingAdmissionPolicy" {
				continue
			}
			count := int(metric.GetCounter().GetValue())
			if labels["status"] == "success" {
				found.successes = count
			} else {
				found.failures, found.failed = count, count > 0
			}
		}
	}
	return found
}

// put writes a file so that no half of it is seen; nil removes it.
func put(t *testing.T, dir, name string, content *string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if content == nil {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	hidden := filepath.Join(dir, ".hidden")
	if err := os.WriteFile(hidden, []byte(*content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(hidden, path); err != nil {
		t.Fatal(err)
	}
}
