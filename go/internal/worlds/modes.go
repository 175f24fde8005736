package worlds

import (
	"context"
	"fmt"
	"sync"

	"github.com/celgate/celgate/go/internal/harness"
)

// ownOrderRequests and realRequests are how many requests the worlds of the slower comparisons get.
const (
	ownOrderRequests = 20
	realRequests     = 8
)

// realTogether is how many worlds with real sources run at the same time: they wait most of their time.
const realTogether = 16

// RunOwnOrder compares small worlds with upstream's own source and order: each outcome must be one that upstream can have.
func RunOwnOrder(ctx context.Context, options Options) (*Report, error) {
	return runSmall(ctx, options, 1, func(world int) (*harness.Script, *harness.Difference, error) {
		g := NewGenerator(options.Seed, uint64(world), workerPrefix(0), options.Corpus)
		g.small = true
		script := g.Script(ownOrderRequests)
		difference, err := harness.CompareOwnOrder(ctx, script, workerPrefix(0))
		return script, difference, err
	})
}

// RunReal compares small worlds with both plugins' real sources: informers over fake clients, and timers.
func RunReal(ctx context.Context, options Options) (*Report, error) {
	return runSmall(ctx, options, realTogether, func(world int) (*harness.Script, *harness.Difference, error) {
		g := NewGenerator(options.Seed, uint64(world), workerPrefix(0), nil)
		g.small, g.real = true, true
		script := g.Script(realRequests)
		difference, err := harness.CompareReal(ctx, script)
		return script, difference, err
	})
}

// runSmall compares worlds, some of them at the same time. Their scripts are small enough to be saved as they are.
func runSmall(ctx context.Context, options Options, together int, compare func(world int) (*harness.Script, *harness.Difference, error)) (*Report, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	report := newReport()
	var workers sync.WaitGroup
	for number := range together {
		workers.Go(func() {
			for i := number; i < options.Worlds && ctx.Err() == nil; i += together {
				world := options.First + i
				script, difference, err := compare(world)
				if err != nil {
					cancel(fmt.Errorf("world %d: %w", world, err))
					return
				}
				report.addRequests(len(script.Steps))
				if difference == nil {
					continue
				}
				found := &Found{World: world, Difference: *difference}
				report.found(found)
				if err := found.save(options, script); err != nil {
					cancel(err)
				}
			}
		})
	}
	workers.Wait()
	return report, context.Cause(ctx)
}
