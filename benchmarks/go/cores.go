package main

import (
	"crypto/sha256"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/admission"

	"github.com/celgate/celgate/benchmarks/workloads"
	"github.com/celgate/celgate/go/internal/measurement"
)

// onCores are the workloads that are also measured with several threads.
var onCores = []string{"matching/1/versioned", "matching/100/versioned", "not-matching/1000", "webhooks-excluded/50"}

// throughput is how many requests an engine answers in a second of a clock when some threads send them at the same time, each on a core.
type throughput struct {
	Workload  string             `json:"workload"`
	Engine    string             `json:"engine"`
	Threads   int                `json:"threads"`
	PerSecond measurement.Figure `json:"per_second"`
	// Factor is PerSecond through that of one thread.
	Factor measurement.Figure `json:"factor"`
}

// warmUp is how often a thread does it before it is measured: pools of memory are by processor, and anew when their number changes.
const warmUp = 64

// threadCounts are 1, 2, 4 and so on, and the number of cores.
func threadCounts() []int {
	var counts []int
	for n := 1; n < runtime.NumCPU(); n *= 2 {
		counts = append(counts, n)
	}
	return append(counts, runtime.NumCPU())
}

// measureCores measures both engines with each number of threads.
func measureCores(w *workloads.Workload, p pace) ([]throughput, error) {
	s, err := begin(w, engines)
	if err != nil || s == nil {
		return nil, err
	}
	defer s.close()
	perThread := make([][]admission.Attributes, runtime.NumCPU())
	for i := range perThread {
		if perThread[i], err = w.Requests(); err != nil {
			return nil, err
		}
	}
	var all []throughput
	for _, plugin := range s.plugins {
		n := w.Calibrate(plugin, s.requests, p.roundTime)
		all = append(all, byThreads(w.Name, plugin.Engine, p.rounds, n, func(thread, n int) { w.Send(plugin, perThread[thread], n) })...)
	}
	return all, nil
}

// machineItself is what threads gain that share nothing: no engine can gain more on this machine.
func machineItself(p pace) []throughput {
	const sumTime = 100 * time.Nanosecond // about
	sums := make([][sha256.Size]byte, runtime.NumCPU())
	return byThreads("sums of 64 bytes, nothing shared", "", p.rounds, max(int(p.roundTime/sumTime), 1), func(thread, n int) {
		var block [64]byte
		for range n {
			sum := sha256.Sum256(block[:])
			copy(block[:], sum[:])
		}
		sums[thread] = [sha256.Size]byte(block[:])
	})
}

// byThreads measures something with each number of threads, in interleaved rounds; each thread does it n times.
func byThreads(workload, engine string, rounds, n int, do func(thread, n int)) []throughput {
	rates, factors := map[int][]float64{}, map[int][]float64{}
	for range rounds {
		for _, threads := range threadCounts() {
			rate := together(threads, n, do)
			rates[threads] = append(rates[threads], rate)
			factors[threads] = append(factors[threads], rate/rates[1][len(rates[1])-1])
		}
	}
	var all []throughput
	for _, threads := range threadCounts() {
		all = append(all, throughput{
			Workload: workload, Engine: engine, Threads: threads,
			PerSecond: measurement.FigureOf(rates[threads]), Factor: measurement.FigureOf(factors[threads]),
		})
	}
	return all
}

// together lets threads, on as many cores, do something n times each at the same time, and gives how often it was done in a second.
func together(threads, n int, do func(thread, n int)) float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	runtime.GC()
	var warm, done sync.WaitGroup
	began := make(chan struct{})
	for thread := range threads {
		warm.Add(1)
		done.Go(func() {
			do(thread, min(n, warmUp))
			warm.Done()
			<-began
			do(thread, n)
		})
	}
	warm.Wait()
	start := time.Now()
	close(began)
	done.Wait()
	return float64(n*threads) / time.Since(start).Seconds()
}

// coresTable shows the throughput of both engines by threads.
func (r *report) coresTable() string {
	found := map[throughputOf]throughput{}
	for _, one := range r.Cores {
		found[throughputOf{one.Workload, one.Engine, one.Threads}] = one
	}
	var b strings.Builder
	b.WriteString("| workload | threads | upstream, per second | factor (range) | celgate, per second | factor (range) |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, one := range r.Cores {
		switch one.Engine {
		case "":
			fmt.Fprintf(&b, "| %s | %d | | %s | | %s |\n", one.Workload, one.Threads, factor(one.Factor), factor(one.Factor))
		case engines[0]:
			us := found[throughputOf{one.Workload, engines[1], one.Threads}]
			fmt.Fprintf(&b, "| %s | %d | %.0f | %s | %.0f | %s |\n", one.Workload, one.Threads, one.PerSecond.Median, factor(one.Factor), us.PerSecond.Median, factor(us.Factor))
		}
	}
	return b.String()
}

// throughputOf tells throughputs apart.
type throughputOf struct {
	workload, engine string
	threads          int
}

func factor(f measurement.Figure) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", f.Median, f.Min, f.Max)
}
