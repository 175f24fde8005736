// Command differential-admission compares celgate's plugin with upstream's, both in this process, over generated worlds of policies and
// requests with changes in between.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"

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
	flag.Parse()
	// Policies with errors of configuration are wanted here; to log them would only take time.
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	utilruntime.ErrorHandlers = nil
	if err := run(options, *corpus); err != nil {
		fmt.Fprintln(os.Stderr, "differential-admission:", err)
		os.Exit(1)
	}
}

func run(options worlds.Options, corpus string) error {
	var err error
	if options.Corpus, err = worlds.LoadCorpus(corpus); err != nil {
		return err
	}
	report, err := worlds.Run(context.Background(), options)
	if report != nil {
		report.Print(os.Stdout)
	}
	if err != nil {
		return err
	}
	return report.Err()
}
