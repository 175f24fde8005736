// Command bench compares upstream's ValidatingAdmissionPolicy and ValidatingAdmissionWebhook plugins with celgate's, in one binary: the same policies, the same requests,
// every decision compared, rounds interleaved. Upstream's version before that is measured beside them, in a program of its own. It prints a line
// per workload and writes admission.json, admission.md and plots.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"github.com/celgate/celgate/benchmarks/workloads"
	"github.com/celgate/celgate/go/internal/measurement"
)

func main() {
	out := flag.String("out", "benchmarks/results", "directory for the results; empty writes none")
	rounds := flag.Int("rounds", 5, "interleaved rounds for each workload")
	roundTime := flag.Duration("round-time", 300*time.Millisecond, "how long a round aims to take")
	filter := flag.String("filter", "", "regular expression: only workloads that match")
	older := flag.String("older", "bin/bench-upstream-1.36", "the program that has upstream's version before; empty leaves it out")
	cores := flag.Bool("cores", true, "measure throughput with one thread and with several, too")
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
		err = run(*out, *filter, pace{rounds: *rounds, roundTime: *roundTime}, &olderUpstream{program: *older}, *cores, *policies)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(out, filter string, p pace, older *olderUpstream, cores bool, policies int) error {
	only, err := regexp.Compile(filter)
	if err != nil {
		return err
	}
	var chosen []*workloads.Workload
	for _, w := range allWorkloads() {
		if only.MatchString(w.Name) {
			chosen = append(chosen, w)
		}
	}
	r := &report{Origin: measurement.NewOrigin()}
	if err := r.measureWorkloads(chosen, p, older); err != nil {
		return err
	}
	if cores {
		if err := r.measureCores(chosen, p); err != nil {
			return err
		}
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

// measureWorkloads measures each workload with all engines, and prints it.
func (r *report) measureWorkloads(chosen []*workloads.Workload, p pace, older *olderUpstream) error {
	fmt.Printf("%-28s %14s %12s %12s %10s %10s %10s\n", "workload", olderEngine, "upstream", "celgate", "ratio", "allocs", "allocs")
	for _, w := range chosen {
		results, err := measure(w, p, older)
		if err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
		if results == nil {
			fmt.Printf("%-28s skipped: no corpus (CELGATE_CORPUS)\n", w.Name)
			continue
		}
		r.add(results)
		fmt.Printf("%-28s %14s %12s %12s %10.1f %10.0f %10.1f\n", w.Name, r.olderTime(w.Name), duration(results[0].NsPerOp.Median), duration(results[1].NsPerOp.Median),
			results[1].Ratio.Median, results[0].AllocsPerOp.Median, results[1].AllocsPerOp.Median)
	}
	r.OlderVersions = older.versions
	if len(r.Verified) == 0 {
		return nil
	}
	var err error
	r.Compared, err = compared()
	fmt.Print(r.verifiedTable())
	return err
}

// measureCores measures throughput by threads, and prints it.
func (r *report) measureCores(chosen []*workloads.Workload, p pace) error {
	for _, w := range chosen {
		if !slices.Contains(onCores, w.Name) {
			continue
		}
		measured, err := measureCores(w, p)
		if err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
		r.Cores = append(r.Cores, measured...)
	}
	if len(r.Cores) > 0 {
		r.Cores = append(r.Cores, machineItself(p)...)
		fmt.Print(r.coresTable())
	}
	return nil
}
