package main

import (
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"

	"k8s.io/apiserver/pkg/admission"

	"github.com/celgate/celgate/go/internal/measurement"
)

// sample is one round of one engine.
type sample struct {
	// cpu is user and system time of the whole process, so that collecting garbage counts.
	cpuNs, wallNs, allocs, bytes float64
}

// result is one engine on one workload.
type result struct {
	Workload    string             `json:"workload"`
	Engine      string             `json:"engine"`
	NsPerOp     measurement.Figure `json:"ns_per_op"`
	WallNsPerOp measurement.Figure `json:"wall_ns_per_op"`
	AllocsPerOp measurement.Figure `json:"allocs_per_op"`
	BytesPerOp  measurement.Figure `json:"bytes_per_op"`
	// Ratio is upstream's CPU time through this engine's.
	Ratio   measurement.Figure `json:"ratio"`
	StartMs float64            `json:"start_ms"`
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// coldBytes is touched between requests of a cold workload.
var coldBytes = make([]byte, 16<<20)

func touch() {
	for i := 0; i < len(coldBytes); i += 64 {
		coldBytes[i]++
	}
}

// measure runs w against both engines in interleaved rounds.
func measure(w *workload, rounds int, roundTime time.Duration) ([]result, error) {
	world, err := w.world()
	if err != nil || world == nil {
		return nil, err
	}
	world.addProbe()
	requests, err := w.requests()
	if err != nil {
		return nil, err
	}
	var plugins []*running
	for _, engine := range w.engines() {
		p, err := start(engine, world, namespaces(), probe(), w.objects)
		if err != nil {
			return nil, err
		}
		defer p.close()
		plugins = append(plugins, p)
	}
	if err := agree(plugins, requests, w.objects); err != nil {
		return nil, err
	}
	count := make([]int, len(plugins))
	for i, p := range plugins {
		count[i] = calibrate(p, w, requests, roundTime)
	}
	samples := make([][]sample, len(plugins))
	for range rounds {
		for i, p := range plugins {
			samples[i] = append(samples[i], round(p, w, requests, count[i]))
		}
	}
	return summarise(w, plugins, samples), nil
}

// engines are those that a workload is measured with.
func (w *workload) engines() []string {
	if w.verified {
		return append(slices.Clone(engines), verify)
	}
	return engines
}

// agree checks that all engines decide every request in the same way.
func agree(plugins []*running, requests []admission.Attributes, objects admission.ObjectInterfaces) error {
	for i, request := range requests {
		want := validate(plugins[0], request, objects)
		for _, p := range plugins[1:] {
			if got := validate(p, request, objects); fmt.Sprint(want) != fmt.Sprint(got) {
				return fmt.Errorf("request %d is decided differently: %s %v, %s %v", i, plugins[0].engine, want, p.engine, got)
			}
		}
	}
	return nil
}

func calibrate(p *running, w *workload, requests []admission.Attributes, roundTime time.Duration) int {
	for n := 1; ; n *= 2 {
		began := time.Now()
		send(p, w, requests, n)
		if took := time.Since(began); took > roundTime/4 || n >= 1<<22 {
			return max(int(float64(n)*float64(roundTime)/float64(took)), 1)
		}
	}
}

// send sends n requests; for a cold workload it returns the time spent in them, without the touching in between.
func send(p *running, w *workload, requests []admission.Attributes, n int) (inRequests time.Duration) {
	for i := range n {
		if !w.cold {
			_ = validate(p, requests[i%len(requests)], w.objects)
			continue
		}
		touch()
		began := time.Now()
		_ = validate(p, requests[i%len(requests)], w.objects)
		inRequests += time.Since(began)
	}
	return inRequests
}

func round(p *running, w *workload, requests []admission.Attributes, n int) sample {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, wall := cpuTime(), time.Now()
	inRequests := send(p, w, requests, n)
	elapsed := time.Since(wall)
	p.wait()
	spent := cpuTime() - cpu
	if w.cold {
		spent, elapsed = inRequests, inRequests
	}
	runtime.ReadMemStats(&after)
	per := func(v float64) float64 { return v / float64(n) }
	return sample{
		cpuNs: per(float64(spent)), wallNs: per(float64(elapsed)),
		allocs: per(float64(after.Mallocs - before.Mallocs)), bytes: per(float64(after.TotalAlloc - before.TotalAlloc)),
	}
}

func summarise(w *workload, plugins []*running, samples [][]sample) []result {
	column := func(s []sample, of func(sample) float64) measurement.Figure {
		var values []float64
		for _, one := range s {
			values = append(values, of(one))
		}
		return measurement.FigureOf(values)
	}
	var results []result
	for i, p := range plugins {
		var ratios []float64
		for round := range samples[i] {
			ratios = append(ratios, samples[0][round].cpuNs/samples[i][round].cpuNs)
		}
		results = append(results, result{
			Workload: w.name, Engine: p.engine,
			NsPerOp:     column(samples[i], func(s sample) float64 { return s.cpuNs }),
			WallNsPerOp: column(samples[i], func(s sample) float64 { return s.wallNs }),
			AllocsPerOp: column(samples[i], func(s sample) float64 { return s.allocs }),
			BytesPerOp:  column(samples[i], func(s sample) float64 { return s.bytes }),
			Ratio:       measurement.FigureOf(ratios), StartMs: float64(p.started.Microseconds()) / 1e3,
		})
	}
	return results
}
