package harness

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celgate/celgate/go/admission/policy/validating"
)

// Script is a world and what happens in it.
type Script struct {
	World *World
	Steps []Step
}

// Step is a request, after some changes.
type Step struct {
	Name    string
	Changes []Change
	Request *Request
}

// Engine decides requests in a State.
type Engine interface {
	Validator
	// Refresh takes over what has changed.
	Refresh(ctx context.Context) error
}

// Played is what an engine made of a script.
type Played struct {
	Outcomes []Outcome
	// Matched says for each request whether any policy and binding of it matched; of the oracle alone.
	Matched []bool
	// Counts are what the metrics counted.
	Counts Counts
}

// PlayUpstream plays a script with upstream's dispatcher, in the order of names. prefix is what the names of all policies begin with: no other
// script with that prefix may be played in the process at the same time.
func PlayUpstream(ctx context.Context, script *Script, prefix string) (*Played, error) {
	return play(ctx, script, prefix, func(_ context.Context, state *State) (Engine, error) { return NewOracleOf(state) })
}

// PlayCelgate plays a script with celgate's plugin.
func PlayCelgate(ctx context.Context, script *Script, prefix string) (*Played, error) {
	return play(ctx, script, prefix, NewCelgateOf)
}

func play(ctx context.Context, script *Script, prefix string, start func(context.Context, *State) (Engine, error)) (*Played, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	before, err := GatherCounts(prefix)
	if err != nil {
		return nil, err
	}
	state, err := NewState(script.World)
	if err != nil {
		return nil, err
	}
	e, err := start(ctx, state)
	if err != nil {
		return nil, err
	}
	played := &Played{}
	for i := range script.Steps {
		if err := played.step(ctx, state, e, &script.Steps[i]); err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
	}
	after, err := GatherCounts(prefix)
	if err != nil {
		return nil, err
	}
	played.Counts = after.Since(before)
	return played, nil
}

func (p *Played) step(ctx context.Context, state *State, e Engine, step *Step) error {
	for _, change := range step.Changes {
		if err := state.Apply(change); err != nil {
			return err
		}
	}
	if len(step.Changes) > 0 {
		if err := e.Refresh(ctx); err != nil {
			return err
		}
	}
	oracle, _ := e.(*Oracle)
	if oracle != nil {
		oracle.matched.Store(0)
	}
	p.Outcomes = append(p.Outcomes, Observe(ctx, e, step.Request.Copy(), state.Objects()))
	if oracle != nil {
		p.Matched = append(p.Matched, oracle.matched.Load() > 0)
	}
	return nil
}

// Copy gives the request anew: what one engine does to an object, such as filling caches in it, must not help the other.
func (r *Request) Copy() *Request {
	copied := *r
	for _, object := range []*runtime.Object{&copied.Object, &copied.OldObject, &copied.Options} {
		if *object != nil {
			*object = (*object).DeepCopyObject()
		}
	}
	return &copied
}

// byHand is celgate's plugin over a State.
type byHand struct{ *validating.Plugin }

// Refresh implements Engine.
func (e byHand) Refresh(ctx context.Context) error {
	e.Plugin.Refresh(ctx)
	return nil
}

// NewCelgateOf makes celgate's plugin over a state; it ends with ctx.
func NewCelgateOf(ctx context.Context, state *State) (Engine, error) {
	plugin, err := validating.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	plugin.SetExternalKubeInformerFactory(state.factory())
	plugin.SetExternalKubeClientSet(state.client())
	plugin.SetRESTMapper(state.restMapper())
	plugin.SetDynamicClient(state.dynamicClient())
	plugin.SetDrainedNotification(ctx.Done())
	plugin.SetUnconditionalAuthorizer(worldAuthorizer{state.world})
	plugin.SetExcludedAdmissionResources(excluded)
	if state.manifests != nil {
		if err := state.manifests.attach(ctx, plugin); err != nil {
			return nil, err
		}
	}
	if err := plugin.ValidateInitialization(); err != nil {
		return nil, err
	}
	e := byHand{plugin}
	return e, e.Refresh(ctx)
}

// Difference is where two engines differ in a script.
type Difference struct {
	// Step is the number of the request, -1 if only the metrics differ.
	Step int
	// What tells what is different: status, warnings, annotations, metrics.
	What string
	Text string
}

// Compare gives the first difference, nil if there is none.
func Compare(want, got *Played) *Difference {
	for i := range want.Outcomes {
		a, b := &want.Outcomes[i], &got.Outcomes[i]
		var what []string
		if a.Status != b.Status {
			what = append(what, "status")
		}
		if !slices.Equal(a.Warnings, b.Warnings) {
			what = append(what, "warnings")
		}
		if !maps.Equal(a.Annotations, b.Annotations) {
			what = append(what, "annotations")
		}
		if len(what) > 0 {
			_, text := compare(*a, *b)
			return &Difference{Step: i, What: strings.Join(what, " "), Text: text}
		}
	}
	return CompareCounts(want.Counts, got.Counts)
}

// CompareCounts gives the difference of what metrics counted, nil if there is none.
func CompareCounts(want, got Counts) *Difference {
	if maps.Equal(want, got) {
		return nil
	}
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(merged(want, got))) {
		if want[key] != got[key] {
			fmt.Fprintf(&text, "%s: upstream %d, celgate %d\n", key, want[key], got[key])
		}
	}
	return &Difference{Step: -1, What: "metrics", Text: text.String()}
}

func merged(a, b Counts) Counts {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
