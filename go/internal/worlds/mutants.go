package worlds

import (
	"context"
	"fmt"
	"time"

	"github.com/celgate/celgate/go/internal/harness"
)

// recorded is a script with what upstream makes of it, and the core without bugs.
type recorded struct {
	world  int
	script *harness.Script
	want   *harness.Played
}

// RunMutants plants each of the core's bugs that policies show in turn, and says which of them the worlds do not find.
func RunMutants(ctx context.Context, options Options, plant func(number int) (count int), shows func(number int) bool) (missed []int, err error) {
	start := time.Now()
	prefix := workerPrefix(0)
	var all []recorded
	for i := range options.Worlds {
		script := NewGenerator(options.Seed, uint64(i), prefix, options.Corpus).Script(options.Requests)
		want, difference, err := compare(ctx, script, prefix)
		if err != nil {
			return nil, err
		}
		if difference == nil {
			all = append(all, recorded{i, script, want})
		}
	}
	fmt.Fprintf(options.Progress, "recorded %d worlds of %d in %s\n", len(all), options.Worlds, time.Since(start).Round(time.Second))
	return plantEach(options, plant, shows, func() (string, error) { return findMutant(ctx, all, prefix) })
}

// plantEach plants bugs in turn, and says which of them are not found; what finds one says where.
func plantEach(options Options, plant func(number int) (count int), shows func(number int) bool, find func() (string, error)) (missed []int, err error) {
	count := plant(0)
	defer plant(0)
	for mutant := 1; mutant <= count; mutant++ {
		if !shows(mutant) {
			continue
		}
		plant(mutant)
		found, err := find()
		if err != nil {
			return nil, fmt.Errorf("mutant %d: %w", mutant, err)
		}
		if found == "" {
			missed = append(missed, mutant)
			found = "not found"
		}
		fmt.Fprintf(options.Progress, "mutant %d of %d: %s\n", mutant, count, found)
	}
	return missed, nil
}

// findMutant says where a difference shows, "" if none does.
func findMutant(ctx context.Context, all []recorded, prefix string) (string, error) {
	for i, r := range all {
		got, err := harness.PlayCelgate(ctx, r.script, prefix)
		if err != nil {
			return "", err
		}
		if difference := harness.Compare(r.want, got); difference != nil {
			return fmt.Sprintf("found in world %d, the %d. one: request %d, %s", r.world, i+1, difference.Step, difference.What), nil
		}
	}
	return "", nil
}

// RunWebhookMutants does the same with the bugs that webhooks show, in worlds of webhooks.
func RunWebhookMutants(ctx context.Context, options Options, plant func(number int) (count int), shows func(number int) bool) (missed []int, err error) {
	server, err := harness.StartWebhookServer()
	if err != nil {
		return nil, err
	}
	defer server.Close()
	return plantEach(options, plant, shows, func() (string, error) {
		for world := range options.Worlds {
			report := newReport()
			if err := compareWebhooks(ctx, options, world, workerPrefix(0), server, report); err != nil {
				return "", err
			}
			if len(report.differences) > 0 {
				difference := report.differences[0].Difference
				return fmt.Sprintf("found in world %d: request %d, %s", world, difference.Step, difference.What), nil
			}
		}
		return "", nil
	})
}
