package worlds

import (
	"context"

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
	return runSmall(ctx, options, 1, func(ctx context.Context, world int) (*harness.Script, *harness.Difference, error) {
		g := NewGenerator(options.Seed, uint64(world), workerPrefix(0), options.Corpus)
		g.small = true
		script := g.Script(ownOrderRequests)
		difference, err := harness.CompareOwnOrder(ctx, script, workerPrefix(0))
		return script, difference, err
	})
}

// RunReal compares small worlds with both plugins' real sources: informers over fake clients, and timers.
func RunReal(ctx context.Context, options Options) (*Report, error) {
	return runSmall(ctx, options, realTogether, func(ctx context.Context, world int) (*harness.Script, *harness.Difference, error) {
		g := NewGenerator(options.Seed, uint64(world), workerPrefix(0), nil)
		g.small, g.real = true, true
		script := g.Script(realRequests)
		difference, err := harness.CompareReal(ctx, script)
		return script, difference, err
	})
}

// runSmall compares worlds, some of them at the same time. Their scripts are small enough to be saved as they are.
func runSmall(ctx context.Context, options Options, together int, compare func(ctx context.Context, world int) (*harness.Script, *harness.Difference, error)) (*Report, error) {
	report := newReport()
	err := eachWorld(ctx, options, together, func(ctx context.Context, _, world int) error {
		script, difference, err := compare(ctx, world)
		if err != nil {
			return err
		}
		report.addRequests(len(script.Steps))
		if difference == nil {
			return nil
		}
		found := &Found{World: world, Difference: *difference}
		report.found(found)
		return found.save(options, script)
	})
	return report, err
}
