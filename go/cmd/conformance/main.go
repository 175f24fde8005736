// Command conformance runs cel-spec's tests with cel-go and with the Rust core in Kubernetes' environment, and fails if one differs or an
// exclusion is stale. Then it compares their expressions alone, as a policy would have them.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/celgate/celgate/go/internal/conformance"
	"github.com/celgate/celgate/go/internal/differential"
)

func main() {
	propose := flag.Bool("propose", false, "print the exclusions that cel-go's results ask for")
	flag.Parse()
	if err := run(*propose); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(propose bool) error {
	suites, err := conformance.Load()
	if err != nil {
		return err
	}
	if propose {
		return conformance.Propose(os.Stdout, suites)
	}
	exclusions, err := conformance.Excluded()
	if err != nil {
		return err
	}
	failed, err := conformance.Check(os.Stdout, suites, exclusions)
	if err != nil {
		return err
	}
	differing, err := compareBare(suites)
	if err == nil && failed+differing > 0 {
		err = fmt.Errorf("%d failed, %d expressions differ", failed, differing)
	}
	return err
}

// compareBare compares the tests' expressions in a policy's environment.
func compareBare(suites []conformance.Suite) (int, error) {
	engines, err := differential.NewPolicyEngines()
	if err != nil {
		return 0, err
	}
	cases := conformance.Bare(suites)
	report, err := differential.CheckCases(engines, cases, differential.Options{Workers: runtime.NumCPU(), Progress: os.Stderr})
	if err != nil {
		return 0, err
	}
	differing := len(report.Differences())
	fmt.Printf("%d expressions in a policy's environment, %d differ\n", len(cases), differing)
	return differing, nil
}
