package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/manifest/source"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
)

// Static are the policies and bindings of manifests, as a loader gives them. Loaders take no params.
type Static struct {
	Policies []*v1.ValidatingAdmissionPolicy        `json:"policies,omitempty"`
	Bindings []*v1.ValidatingAdmissionPolicyBinding `json:"bindings,omitempty"`
	// Broken manifests are not taken: those before them stay in force.
	Broken bool `json:"broken,omitempty"`
}

// Default fills in what a loader would, and sorts by name as it does.
func (s *Static) Default() {
	for _, policy := range s.Policies {
		defaultStored(policy)
	}
	for _, binding := range s.Bindings {
		defaultStored(binding)
	}
	slices.SortFunc(s.Policies, byName)
	slices.SortFunc(s.Bindings, byName)
}

func byName[O metav1.Object](a, b O) int { return cmp.Compare(a.GetName(), b.GetName()) }

// DeepCopy copies it.
func (s *Static) DeepCopy() *Static {
	copied := &Static{Broken: s.Broken}
	for _, policy := range s.Policies {
		copied.Policies = append(copied.Policies, policy.DeepCopy())
	}
	for _, binding := range s.Bindings {
		copied.Bindings = append(copied.Bindings, binding.DeepCopy())
	}
	return copied
}

// loader is what one plugin finds where its manifests are.
type loader[M any] struct {
	lock    sync.Mutex
	current M
	version int
	loads   int
	// attached says that a plugin loads them.
	attached bool
}

// set changes the manifests, and waits until the plugin has seen that: two changes at once could be one to it. What a load gives is in force
// when the next one begins.
func (l *loader[M]) set(manifests M) error {
	l.lock.Lock()
	l.current = manifests
	l.version++
	enough, waits := l.loads+2, l.attached
	l.lock.Unlock()
	for deadline := time.Now().Add(settleTime); waits && l.count() < enough; {
		if time.Now().After(deadline) {
			return errors.New("manifests are not loaded")
		}
		time.Sleep(reloadInterval / 4)
	}
	return nil
}

// next is a load: what is there, and which version it is.
func (l *loader[M]) next() (manifests M, version string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.loads++
	return l.current, fmt.Sprint(l.version)
}

func (l *loader[M]) count() int {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.loads
}

// manifests are the policies and bindings that one plugin's loader finds.
type manifests struct{ loader[*Static] }

func newManifests(static *Static) *manifests {
	return &manifests{loader[*Static]{current: static.DeepCopy()}}
}

// set changes them.
func (m *manifests) set(static *Static) error { return m.loader.set(static.DeepCopy()) }

var errBroken = errors.New("the manifests are broken")

func (m *manifests) load(string) ([]*v1.ValidatingAdmissionPolicy, []*v1.ValidatingAdmissionPolicyBinding, string, error) {
	static, version := m.next()
	if static.Broken {
		return nil, nil, "", errBroken
	}
	return static.Policies, static.Bindings, version, nil
}

// reloadInterval is how often plugins look at their manifests.
const reloadInterval = time.Millisecond

var quickReloads = sync.OnceFunc(func() { source.SetReloadIntervalForTests(reloadInterval) })

// attach gives a plugin its manifests until ctx ends. They have a directory, which is watched, but stays empty.
func (m *manifests) attach(ctx context.Context, plugin Plugin) error {
	static, ok := plugin.(interface {
		initializer.WantsManifestLoaders
		SetStaticManifestsDir(dir string)
	})
	if !ok {
		return fmt.Errorf("%T takes no manifests", plugin)
	}
	quickReloads()
	m.attached = true
	dir, err := os.MkdirTemp("", "celgate-manifests-")
	if err != nil {
		return err
	}
	// Not to be removed is no reason to fail.
	context.AfterFunc(ctx, func() { _ = os.RemoveAll(dir) })
	static.SetStaticManifestsDir(dir)
	static.SetManifestLoaders(&initializer.ManifestLoaders{LoadValidatingPolicyManifests: m.load})
	return nil
}

// staticHooks are the hooks that upstream's source makes of manifests.
func staticHooks(static *Static) ([]upstream.PolicyHook, error) {
	var hooks []upstream.PolicyHook
	for _, policy := range static.Policies {
		evaluator, err := compileUpstream(policy)
		if err != nil {
			return nil, err
		}
		hook := upstream.PolicyHook{Policy: policy, Evaluator: evaluator}
		for _, binding := range static.Bindings {
			if binding.Spec.PolicyName == policy.Name {
				hook.Bindings = append(hook.Bindings, binding)
			}
		}
		hooks = append(hooks, hook)
	}
	return hooks, nil
}

// handSource is a source of static hooks that change by hand.
type handSource struct {
	lock  sync.Mutex
	hooks []upstream.PolicyHook
	made  *Static
}

// HasSynced implements generic.HookSource.
func (*handSource) HasSynced() bool { return true }

// Hooks implements generic.HookSource.
func (s *handSource) Hooks() []upstream.PolicyHook {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.hooks
}

// refresh takes over other manifests.
func (s *handSource) refresh(static *Static) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if static == nil || static == s.made {
		return nil
	}
	hooks, err := staticHooks(static)
	if err == nil {
		s.hooks, s.made = hooks, static
	}
	return err
}
