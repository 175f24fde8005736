package main

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apiserver/pkg/admission"

	"github.com/celgate/celgate/benchmarks/workloads"
	"github.com/celgate/celgate/go/internal/measurement"
)

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

// pace is how often and how long each workload is measured.
type pace struct {
	rounds    int
	roundTime time.Duration
}

// started is a workload with the plugins that are measured on it.
type started struct {
	*workloads.Workload
	requests []admission.Attributes
	plugins  []*workloads.Running
	// decisions are those of the plugins, which all agree.
	decisions []string
}

// begin starts plugins on a workload, and checks that they decide each request in the same way. It gives nil if the workload's world is not there.
func begin(w *workloads.Workload, engines []string) (*started, error) {
	s := &started{Workload: w}
	var err error
	if s.requests, err = w.Requests(); err != nil {
		return nil, err
	}
	for _, engine := range engines {
		world, err := w.World()
		if err != nil || world == nil {
			return nil, err
		}
		p, err := start(engine, world)
		if err != nil {
			s.close()
			return nil, err
		}
		s.plugins = append(s.plugins, p)
		decisions := w.Decisions(p, s.requests)
		if s.decisions == nil {
			s.decisions = decisions
		}
		if err := s.agree(engine, decisions); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// agree checks another engine's decisions.
func (s *started) agree(engine string, decisions []string) error {
	if len(decisions) != len(s.decisions) {
		return fmt.Errorf("%s decides %d requests of %d", engine, len(decisions), len(s.decisions))
	}
	for i, decision := range decisions {
		if decision != s.decisions[i] {
			return fmt.Errorf("request %d is decided differently: %s %q, %s %q", i, s.plugins[0].Engine, s.decisions[i], engine, decision)
		}
	}
	return nil
}

func (s *started) close() {
	for _, p := range s.plugins {
		p.Close()
	}
}

// measured is one engine's rounds.
type measured struct {
	engine  string
	startMs float64
	samples []workloads.Sample
}

// measure runs w against both engines in interleaved rounds, and then the older version of upstream, if its program is there.
func measure(w *workloads.Workload, p pace, older *olderUpstream) ([]result, error) {
	s, err := begin(w, enginesOf(w))
	if err != nil || s == nil {
		return nil, err
	}
	defer s.close()
	var all []measured
	var counts []int
	for _, plugin := range s.plugins {
		all = append(all, measured{engine: plugin.Engine, startMs: plugin.Started.Seconds() * 1e3})
		counts = append(counts, w.Calibrate(plugin, s.requests, p.roundTime))
	}
	for range w.Rounds(p.rounds) {
		for i, plugin := range s.plugins {
			all[i].samples = append(all[i].samples, w.Round(plugin, s.requests, counts[i]))
		}
	}
	if older.measures(w) {
		alone, err := older.measure(w, p)
		if err != nil {
			return nil, err
		}
		if err := s.agree(olderEngine, alone.Decisions); err != nil {
			return nil, err
		}
		all = append(all, measured{engine: olderEngine, startMs: alone.StartMs, samples: alone.Samples})
	}
	return summarise(w, all), nil
}

// enginesOf are those that a workload is measured with, in this process.
func enginesOf(w *workloads.Workload) []string {
	if slices.Contains(verified, w.Name) {
		return append(slices.Clone(engines), verify)
	}
	return engines
}

func summarise(w *workloads.Workload, all []measured) []result {
	column := func(samples []workloads.Sample, of func(workloads.Sample) float64) measurement.Figure {
		var values []float64
		for _, one := range samples {
			values = append(values, of(one))
		}
		return measurement.FigureOf(values)
	}
	var results []result
	for _, m := range all {
		var ratios []float64
		for round, one := range m.samples {
			ratios = append(ratios, all[0].samples[round].CPUNs/one.CPUNs)
		}
		results = append(results, result{
			Workload: w.Name, Engine: m.engine,
			NsPerOp:     column(m.samples, func(s workloads.Sample) float64 { return s.CPUNs }),
			WallNsPerOp: column(m.samples, func(s workloads.Sample) float64 { return s.WallNs }),
			AllocsPerOp: column(m.samples, func(s workloads.Sample) float64 { return s.Allocs }),
			BytesPerOp:  column(m.samples, func(s workloads.Sample) float64 { return s.Bytes }),
			Ratio:       measurement.FigureOf(ratios), StartMs: m.startMs,
		})
	}
	return results
}
