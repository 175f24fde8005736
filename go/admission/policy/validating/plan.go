package validating

import (
	"fmt"
	"sync/atomic"

	"k8s.io/apiserver/pkg/admission"

	"github.com/celgate/celgate/go/internal/core"
)

// plan is the part of a snapshot that can match one kind of request.
type plan struct {
	// Plan is empty if nothing can match.
	core.Plan
	// view is the snapshot whose policies it is about: the one it was looked up in, or its static part.
	view *snapshot
	// numbers are those of the plan's engine, which may be that of an earlier snapshot.
	numbers

	// used says whether a request has asked for the plan in this snapshot, idle in how many snapshots before it none has.
	used atomic.Bool
	idle int
}

// nothing is a plan of what no policy judges.
func nothing() *plan { return &plan{Plan: core.Plan{Empty: true}} }

// plan gives the plan for a request, making it if this is the first of its kind. exempt gives resources that no policy judges, or only static ones.
func (s *snapshot) plan(a admission.Attributes, o admission.ObjectInterfaces, exempt *exemptions) (*plan, error) {
	key, cacheable := core.KeyOf(a, o)
	if !cacheable {
		return s.newPlan(key, exempt)
	}
	found := s.plans.Find(&key)
	if found == nil {
		var err error
		if found, err = s.plans.Add(&key, func() (*plan, error) { return s.newPlan(key, exempt) }); err != nil {
			return nil, err
		}
	}
	if !found.used.Load() {
		found.used.Store(true)
	}
	return found, nil
}

func (s *snapshot) newPlan(key core.Key, exempt *exemptions) (*plan, error) {
	view := s
	switch {
	case exempt.fromAll(key.Resource.GroupResource()):
		return nothing(), nil
	case exempt.fromAPI(key.Resource.GroupResource()):
		if s.static != nil { // nil in the static snapshot itself
			view = s.static
		}
	}
	if view.engine == nil {
		return nothing(), nil
	}
	made, err := core.MakePlan(view.engine, &key)
	if err != nil {
		return nil, err
	}
	if made.Empty {
		return nothing(), nil
	}
	for _, set := range made.Params {
		if int(set) >= len(view.sets) {
			return nil, fmt.Errorf("celgate: plan: there is no param set %d", set)
		}
	}
	return &plan{Plan: made, view: view, numbers: view.numbers}, nil
}
