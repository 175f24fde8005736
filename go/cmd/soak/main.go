// Command soak runs celgate's plugin under load while policies, bindings, params, namespaces and kinds change all the time, and checks every answer
// against upstream's, memory, handles and latency.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/celgate/celgate/go/internal/harness"
	"github.com/celgate/celgate/go/internal/soak"
	"github.com/celgate/celgate/go/internal/worlds"
)

func main() {
	options := soak.Options{Progress: os.Stderr}
	flag.DurationVar(&options.Duration, "duration", time.Minute, "how long to run")
	flag.Uint64Var(&options.Seed, "seed", 1, "the seed of worlds, changes and requests")
	flag.IntVar(&options.Workers, "workers", runtime.NumCPU(), "how many send requests at the same time")
	flag.IntVar(&options.Pace, "pace", 40, "how many requests there are from one change to the next, on average")
	flag.IntVar(&options.Requests, "requests", 48, "how many different requests an episode has")
	flag.IntVar(&options.Changes, "changes", 40, "how many changes an episode has at most")
	flag.DurationVar(&options.Interval, "interval", 20*time.Second, "how long a round is at least, after which memory is looked at")
	flag.IntVar(&options.Rounds, "rounds", 5, "how many rounds there are at least; fewer than five say nothing about memory")
	flag.DurationVar(&options.End, "end", 30*time.Second, "how long handles and goroutines may take to be given back after the end")
	corpus := flag.String("corpus", os.Getenv("CELGATE_CORPUS"), "the directory of public policies")
	mutant := flag.Int("mutant", 0, "plant this bug in the core, which the run must find, and end with the first wrong answer (build tag mutants)")
	flag.Parse()
	harness.Quiet()
	// The profile of allocations takes memory outside of Go's heap for each new stack, for hours.
	runtime.MemProfileRate = 0
	if err := run(options, *corpus, *mutant); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(options soak.Options, corpus string, mutant int) error {
	var err error
	if options.Corpus, err = worlds.LoadCorpus(corpus); err != nil {
		return err
	}
	if mutant != 0 {
		if plant == nil {
			return errors.New("this build has no mutants")
		}
		plant(mutant)
		options.First = true
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	report, err := soak.Run(ctx, options)
	if report != nil {
		report.Print(os.Stdout)
	}
	if err != nil {
		return err
	}
	return report.Err()
}
