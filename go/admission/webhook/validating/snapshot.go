package validating

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"

	"github.com/celgate/celgate/go/internal/cabi"
	"github.com/celgate/celgate/go/internal/core"
)

// snapshot is the webhooks that requests are judged by at one moment. It is immutable but for its cache of plans.
type snapshot struct {
	// static and api are the slices that the sources gave; a source gives another slice whenever it has changed.
	static, api []webhook.WebhookAccessor
	// hooks are both, in upstream's order, as the engine numbers them.
	hooks []webhook.WebhookAccessor
	// engine and staticEngine are those of all webhooks, and of the static ones alone, which have the same numbers in both.
	engine, staticEngine *cabi.Engine
	plans                core.Cache[core.Plan]
	metrics              conditionMetrics
}

// snapshots makes and keeps the snapshot in force.
type snapshots struct {
	current atomic.Pointer[snapshot]

	lock sync.Mutex
	// compiled are the webhooks of the snapshot made last; sources keep what has not changed.
	compiled map[webhook.WebhookAccessor]*cabi.Webhook
}

// snapshot gives the snapshot to judge a request by: what the sources say now. The first request after a change makes it, as upstream's
// sources make their lists then.
func (p *Plugin) snapshot() (*snapshot, error) {
	if s := p.snapshots.current.Load(); s != nil {
		if static, api := p.webhooks(); s.isOf(static, api) {
			return s, nil
		}
	}
	p.snapshots.lock.Lock()
	defer p.snapshots.lock.Unlock()
	static, api := p.webhooks()
	if s := p.snapshots.current.Load(); s != nil && s.isOf(static, api) {
		return s, nil
	}
	s, err := p.snapshots.build(static, api)
	if err != nil {
		return nil, err
	}
	p.snapshots.current.Store(s)
	return s, nil
}

// webhooks are those in force.
func (p *Plugin) webhooks() (static, api []webhook.WebhookAccessor) {
	if p.static != nil {
		static = p.static.Webhooks()
	}
	return static, p.api.Webhooks()
}

func (s *snapshot) isOf(static, api []webhook.WebhookAccessor) bool {
	return core.SameSlice(s.static, static) && core.SameSlice(s.api, api)
}

// of makes a snapshot that does not come into force.
func (c *snapshots) of(static, api []webhook.WebhookAccessor) (*snapshot, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.build(static, api)
}

// build makes a snapshot. The caller holds the lock.
func (c *snapshots) build(static, api []webhook.WebhookAccessor) (*snapshot, error) {
	s := &snapshot{static: static, api: api, hooks: slices.Concat(static, api)}
	compiled := make(map[webhook.WebhookAccessor]*cabi.Webhook, len(s.hooks))
	handles := make([]*cabi.Webhook, len(s.hooks))
	for i, hook := range s.hooks {
		made := c.compiled[hook]
		if made == nil {
			var err error
			if made, err = compile(hook); err != nil {
				return nil, fmt.Errorf("celgate: failed to read webhook %q of %q: %w", hook.GetName(), hook.GetConfigurationName(), err)
			}
		}
		compiled[hook], handles[i] = made, made
	}
	var err error
	if s.engine, err = newEngine(handles); err != nil {
		return nil, err
	}
	if s.staticEngine, err = newEngine(handles[:len(static)]); err != nil {
		return nil, err
	}
	c.compiled = compiled
	return s, nil
}

// newEngine gives nil if there are no webhooks.
func newEngine(handles []*cabi.Webhook) (*cabi.Engine, error) {
	if len(handles) == 0 {
		return nil, nil
	}
	return cabi.NewWebhookEngine(handles)
}

// compile gives the core what decides whether a webhook is called.
func compile(hook webhook.WebhookAccessor) (*cabi.Webhook, error) {
	data, err := json.Marshal(&v1.ValidatingWebhook{
		Name:              hook.GetName(),
		Rules:             hook.GetRules(),
		FailurePolicy:     hook.GetFailurePolicy(),
		MatchPolicy:       hook.GetMatchPolicy(),
		NamespaceSelector: hook.GetNamespaceSelector(),
		ObjectSelector:    hook.GetObjectSelector(),
		MatchConditions:   hook.GetMatchConditions(),
	})
	if err != nil {
		return nil, err
	}
	return cabi.NewWebhook(data)
}

// plan gives the plan for a request, making it if this is the first of its kind.
func (p *Plugin) plan(s *snapshot, a admission.Attributes, o admission.ObjectInterfaces) (*core.Plan, error) {
	key, cacheable := core.KeyOf(a, o)
	create := func() (*core.Plan, error) { return p.newPlan(s, &key, a) }
	if !cacheable {
		return create()
	}
	if found := s.plans.Find(&key); found != nil {
		return found, nil
	}
	return s.plans.Add(&key, create)
}

func (p *Plugin) newPlan(s *snapshot, key *core.Key, a admission.Attributes) (*core.Plan, error) {
	engine := s.engine
	switch p.exemption(a) {
	case exemptFromAll:
		engine = nil
	case exemptFromAPI:
		engine = s.staticEngine
	}
	if engine == nil {
		return &core.Plan{Empty: true}, nil
	}
	made, err := core.MakePlan(engine, key)
	if err != nil {
		return nil, err
	}
	if made.Empty {
		return &core.Plan{Empty: true}, nil
	}
	return &made, nil
}
