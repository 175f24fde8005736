package harness

import (
	"context"
	"fmt"

	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"

	"github.com/celgate/celgate/go/admission/policy/validating"
)

// Pair is the same world under upstream's plugin and under celgate's.
type Pair struct {
	Upstream, Celgate *Cluster
	// Oracle is upstream with its hooks in celgate's order.
	Oracle *Oracle
}

// StartPair runs both plugins over a world until ctx ends.
func StartPair(ctx context.Context, world *World) (*Pair, error) {
	pair := &Pair{}
	var err error
	if pair.Celgate, err = StartCelgate(ctx, world); err != nil {
		return nil, err
	}
	theirs, err := upstream.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	if pair.Upstream, err = Start(ctx, theirs, world); err != nil {
		return nil, err
	}
	pair.Oracle, err = NewOracle(world)
	return pair, err
}

// StartCelgate runs celgate's plugin over a world until ctx ends.
func StartCelgate(ctx context.Context, world *World) (*Cluster, error) {
	plugin, err := validating.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	return Start(ctx, plugin, world)
}

// Do sends a request through both and tells how their outcomes differ; an empty text means that they do not.
func (p *Pair) Do(ctx context.Context, request *Request) (outcome Outcome, difference string) {
	return compare(p.Upstream.Do(ctx, request), p.Celgate.Do(ctx, request))
}

// DoOrdered is Do for a world with several policies or bindings, whose order upstream's plugin takes from Go maps: it compares with
// upstream's dispatcher over hooks in celgate's order.
func (p *Pair) DoOrdered(ctx context.Context, request *Request) (outcome Outcome, difference string) {
	return compare(Observe(ctx, p.Oracle, request, p.Celgate.Objects), p.Celgate.Do(ctx, request))
}

func compare(want, got Outcome) (outcome Outcome, difference string) {
	if want.String() != got.String() {
		difference = fmt.Sprintf("upstream: %s\ncelgate: %s", want, got)
	}
	return got, difference
}
