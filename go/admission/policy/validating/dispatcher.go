package validating

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/celgate/celgate/go/internal/cabi"
	"github.com/celgate/celgate/go/internal/core"
)

// maxRounds bounds the questions and pauses of one request. Each round answers what was unknown or spends a step budget, and expressions
// have cost limits, so only a bug can reach it.
const maxRounds = 100_000

// dispatcher decides requests.
type dispatcher struct {
	authorizer authorizer.UnconditionalAuthorizer
	policies   generic.PolicyMatcher
	namespaces core.Namespaces
	exempt     *exemptions

	pool sync.Pool

	// other is the snapshot made last for hooks that the publisher did not publish.
	other      *snapshot
	otherCache bindingCache
	otherLock  sync.Mutex
}

var _ generic.Dispatcher[PolicyHook] = &dispatcher{}

func newDispatcher(authz authorizer.UnconditionalAuthorizer, matcher *matching.Matcher, namespaces corelisters.NamespaceLister, client kubernetes.Interface, exempt *exemptions) *dispatcher {
	d := &dispatcher{
		authorizer: authz,
		policies:   generic.NewPolicyMatcher(matcher),
		namespaces: core.Namespaces{Lister: namespaces, Client: client},
		exempt:     exempt,
	}
	d.pool.New = func() any { return &work{Work: core.NewWork(), shard: counters.shard()} }
	return d
}

// work is what one request needs besides its record; it is reused.
type work struct {
	core.Work
	shard  *counterShard
	params []*cabi.Params
}

// release gives w back for another request.
func (d *dispatcher) release(w *work) {
	w.Reset()
	clear(w.params)
	w.params = w.params[:0]
	d.pool.Put(w)
}

// Start does nothing: the dispatcher works only in requests.
func (d *dispatcher) Start(context.Context) error { return nil }

// Dispatch decides a request by the given hooks. The plugin's own way does not lead here, as it has a snapshot at hand.
func (d *dispatcher) Dispatch(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, hooks []PolicyHook) error {
	s, err := d.snapshotOf(hooks)
	if err != nil {
		return admission.NewForbidden(a, err)
	}
	return d.decide(ctx, a, o, s)
}

// snapshotOf gives the snapshot of hooks that came another way than through the publisher.
func (d *dispatcher) snapshotOf(hooks []PolicyHook) (*snapshot, error) {
	d.otherLock.Lock()
	defer d.otherLock.Unlock()
	if d.other != nil && core.SameSlice(d.other.hooks, hooks) {
		return d.other, nil
	}
	s, err := newSnapshot(hooks, &d.otherCache)
	if err != nil {
		return nil, err
	}
	d.otherCache.sweep()
	d.other = s
	return s, nil
}

// decide decides a request by a snapshot.
func (d *dispatcher) decide(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, s *snapshot) error {
	p, err := s.plan(a, o, d.exempt)
	if err != nil {
		return d.refuse(a, o, s, err)
	}
	if p.Empty {
		return nil
	}
	w := d.pool.Get().(*work)
	defer d.release(w)
	e := p.Encoder()
	defer e.Put()
	p.Encode(e, &d.namespaces, a, o)
	return d.evaluate(ctx, a, o, p, w, e.Bytes())
}

// evaluate lets the core decide, answering its questions, and turns its report into the outcome.
func (d *dispatcher) evaluate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, p *plan, w *work, record []byte) error {
	start := time.Now() // the core reads no clock; metrics get the average per evaluated policy
	w.loadParams(p)
	w.shard.request(len(record))
	var evaluations uint64
	ended := false
	for range maxRounds {
		if !ended && ctx.Err() != nil {
			// Upstream goes on, too: what becomes of that is the expressions' to say.
			ended = true
			w.Answers.End(context.Cause(ctx))
		}
		out, status := p.Evaluate(w.Scratch, record, w.params, w.Answers.Bytes())
		evaluations += w.Scratch.Evaluations()
		w.shard.evaluated(w.Scratch.Evaluations())
		w.Answers.Reset()
		switch status {
		case cabi.OK:
			if len(out) == 0 {
				return nil
			}
			return d.replay(ctx, a, o, p, w, out, time.Since(start)/time.Duration(max(evaluations, 1)))
		case cabi.NeedsInput:
			w.shard.asked()
			if err := d.answer(ctx, a, p, w, out); err != nil {
				return d.refuse(a, o, p.view, err)
			}
		case cabi.Yield:
			w.shard.yielded()
		case cabi.Invalid:
			return d.refuse(a, o, p.view, fmt.Errorf("celgate: internal error: %s: %s", status, out))
		default:
			return d.refuse(a, o, p.view, fmt.Errorf("celgate: internal error: %s", status))
		}
	}
	return d.refuse(a, o, p.view, fmt.Errorf("celgate: internal error: evaluation does not end"))
}

// loadParams takes the current version of the param sets that matter.
func (w *work) loadParams(p *plan) {
	for range len(p.sets) - len(w.params) {
		w.params = append(w.params, nil)
	}
	for _, set := range p.Params {
		w.params[set] = p.sets[set].current.Load()
	}
}
