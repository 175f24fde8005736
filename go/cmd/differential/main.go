// Command differential compares the Rust core's CEL with cel-go, both in this process, over generated expressions and values.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/celgate/celgate/go/internal/differential"
)

func main() {
	options := differential.Options{Progress: os.Stderr, Inputs: 20}
	flag.IntVar(&options.Cases, "cases", 100_000, "how many (expression, input) pairs to compare")
	flag.Uint64Var(&options.Seed, "seed", 1, "the seed; the same seed and workers give the same cases")
	flag.IntVar(&options.Workers, "workers", runtime.NumCPU(), "how many run at the same time")
	coverage := flag.Bool("coverage", false, "print how often each overload and macro was reached")
	flag.StringVar(&options.Found, "found", "", "append what differs to this file of cases, as small as it could be made")
	from := flag.String("cases-from", "", "compare the cases in the files of this directory instead of generated ones")
	policies := flag.String("policies-from", "", "with --cases-from, also the expressions of all policies below this directory")
	mutants := flag.Bool("mutants", false, "plant each of the core's bugs in turn, and fail if the cases do not find one")
	flag.Parse()
	if err := run(options, *from, *policies, *coverage, *mutants); err != nil {
		fmt.Fprintln(os.Stderr, "differential:", err)
		os.Exit(1)
	}
}

func run(options differential.Options, from, policies string, coverage, mutants bool) error {
	engines, err := differential.NewPolicyEngines()
	if err != nil {
		return err
	}
	if mutants {
		missed, err := differential.RunMutants(engines, options)
		if err == nil && len(missed) > 0 {
			err = fmt.Errorf("%d mutants were not found: %v", len(missed), missed)
		}
		return err
	}
	report, err := compare(engines, from, policies, options)
	if report != nil {
		report.Print(os.Stdout, coverage)
	}
	if err != nil {
		return err
	}
	lacking := report.Lacking()
	for _, what := range lacking {
		fmt.Fprintln(os.Stderr, "the cases lack", what)
	}
	if n := len(report.Differences()); n+len(lacking) > 0 {
		return fmt.Errorf("%d differences, %d things that no case shows", n, len(lacking))
	}
	return nil
}

// compare runs the cases of files, or generated ones.
func compare(engines *differential.Engines, from, policies string, options differential.Options) (*differential.Report, error) {
	if from == "" {
		return differential.Run(engines, options)
	}
	cases, err := differential.ReadCases(from)
	if err != nil {
		return nil, err
	}
	if policies != "" {
		more, err := differential.PolicyCases(policies)
		if err != nil {
			return nil, err
		}
		cases = append(cases, more...)
	}
	return differential.CheckCases(engines, cases, options)
}
