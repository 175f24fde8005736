package validating

import (
	"github.com/celgate/celgate/go/internal/cabi"
	"github.com/celgate/celgate/go/internal/core"
)

const (
	// maxChanged is how many changed policies are looked at one by one; beyond it all plans are made anew.
	maxChanged = 64
	// maxIdle is how many snapshots a plan outlives that no request asks for: its resource may be gone.
	maxIdle = 16
)

// keepPlans takes over those plans of the snapshot before that no policy can match that has changed, or whose bindings have.
func (s *snapshot) keepPlans(before *snapshot, exempt *exemptions) error {
	if before == nil || before.static != s.static {
		return nil
	}
	changed := s.changedSince(before)
	if len(changed) > maxChanged {
		return nil
	}
	binding, err := newBinding(&PolicyBinding{}) // without constraints
	if err != nil {
		return err
	}
	engine, err := cabi.NewEngine(changed, []*cabi.Binding{binding})
	if err != nil {
		return err
	}
	var kept []core.Entry[plan]
	for _, entry := range before.plans.Entries() {
		if resource := entry.Key.Resource.GroupResource(); !exempt.fromAll(resource) && !exempt.fromAPI(resource) {
			made, err := core.MakePlan(engine, &entry.Key)
			if err != nil {
				return err
			}
			if !made.Empty {
				continue
			}
		}
		if entry.Plan = entry.Plan.keep(before, s); entry.Plan.idle <= maxIdle {
			kept = append(kept, entry)
		}
	}
	s.plans.Set(kept)
	return nil
}

// changedSince gives the policies of hooks that only one of two snapshots has, with any binding.
func (s *snapshot) changedSince(before *snapshot) []cabi.Hook {
	known := make(map[*Policy]*PolicyHook, len(before.hooks))
	for i := range before.hooks {
		known[before.hooks[i].Policy] = &before.hooks[i]
	}
	var changed []cabi.Hook
	add := func(hook *PolicyHook) {
		changed = append(changed, cabi.Hook{Policy: hook.Evaluator.policy, Bindings: 1, Params: cabi.None})
	}
	for i := range s.hooks {
		hook := &s.hooks[i]
		if old := known[hook.Policy]; old == nil || !identicalHook(old, hook) {
			add(hook)
		} else {
			delete(known, hook.Policy)
		}
	}
	for _, hook := range known {
		add(hook)
	}
	return changed
}

// keep gives the plan as one of another snapshot, whose policies it reports in the numbers of its own engine.
func (p *plan) keep(before, next *snapshot) *plan {
	kept := &plan{Plan: p.Plan, view: p.view, numbers: p.numbers, idle: p.idle + 1}
	if p.used.Load() {
		kept.idle = 0
	}
	if p.view == before {
		kept.view = next
	}
	return kept
}
