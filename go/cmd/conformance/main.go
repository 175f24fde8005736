// Command conformance runs cel-spec's tests with cel-go and with the Rust core in Kubernetes' environment, and fails if one differs or an
// exclusion is stale.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/celgate/celgate/go/internal/conformance"
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
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d failed", failed)
	}
	return err
}
