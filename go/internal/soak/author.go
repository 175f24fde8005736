package soak

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celgate/celgate/go/internal/harness"
	"github.com/celgate/celgate/go/internal/worlds"
)

// episode is some changes, and requests that come meanwhile.
type episode struct {
	number   int
	changes  []harness.Change
	requests []*harness.Request
	// answers are upstream's, by state and request. State 0 is that before the changes; a part of a change leads to the next one, or to the one
	// after it if it must be taken over by a refresh and shows before.
	answers [][]harness.Outcome
	// measured says that requests are timed.
	measured bool
}

// author makes episodes.
type author struct {
	options   *Options
	generator *worlds.Generator
	base      *harness.World
	state     *harness.State
	oracle    *harness.Oracle
	// present are the objects of the state, by kind and name.
	present  map[string]runtime.Object
	kinds    []harness.Kind
	episodes int
	// turn is held while upstream works, and while it must not.
	turn sync.Mutex
}

func newAuthor(options *Options) (*author, error) {
	a := &author{options: options, generator: worlds.NewGenerator(options.Seed, 0, "soak-", options.Corpus).Themed(), present: map[string]runtime.Object{}}
	a.base = a.generator.World()
	var err error
	if a.state, err = harness.NewState(a.base); err != nil {
		return nil, err
	}
	for _, object := range objects(a.base) {
		a.present[identity(object)] = object
	}
	a.kinds = a.base.Kinds
	a.oracle, err = harness.NewOracleOf(a.state)
	return a, err
}

// round makes the episodes of one round, those of a new world and the way back: while more says so, but some in any case. It ends early with ctx.
func (a *author) round(ctx context.Context, more func() bool, episodes chan<- *episode) error {
	write := func(changes []harness.Change) error {
		for chunk := range slices.Chunk(changes, a.options.Changes) {
			made, err := a.episode(ctx, chunk)
			if err != nil {
				return err
			}
			select {
			case episodes <- made:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}
	if err := write(a.wayTo(a.generator.World())); err != nil {
		return err
	}
	for first := true; first || more(); first = false {
		changes := make([]harness.Change, a.options.Changes)
		for i := range changes {
			changes[i] = a.generator.Change()
			a.note(changes[i])
		}
		if err := write(changes); err != nil {
			return err
		}
	}
	a.generator.Resume(a.base)
	return write(a.wayTo(a.base))
}

// episode makes changes and asks upstream about requests after each part.
func (a *author) episode(ctx context.Context, changes []harness.Change) (*episode, error) {
	a.episodes++
	e := &episode{number: a.episodes, changes: slices.Clone(changes), measured: a.episodes%measuredEvery == 0 && !a.options.First}
	for range a.options.Requests {
		e.requests = append(e.requests, a.generator.Request())
	}
	a.ask(ctx, e)
	for i := range e.changes {
		change := &e.changes[i]
		if change.Unseen && a.state.Informed(changed(change)) {
			change.Unseen = false
		}
		for _, part := range a.state.Parts(*change) {
			if err := a.apply(ctx, e, part); err != nil {
				return nil, err
			}
		}
	}
	return e, ctx.Err()
}

func (a *author) apply(ctx context.Context, e *episode, part harness.Part) error {
	a.turn.Lock()
	err := part.Apply()
	a.turn.Unlock()
	if err != nil {
		return err
	}
	if part.Discovery {
		a.ask(ctx, e)
	}
	if part.Refresh {
		a.turn.Lock()
		err = a.oracle.Refresh(ctx)
		a.turn.Unlock()
	}
	a.ask(ctx, e)
	return err
}

// ask asks upstream about all requests of an episode in the state as it is now.
func (a *author) ask(ctx context.Context, e *episode) {
	a.turn.Lock()
	defer a.turn.Unlock()
	answers := make([]harness.Outcome, len(e.requests))
	var next atomic.Int64
	var asking sync.WaitGroup
	for range a.options.Workers {
		asking.Go(func() {
			for k := next.Add(1) - 1; k < int64(len(answers)); k = next.Add(1) - 1 {
				answers[k] = harness.Observe(ctx, a.oracle, e.requests[k].Copy(), a.state.Objects())
			}
		})
	}
	asking.Wait()
	e.answers = append(e.answers, answers)
}

// wayTo gives the changes that lead to a world, and notes them as made.
func (a *author) wayTo(w *harness.World) []harness.Change {
	changes := []harness.Change{{Kinds: w.Kinds}}
	wanted := map[string]bool{}
	for _, object := range objects(w) {
		wanted[identity(object)] = true
		changes = append(changes, harness.Change{Apply: object})
	}
	// Sorted, as maps have no order and a seed must give the same run.
	var gone []string
	for key := range a.present {
		if !wanted[key] {
			gone = append(gone, key)
		}
	}
	slices.Sort(gone)
	for _, key := range gone {
		changes = append(changes, harness.Change{Delete: a.present[key]})
	}
	for _, change := range changes {
		a.note(change)
	}
	return changes
}

func (a *author) note(change harness.Change) {
	switch {
	case change.Apply != nil:
		a.present[identity(change.Apply)] = change.Apply
	case change.Delete != nil && !change.Unseen:
		delete(a.present, identity(change.Delete))
	}
}

// changed is the object that a change is about, nil if it is about kinds.
func changed(change *harness.Change) runtime.Object {
	if change.Apply != nil {
		return change.Apply
	}
	return change.Delete
}

// objects are all objects of a world.
func objects(w *harness.World) (all []runtime.Object) {
	for _, object := range w.Namespaces {
		all = append(all, object)
	}
	all = append(all, w.Params...)
	for _, object := range w.Policies {
		all = append(all, object)
	}
	for _, object := range w.Bindings {
		all = append(all, object)
	}
	return all
}

// identity is an object's kind and name.
func identity(object runtime.Object) string {
	name := ""
	if accessor, ok := object.(metav1.Object); ok {
		name = accessor.GetNamespace() + "/" + accessor.GetName()
	}
	return fmt.Sprintf("%T %s %s", object, object.GetObjectKind().GroupVersionKind().GroupKind(), name)
}
