package harness

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/client-go/tools/cache"
)

// refreshTries is how often upstream's source is asked to put its hooks into another order before an outcome counts as impossible.
const refreshTries = 300

// ownOrder is upstream's dispatcher behind upstream's own source, whose hooks are in the order of Go maps.
type ownOrder struct {
	state      *State
	source     generic.Source[upstream.PolicyHook]
	static     handSource
	dispatcher generic.Dispatcher[upstream.PolicyHook]
}

// listCounter counts how often an informer's objects are listed, which the source does once in each refresh.
type listCounter struct {
	cache.SharedIndexInformer
	indexer *countingIndexer
}

// GetIndexer implements cache.SharedIndexInformer.
func (c listCounter) GetIndexer() cache.Indexer { return c.indexer }

type countingIndexer struct {
	cache.Indexer
	lock  sync.Mutex
	lists int
}

// List implements cache.Store.
func (i *countingIndexer) List() []any {
	i.lock.Lock()
	i.lists++
	i.lock.Unlock()
	return i.Indexer.List()
}

func (i *countingIndexer) count() int {
	i.lock.Lock()
	defer i.lock.Unlock()
	return i.lists
}

func newOwnOrder(ctx context.Context, state *State) (*ownOrder, *countingIndexer) {
	bindings := state.informer(bindingsResource)
	counter := &countingIndexer{Indexer: bindings.store}
	o := &ownOrder{state: state, dispatcher: upstream.NewDispatcher(worldAuthorizer{state.world}, state.matcher())}
	compile := func(policy *v1.ValidatingAdmissionPolicy) upstream.Validator {
		evaluator, err := compileUpstream(policy)
		if err != nil {
			panic(err) // of the environment alone, which is always the same
		}
		return evaluator
	}
	api := generic.NewPolicySource[*v1.ValidatingAdmissionPolicy, *v1.ValidatingAdmissionPolicyBinding, upstream.Validator](
		state.informer(policiesResource), listCounter{bindings, counter}, upstream.NewValidatingAdmissionPolicyAccessor, upstream.NewValidatingAdmissionPolicyBindingAccessor,
		compile, state.mapFactory(), state.dynamicClient(), state.restMapper())
	o.source = generic.NewCompositePolicySource(&o.static, api)
	go func() { _ = o.source.Run(ctx) }() // its only error is that it already runs
	return o, counter
}

// refresh waits until the source has seen everything, perhaps in another order than before.
func (o *ownOrder) refresh(ctx context.Context, counter *countingIndexer) error {
	if err := o.static.refresh(o.state.static); err != nil {
		return err
	}
	// What is stored when the second list begins was made after the first one, and that saw all changes.
	for range 2 {
		before := counter.count()
		for deadline := time.Now().Add(10 * time.Second); counter.count() == before; {
			o.state.informer(policiesResource).touch()
			if time.Now().After(deadline) || ctx.Err() != nil {
				return fmt.Errorf("upstream's source does not refresh")
			}
			time.Sleep(200 * time.Microsecond)
		}
	}
	return nil
}

// Validate decides a request.
func (o *ownOrder) Validate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	return dispatch(ctx, a, objects, o.dispatcher, &o.static, o.source.Hooks())
}

// CompareOwnOrder plays a script with celgate's plugin and with upstream's own source and dispatcher, and looks whether each outcome of
// celgate's is among those that upstream can have.
func CompareOwnOrder(ctx context.Context, script *Script, prefix string) (*Difference, error) {
	played, err := PlayCelgate(ctx, script, prefix)
	if err != nil {
		return nil, err
	}
	restore := generic.SetPolicyRefreshIntervalForTests(time.Millisecond)
	defer restore()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	state, err := NewState(script.World)
	if err != nil {
		return nil, err
	}
	o, counter := newOwnOrder(ctx, state)
	if err := o.refresh(ctx, counter); err != nil {
		return nil, err
	}
	for i := range script.Steps {
		step := &script.Steps[i]
		for _, change := range step.Changes {
			if err := state.Apply(change); err != nil {
				return nil, err
			}
		}
		if len(step.Changes) > 0 {
			if err := o.refresh(ctx, counter); err != nil {
				return nil, err
			}
		}
		var difference string
		for range refreshTries {
			if _, difference = compare(Observe(ctx, o, step.Request.Copy(), state.Objects()), played.Outcomes[i]); difference == "" {
				break
			}
			if err := o.refresh(ctx, counter); err != nil {
				return nil, err
			}
		}
		if difference != "" {
			return &Difference{Step: i, What: "possible outcomes", Text: difference}, nil
		}
	}
	return nil, nil
}
