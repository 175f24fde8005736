package worlds

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/celgate/celgate/go/internal/harness"
)

// Options says what to compare.
type Options struct {
	// Worlds is how many worlds there are, First the number of the first one, Requests how many requests each gets.
	Worlds, First, Requests int
	Seed                    uint64
	Workers                 int
	// Corpus may be nil.
	Corpus *Corpus
	// Save is the directory for the cases of differences; "" keeps none.
	Save string
	// Shrunk is how many differences are made small; others are counted only.
	Shrunk   int
	Progress io.Writer
}

// progressInterval is how often a run says how far it is.
const progressInterval = 10 * time.Second

// Run compares worlds. The error is one of the harness; differences are in the report.
func Run(ctx context.Context, options Options) (*Report, error) {
	report := newReport()
	return report, follow(options, report, func(done func()) error {
		return eachWorld(ctx, options, options.Workers, func(ctx context.Context, worker, world int) error {
			defer done()
			return compareWorld(ctx, options, world, workerPrefix(worker), report)
		})
	})
}

// follow tells how far a run is, which says when a world is done.
func follow(options Options, report *Report, run func(done func()) error) error {
	var done atomic.Int64
	finished := make(chan error)
	go func() { finished <- run(func() { done.Add(1) }) }()
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for {
		select {
		case err := <-finished:
			return err
		case <-ticker.C:
			fmt.Fprintf(options.Progress, "%d of %d worlds, %s\n", done.Load(), options.Worlds, report.summary())
		}
	}
}

// eachWorld has workers do something with each world until all is done, or the first error.
func eachWorld(ctx context.Context, options Options, workers int, do func(ctx context.Context, worker, world int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	for worker := range workers {
		running.Go(func() {
			for i := worker; i < options.Worlds && ctx.Err() == nil; i += workers {
				if err := do(ctx, worker, options.First+i); err != nil {
					cancel(fmt.Errorf("world %d: %w", options.First+i, err))
				}
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// workerPrefix begins the names of policies in a worker's worlds, so that workers' metrics can be told apart.
func workerPrefix(number int) string { return fmt.Sprintf("w%d-", number) }

func compareWorld(ctx context.Context, options Options, world int, prefix string, report *Report) error {
	script := NewGenerator(options.Seed, uint64(world), prefix, options.Corpus).Script(options.Requests)
	want, difference, err := compare(ctx, script, prefix)
	if err != nil {
		return err
	}
	report.add(want)
	if difference == nil {
		return nil
	}
	found := &Found{World: world, Difference: *difference}
	if report.found(found) > options.Shrunk {
		return nil
	}
	small, difference := shrink(ctx, script, prefix, difference)
	found.Difference = *difference
	return found.save(options, small)
}

// compare plays a script with both engines.
func compare(ctx context.Context, script *harness.Script, prefix string) (*harness.Played, *harness.Difference, error) {
	want, err := harness.PlayUpstream(ctx, script, prefix)
	if err != nil {
		return nil, nil, err
	}
	got, err := harness.PlayCelgate(ctx, script, prefix)
	if err != nil {
		return nil, nil, err
	}
	return want, harness.Compare(want, got), nil
}
