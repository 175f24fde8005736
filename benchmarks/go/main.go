// Command bench compares upstream's ValidatingAdmissionPolicy and ValidatingAdmissionWebhook plugins with celgate's, in one binary: the same policies, the same requests,
// every decision compared, rounds interleaved. It prints a line per workload and writes admission.json, admission.md and plots.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"k8s.io/klog/v2"

	"github.com/celgate/celgate/go/internal/measurement"
)

func main() {
	out := flag.String("out", "benchmarks/results", "directory for the results; empty writes none")
	rounds := flag.Int("rounds", 5, "interleaved rounds for each workload")
	roundTime := flag.Duration("round-time", 300*time.Millisecond, "how long a round aims to take")
	filter := flag.String("filter", "", "regular expression: only workloads that match")
	policies := flag.Int("memory-policies", 1000, "policies of the memory measurement; 0 leaves it out")
	redraw := flag.Bool("redraw", false, "measure nothing: make the table and plots again from admission.json")
	child := flag.String("memory-child", "", "internal: print the memory of one engine")
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	var err error
	switch {
	case *child != "":
		err = memoryChild(*child, *policies)
	case *redraw:
		err = redrawn(*out)
	default:
		err = run(*out, *filter, *rounds, *roundTime, *policies)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(out, filter string, rounds int, roundTime time.Duration, policies int) error {
	only, err := regexp.Compile(filter)
	if err != nil {
		return err
	}
	r := &report{Origin: measurement.NewOrigin()}
	fmt.Printf("%-28s %12s %12s %10s %10s %10s\n", "workload", "upstream", "celgate", "ratio", "allocs", "allocs")
	for _, w := range workloads() {
		if !only.MatchString(w.name) {
			continue
		}
		n := rounds
		if w.slow {
			n = max(rounds*3/5, 2)
		}
		results, err := measure(w, n, roundTime)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		if results == nil {
			fmt.Printf("%-28s skipped: no corpus (CELGATE_CORPUS)\n", w.name)
			continue
		}
		r.Results = append(r.Results, results[:len(engines)]...)
		r.Verified = append(r.Verified, results[len(engines):]...)
		fmt.Printf("%-28s %12s %12s %10.1f %10.0f %10.1f\n", w.name, duration(results[0].NsPerOp.Median), duration(results[1].NsPerOp.Median),
			results[1].Ratio.Median, results[0].AllocsPerOp.Median, results[1].AllocsPerOp.Median)
	}
	if len(r.Verified) > 0 {
		if r.Compared, err = compared(); err != nil {
			return err
		}
		fmt.Print(r.verifiedTable())
	}
	if policies > 0 {
		if r.Memory, err = measureMemory(policies); err != nil {
			return err
		}
		for _, m := range r.Memory {
			fmt.Printf("%-10s %8.1f KiB for one policy and its binding, %8.1f KiB of it on Go's heap, %8.0f ms of CPU time to take up %d\n",
				m.Engine, m.BytesPerPolicy/1024, m.GoHeapBytesPerPolicy/1024, m.TakeUpMs, m.Policies)
		}
	}
	if out == "" {
		return nil
	}
	return r.write(out)
}
