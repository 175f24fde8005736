// Command differential-admission compares celgate's plugin with upstream's, both in this process, over generated worlds of policies and
// requests with changes in between.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/celgate/celgate/go/internal/harness"
	"github.com/celgate/celgate/go/internal/worlds"
)

func main() {
	options := worlds.Options{Progress: os.Stderr}
	flag.IntVar(&options.Worlds, "worlds", 1000, "how many worlds to compare")
	flag.IntVar(&options.First, "first", 0, "the number of the first world")
	flag.IntVar(&options.Requests, "requests", 50, "how many requests each world gets")
	flag.Uint64Var(&options.Seed, "seed", 1, "the seed; the same seed gives the same worlds")
	flag.IntVar(&options.Workers, "workers", runtime.NumCPU(), "how many worlds are compared at the same time")
	flag.StringVar(&options.Save, "save", "", "the directory for the small cases of differences")
	flag.IntVar(&options.Shrunk, "shrink", 10, "how many differences are made small")
	corpus := flag.String("corpus", os.Getenv("CELGATE_CORPUS"), "the directory of public policies")
	mode := flag.String("mode", "hand", "hand: both dispatchers over one state, everything equal; order: upstream's own source and order; real: both plugins' informers and timers; webhooks: the webhook plugins, with a server that they call")
	mutants := flag.Bool("mutants", false, "plant each of the core's bugs in turn, and fail if the worlds do not find one (build tag mutants)")
	flag.Parse()
	harness.Quiet()
	if err := run(options, *corpus, *mode, *mutants); err != nil {
		fmt.Fprintln(os.Stderr, "differential-admission:", err)
		os.Exit(1)
	}
}

func run(options worlds.Options, corpus, mode string, mutants bool) error {
	var err error
	if options.Corpus, err = worlds.LoadCorpus(corpus); err != nil {
		return err
	}
	if mutants {
		return runMutants(options, mode)
	}
	compare, ok := map[string]func(context.Context, worlds.Options) (*worlds.Report, error){"hand": worlds.Run, "order": worlds.RunOwnOrder, "real": worlds.RunReal, "webhooks": worlds.RunWebhooks}[mode]
	if !ok {
		return fmt.Errorf("no mode %q", mode)
	}
	report, err := compare(context.Background(), options)
	if report != nil {
		report.Print(os.Stdout)
	}
	if err != nil {
		return err
	}
	return report.Err()
}

func runMutants(options worlds.Options, mode string) error {
	if plant == nil {
		return errors.New("this build has no mutants")
	}
	run, webhooks := worlds.RunMutants, mode == "webhooks"
	if webhooks {
		run = worlds.RunWebhookMutants
	} else if mode != "hand" {
		return fmt.Errorf("no mutants in mode %q", mode)
	}
	missed, err := run(context.Background(), options, plant, func(mutant int) bool {
		ofPolicies, ofWebhooks := shows(mutant)
		return webhooks && ofWebhooks || !webhooks && ofPolicies
	})
	if err == nil && len(missed) > 0 {
		err = fmt.Errorf("%d mutants were not found: %v", len(missed), missed)
	}
	return err
}
