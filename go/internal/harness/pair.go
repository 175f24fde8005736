package harness

import (
	"context"
	"fmt"

	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/celgate/celgate/go/admission/policy/validating"
)

// attempts is how many times upstream is started anew where the order of its Go maps shows in its answer.
const attempts = 40

// Pair is the same world under upstream's plugin and under celgate's.
type Pair struct {
	Upstream, Celgate *Cluster
	world             *World
}

// StartPair runs both plugins over a world until ctx ends.
func StartPair(ctx context.Context, world *World) (*Pair, error) {
	pair := &Pair{world: world}
	ours, err := validating.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	if pair.Celgate, err = Start(ctx, ours, world); err != nil {
		return nil, err
	}
	pair.Upstream, err = pair.startUpstream(ctx)
	return pair, err
}

func (p *Pair) startUpstream(ctx context.Context) (*Cluster, error) {
	theirs, err := upstream.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	return Start(ctx, theirs, p.world)
}

// Do sends a request through both and tells how their outcomes differ; an empty text means that they do not.
func (p *Pair) Do(ctx context.Context, request *Request) (outcome Outcome, difference string) {
	want, got := p.Upstream.Do(ctx, request), p.Celgate.Do(ctx, request)
	if want.String() != got.String() {
		difference = fmt.Sprintf("upstream: %s\ncelgate: %s", want, got)
	}
	return got, difference
}

// DoUnordered is Do for a world with several policies or bindings, whose order upstream takes from Go maps: celgate's outcome must
// be one that upstream can have.
func (p *Pair) DoUnordered(ctx context.Context, request *Request) (outcome Outcome, difference string, err error) {
	outcome, difference = p.Do(ctx, request)
	for attempt := 1; difference != "" && attempt < attempts; attempt++ {
		attemptContext, cancel := context.WithCancel(ctx)
		other, err := p.startUpstream(attemptContext)
		if err != nil {
			cancel()
			return outcome, "", err
		}
		if want := other.Do(attemptContext, request); want.String() == outcome.String() {
			difference = ""
		}
		cancel()
	}
	return outcome, difference, nil
}
