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
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	report := newReport()
	var done atomic.Int64
	var workers sync.WaitGroup
	for number := range options.Workers {
		workers.Go(func() {
			prefix := workerPrefix(number)
			for i := number; i < options.Worlds && ctx.Err() == nil; i += options.Workers {
				if err := compareWorld(ctx, options, options.First+i, prefix, report); err != nil {
					cancel(fmt.Errorf("world %d: %w", options.First+i, err))
				}
				done.Add(1)
			}
		})
	}
	finished := make(chan struct{})
	go func() { workers.Wait(); close(finished) }()
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for running := true; running; {
		select {
		case <-finished:
			running = false
		case <-ticker.C:
			fmt.Fprintf(options.Progress, "%d of %d worlds, %s\n", done.Load(), options.Worlds, report.summary())
		}
	}
	return report, context.Cause(ctx)
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
