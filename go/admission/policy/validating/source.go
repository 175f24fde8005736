package validating

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	admissionlisters "k8s.io/client-go/listers/admissionregistration/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// refreshInterval is how often the source looks whether policies or bindings have changed, as upstream's.
var refreshInterval = time.Second

// policySource turns the API's policies and bindings into hooks and publishes them. Timing, errors and retries are those of upstream's
// generic.policySource; the hooks are ordered by policy name, their bindings by name.
type policySource struct {
	policyInformer  cache.SharedIndexInformer
	bindingInformer cache.SharedIndexInformer
	policyLister    admissionlisters.ValidatingAdmissionPolicyLister
	bindingLister   admissionlisters.ValidatingAdmissionPolicyBindingLister
	params          *paramRegistry
	dynamicClient   dynamic.Interface
	restMapper      meta.RESTMapper

	// publish makes the hooks those that requests are judged by.
	publish  func(hooks []PolicyHook) error
	interval time.Duration

	running atomic.Bool
	dirty   atomic.Bool
	// refreshing is held while hooks are made and published.
	refreshing sync.Mutex
	hooks      atomic.Pointer[[]PolicyHook]
	compiled   compiled[*Policy, *Evaluator]
}

var _ generic.Source[PolicyHook] = &policySource{}

func newPolicySource(factory informers.SharedInformerFactory, client dynamic.Interface, restMapper meta.RESTMapper, publish func([]PolicyHook) error) *policySource {
	policies := factory.Admissionregistration().V1().ValidatingAdmissionPolicies()
	bindings := factory.Admissionregistration().V1().ValidatingAdmissionPolicyBindings()
	return &policySource{
		policyInformer:  policies.Informer(),
		bindingInformer: bindings.Informer(),
		policyLister:    policies.Lister(),
		bindingLister:   bindings.Lister(),
		params:          newParamRegistry(factory, client, restMapper),
		dynamicClient:   client,
		restMapper:      restMapper,
		publish:         publish,
		interval:        refreshInterval,
	}
}

// Hooks are the hooks published last, nil before the first time.
func (s *policySource) Hooks() []PolicyHook {
	if hooks := s.hooks.Load(); hooks != nil {
		return *hooks
	}
	return nil
}

// HasSynced says whether hooks have been published.
func (s *policySource) HasSynced() bool { return s.hooks.Load() != nil }

func (s *policySource) upstreamHasSynced() bool {
	return s.policyInformer.HasSynced() && s.bindingInformer.HasSynced()
}

// Run keeps the hooks up to date until ctx ends.
func (s *policySource) Run(ctx context.Context) error {
	if s.running.Swap(true) {
		return errors.New("policy source already running")
	}
	if !cache.WaitForNamedCacheSyncWithContext(ctx, s.upstreamHasSynced) {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fmt.Errorf("initial cache sync for %T failed", s)
	}
	s.notify()
	s.refresh(ctx)
	for name, informer := range map[string]cache.SharedIndexInformer{"policy": s.policyInformer, "binding": s.bindingInformer} {
		handle, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { s.notify() },
			UpdateFunc: func(any, any) { s.notify() },
			DeleteFunc: func(any) { s.notify() },
		})
		if err != nil {
			return err
		}
		defer func() {
			if err := informer.RemoveEventHandler(handle); err != nil {
				utilruntime.HandleError(fmt.Errorf("failed to remove %s event handler: %w", name, err))
			}
		}()
	}
	wait.Until(func() { s.refresh(ctx) }, s.interval, ctx.Done())
	return nil
}

func (s *policySource) notify() { s.dirty.Store(true) }

// refresh publishes new hooks if something has changed since the last time.
func (s *policySource) refresh(ctx context.Context) {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	if !s.upstreamHasSynced() || !s.dirty.Swap(false) {
		return
	}
	klog.V(4).Infof("refreshing policies")
	hooks, err := s.calculate(ctx)
	// Policies with a configuration error are among the hooks, so they are published whatever the error is; only hooks
	// that the engine cannot take are not, as less than all policies must not be published.
	if published := s.hooks.Load(); hooks != nil && (published == nil || !slices.EqualFunc(*published, hooks, sameHook)) {
		if publishErr := s.publish(hooks); publishErr != nil {
			err = errors.Join(err, publishErr)
		} else {
			s.hooks.Store(&hooks)
		}
	}
	if err != nil {
		utilruntime.HandleError(fmt.Errorf("encountered error syncing policies: %w. Rescheduling policy sync", err))
		s.notify()
	}
}

// boundPolicy is a policy with its bindings, by name.
type boundPolicy struct {
	policy   *Policy
	bindings []*PolicyBinding
}

// bound lists the policies that have a binding, by name. A policy that does not exist, or not yet, is left out.
func (s *policySource) bound() (found []boundPolicy, errs []error) {
	bindings, err := s.bindingLister.List(labels.Everything())
	if err != nil {
		return nil, []error{&unusableError{err}}
	}
	bindings = slices.Clone(bindings)
	slices.SortFunc(bindings, func(a, b *PolicyBinding) int {
		return cmp.Or(cmp.Compare(a.Spec.PolicyName, b.Spec.PolicyName), cmp.Compare(a.Name, b.Name))
	})
	for start := 0; start < len(bindings); {
		name := bindings[start].Spec.PolicyName
		end := start + 1
		for end < len(bindings) && bindings[end].Spec.PolicyName == name {
			end++
		}
		policy, err := s.policyLister.Get(name)
		switch {
		case err == nil:
			found = append(found, boundPolicy{policy: policy, bindings: bindings[start:end:end]})
		case !apierrors.IsNotFound(err):
			errs = append(errs, err)
		}
		start = end
	}
	return found, errs
}

// calculate gives the hooks of all policies that have a binding. With an error they are still complete, unless they are nil.
func (s *policySource) calculate(ctx context.Context) ([]PolicyHook, error) {
	found, errs := s.bound()
	policies := make([]*Policy, len(found))
	for i := range found {
		policies[i] = found[i].policy
	}
	s.compiled.fill(policies, compilePolicy)
	hooks := make([]PolicyHook, 0, len(found))
	for i := range found {
		hook, usable, err := s.hook(ctx, found[i])
		if err != nil {
			errs = append(errs, err)
		}
		if usable {
			hooks = append(hooks, hook)
		}
	}
	err := errors.Join(errs...)
	if unusable := (*unusableError)(nil); errors.As(err, &unusable) {
		return nil, err
	}
	s.compiled.sweep()
	if retainErr := s.retainParams(); retainErr != nil {
		err = errors.Join(err, retainErr)
	}
	return hooks, err
}

// unusableError means that the policies in force cannot be told, so that those before must stay.
type unusableError struct{ error }

// hook makes the hook of one policy. Like upstream, it is not usable if its paramKind is no kind.
func (s *policySource) hook(ctx context.Context, bound boundPolicy) (hook PolicyHook, usable bool, err error) {
	policy := bound.policy
	hook = PolicyHook{Policy: policy, Bindings: bound.bindings, DynamicClient: s.dynamicClient, RESTMapper: s.restMapper}
	if policy.Spec.ParamKind != nil {
		kind, err := paramKindOf(policy)
		if err != nil {
			return hook, false, err
		}
		set, err := s.params.get(ctx, kind)
		if err != nil {
			hook.ConfigurationError = err
		} else {
			hook.ParamInformer, hook.ParamScope = set, set.scope
		}
	}
	hook.Evaluator, err = s.compiled.get(policy, compilePolicy)
	if err != nil {
		return hook, false, &unusableError{err}
	}
	return hook, true, hook.ConfigurationError
}

// retainParams keeps the param sets of the kinds that a policy names, bound or not.
func (s *policySource) retainParams() error {
	policies, err := s.policyLister.List(labels.Everything())
	if err != nil {
		return err
	}
	named := map[schema.GroupVersionKind]struct{}{}
	for _, policy := range policies {
		if policy.Spec.ParamKind == nil {
			continue
		}
		if kind, err := paramKindOf(policy); err == nil {
			named[kind] = struct{}{}
		}
	}
	s.params.retain(named)
	return nil
}

func paramKindOf(policy *Policy) (schema.GroupVersionKind, error) {
	version, err := schema.ParseGroupVersion(policy.Spec.ParamKind.APIVersion)
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("failed to parse paramKind APIVersion: %w", err)
	}
	return version.WithKind(policy.Spec.ParamKind.Kind), nil
}
