package validating

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/celgate/celgate/go/internal/cabi"
	"github.com/celgate/celgate/go/internal/core"
)

// snapshot is the policies that requests are judged by at one moment: the engine and what Go needs to know beside it. It is immutable
// but for its cache of plans.
type snapshot struct {
	// hooks are in decision order, as the engine numbers them.
	hooks []PolicyHook
	numbers
	// engine is nil if there are no hooks.
	engine *cabi.Engine
	// api are the hooks that are not static.
	api []PolicyHook
	// static is the snapshot of the static policies alone, which judge the admission configuration's own resources.
	static *snapshot
	plans  core.Cache[plan]
}

// numbers is what the numbers of an engine stand for.
type numbers struct {
	policies []*Policy
	// bindings are those of all policies.
	bindings []*PolicyBinding
	sets     []*paramSet
}

// bindingCache keeps the engine's form of bindings from snapshot to snapshot.
type bindingCache = compiled[*PolicyBinding, *cabi.Binding]

// newSnapshot builds the engine. A binding that it cannot take becomes a configuration error of its policy.
func newSnapshot(hooks []PolicyHook, cache *bindingCache) (*snapshot, error) {
	s := &snapshot{hooks: hooks}
	if len(hooks) == 0 {
		return s, nil
	}
	s.policies = make([]*Policy, 0, len(hooks))
	rawHooks := make([]cabi.Hook, 0, len(hooks))
	var rawBindings []*cabi.Binding
	for i := range hooks {
		raw := cabi.Hook{FirstBinding: uint32(len(s.bindings)), Params: cabi.None}
		err := s.addParams(&raw, &hooks[i])
		for _, binding := range hooks[i].Bindings {
			made, bindingErr := cache.get(binding, newBinding)
			if bindingErr != nil {
				err = fmt.Errorf("failed to read binding %q: %w", binding.Name, bindingErr)
				continue
			}
			s.bindings = append(s.bindings, binding)
			rawBindings = append(rawBindings, made)
		}
		raw.Bindings = uint32(len(s.bindings)) - raw.FirstBinding
		s.policies = append(s.policies, hooks[i].Policy)
		raw.Policy = hooks[i].Evaluator.policy
		if evaluatorErr := hooks[i].Evaluator.err; evaluatorErr != nil {
			err = evaluatorErr
		}
		if hooks[i].ConfigurationError != nil {
			err = hooks[i].ConfigurationError
		}
		if err != nil {
			raw.Error = err.Error()
		}
		rawHooks = append(rawHooks, raw)
	}
	engine, err := cabi.NewEngine(rawHooks, rawBindings)
	if err != nil {
		return nil, err
	}
	s.engine = engine
	return s, nil
}

// addParams numbers the hook's param set. Static policies have none, so the engine knows none of their paramKind, as upstream.
func (s *snapshot) addParams(raw *cabi.Hook, hook *PolicyHook) error {
	if hook.ParamInformer == nil {
		return nil
	}
	set, ok := hook.ParamInformer.(*paramSet)
	if !ok {
		return fmt.Errorf("param informer %T is not of this plugin's source", hook.ParamInformer)
	}
	number := slices.Index(s.sets, set)
	if number < 0 {
		number = len(s.sets)
		s.sets = append(s.sets, set)
	}
	raw.Params, raw.NamespacedParams = uint32(number), set.namespaced()
	return nil
}

// publisher builds and publishes snapshots. A request only loads a pointer.
type publisher struct {
	// statics gives the static policies' hooks, a new slice whenever they have changed; nil if there are no static policies.
	statics func() []PolicyHook
	exempt  *exemptions

	current atomic.Pointer[snapshot]
	// static is published before current is, for requests that only static policies judge.
	static atomic.Pointer[snapshot]

	lock           sync.Mutex
	api            []PolicyHook
	synced         bool
	bindings       bindingCache
	staticBindings bindingCache
	// refused are static hooks that the engine did not take; the older ones stay in force.
	refused []PolicyHook
}

// publish makes hooks those of the API.
func (p *publisher) publish(hooks []PolicyHook) error {
	p.lock.Lock()
	defer p.lock.Unlock()
	previous, wasSynced := p.api, p.synced
	p.api, p.synced = hooks, true
	if err := p.rebuild(); err != nil {
		p.api, p.synced = previous, wasSynced
		return err
	}
	return nil
}

// load gives the snapshot to judge a request by, nil if there is none yet.
func (p *publisher) load() *snapshot {
	s := p.current.Load()
	if p.statics == nil || s == nil || core.SameSlice(p.statics(), s.static.hooks) {
		return s
	}
	p.refreshStatic()
	return p.current.Load()
}

// loadStatic gives the snapshot of the static policies alone, nil if there are no static policies.
func (p *publisher) loadStatic() *snapshot {
	if p.statics == nil {
		return nil
	}
	if s := p.static.Load(); s != nil && core.SameSlice(p.statics(), s.hooks) {
		return s
	}
	p.refreshStatic()
	return p.static.Load()
}

// refreshStatic takes over changed static policies.
func (p *publisher) refreshStatic() {
	p.lock.Lock()
	defer p.lock.Unlock()
	if err := p.rebuild(); err != nil {
		utilruntime.HandleError(fmt.Errorf("failed to take over static policies: %w", err))
	}
}

// rebuild builds and publishes what has changed. The caller holds the lock.
func (p *publisher) rebuild() error {
	start := time.Now()
	static, err := p.currentStatic()
	if err != nil {
		return err
	}
	if !p.synced {
		p.static.Store(static)
		return nil
	}
	if current := p.current.Load(); current != nil && current.static == static && core.SameSlice(current.api, p.api) {
		return nil
	}
	all := p.api
	if len(static.hooks) > 0 {
		all = slices.Concat(static.hooks, p.api)
	}
	next, err := newSnapshot(all, &p.bindings)
	if err != nil {
		return err
	}
	p.bindings.sweep()
	next.api, next.static = p.api, static
	if err := next.keepPlans(p.current.Load(), p.exempt); err != nil {
		utilruntime.HandleError(fmt.Errorf("plans must be made anew: %w", err))
	}
	p.static.Store(static)
	p.current.Store(next)
	observeSnapshot(time.Since(start), next)
	return nil
}

// currentStatic gives the snapshot of the static policies as they are now. Ones that the engine does not take
// leave those in force that were loaded before, as manifests do that do not compile.
func (p *publisher) currentStatic() (*snapshot, error) {
	known := p.static.Load()
	if p.statics == nil {
		if known == nil {
			known = &snapshot{}
		}
		return known, nil
	}
	hooks := p.statics()
	if known != nil && (core.SameSlice(hooks, known.hooks) || p.refused != nil && core.SameSlice(hooks, p.refused)) {
		return known, nil
	}
	next, err := newSnapshot(hooks, &p.staticBindings)
	if err == nil {
		p.staticBindings.sweep()
		return next, nil
	}
	if known == nil {
		return nil, err
	}
	p.refused = hooks
	utilruntime.HandleError(fmt.Errorf("static policies cannot be used, those loaded before stay in force: %w", err))
	return known, nil
}

// sameHook says whether two hooks decide alike.
func sameHook(a, b PolicyHook) bool {
	return a.Evaluator == b.Evaluator && a.ParamInformer == b.ParamInformer && sameVersion(a.Policy, b.Policy) &&
		slices.EqualFunc(a.Bindings, b.Bindings, sameVersion) && errorText(a.ConfigurationError) == errorText(b.ConfigurationError)
}

// identicalHook says whether two hooks of a policy are the same in all that a snapshot keeps of them.
func identicalHook(a, b *PolicyHook) bool {
	return a.Evaluator == b.Evaluator && a.ParamInformer == b.ParamInformer && slices.Equal(a.Bindings, b.Bindings) &&
		errorText(a.ConfigurationError) == errorText(b.ConfigurationError)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
