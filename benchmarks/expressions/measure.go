package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/celgate/celgate/go/internal/measurement"
)

// result is one engine on one case.
type result struct {
	Engine string `json:"engine"`
	// Skipped says why the engine is not measured.
	Skipped string `json:"skipped,omitempty"`
	// NsPerOp is CPU time of the engine's whole process, so that collecting garbage counts.
	NsPerOp measurement.Figure `json:"ns_per_op"`
}

// line is one case.
type line struct {
	Group      string   `json:"group"`
	Name       string   `json:"name"`
	Expression string   `json:"expression"`
	Cost       uint64   `json:"cost"`
	Value      string   `json:"value"`
	Results    []result `json:"results"`
	// costs are those that cel-go counts.
	costs []uint64
}

// cpuTime is the CPU time that a process has used, in nanoseconds.
func cpuTime(pid int) (float64, error) {
	clock := int32(unix.CLOCK_PROCESS_CPUTIME_ID)
	if pid != os.Getpid() {
		// clock_getcpuclockid(3).
		clock = int32(^pid<<3 | 2)
	}
	var ts unix.Timespec
	if err := unix.ClockGettime(clock, &ts); err != nil {
		return 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
	}
	return float64(ts.Nano()), nil
}

func pidOf(e engine) int {
	if r, ok := e.(*remote); ok {
		return r.command.Process.Pid
	}
	return os.Getpid()
}

// timed runs a case and returns the CPU time of one evaluation.
func timed(e engine, c *testCase, count int) (float64, error) {
	pid := pidOf(e)
	before, err := cpuTime(pid)
	if err != nil {
		return 0, err
	}
	if err := e.run(c, count); err != nil {
		return 0, err
	}
	after, err := cpuTime(pid)
	return (after - before) / float64(count), err
}

// calibrate finds how many evaluations take about roundTime. What disturbs the machine for a moment must not make them few, so that reaching the
// engine is what is measured: the shortest of some times counts.
func calibrate(e engine, c *testCase, roundTime time.Duration) (int, error) {
	for n := 1; ; n *= 4 {
		took := math.Inf(1)
		for range 3 {
			once, err := timed(e, c, n)
			if err != nil {
				return 0, err
			}
			took = min(took, once)
		}
		if total := took * float64(n); total > float64(roundTime)/10 || n >= 1<<24 {
			return max(int(float64(roundTime)/max(took, 1)), 1), nil
		}
	}
}

// measure compares what the engines make of a case and times those that run it, round by round in turns.
func measure(engines []engine, c *testCase, rounds int, roundTime time.Duration) (*line, error) {
	l := &line{Group: c.group, Name: c.name, Expression: c.expression}
	counts := make([]int, len(engines))
	samples := make([][]float64, len(engines))
	for i, e := range engines {
		l.Results = append(l.Results, result{Engine: e.name()})
		a, err := e.show(c)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			if !a.runs {
				return nil, fmt.Errorf("%s does not run %s: %s", e.name(), c.expression, a.reason)
			}
			l.Value, l.costs = a.value, a.costs
		}
		if l.Results[i].Skipped, err = verdict(e, a, l); err != nil {
			return nil, fmt.Errorf("%s %s: %s: %w", c.group, c.name, c.expression, err)
		}
		if l.Results[i].Skipped == "" {
			if counts[i], err = calibrate(e, c, roundTime); err != nil {
				return nil, err
			}
		}
	}
	for range rounds {
		for i, e := range engines {
			if counts[i] == 0 {
				continue
			}
			took, err := timed(e, c, counts[i])
			if err != nil {
				return nil, err
			}
			if r, ok := e.(*remote); ok && r.crossing != nil {
				crossing, err := timed(e, r.crossing, counts[i])
				if err != nil {
					return nil, err
				}
				took -= crossing
			}
			samples[i] = append(samples[i], took)
		}
	}
	for i := range engines {
		if counts[i] == 0 {
			continue
		}
		if l.Results[i].NsPerOp = measurement.FigureOf(samples[i]); l.Results[i].NsPerOp.Median < 1 {
			l.Results[i] = result{Engine: l.Results[i].Engine, Skipped: "takes no longer than crossing into it"}
		}
	}
	return l, nil
}

// verdict says why an engine's answer cannot be compared. The engines that we answer for must agree, in cost too.
func verdict(e engine, a answer, l *line) (string, error) {
	agrees := a.runs && a.value == l.Value
	_, isCelGo := e.(*celGo)
	if e.name() == ours && agrees {
		l.Cost = a.costs[0]
		agrees = slices.Contains(l.costs, l.Cost)
	}
	switch {
	case !agrees && (isCelGo || e.name() == ours):
		return "", fmt.Errorf("%s has %q, cost %d, and not %q, cost %d (%s)", e.name(), a.value, a.costs, l.Value, l.costs, a.reason)
	case !a.runs:
		return "does not compile: " + a.reason, nil
	case !agrees && a.reason != "":
		return "fails: " + a.reason, nil
	case !agrees:
		return "has another result", nil
	}
	return "", nil
}
