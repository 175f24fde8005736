package main

import (
	"fmt"
	"strings"

	"github.com/celgate/celgate/go/internal/measurement"
)

// report is the content of admission.json.
type report struct {
	measurement.Origin
	Results []result `json:"results"`
	// Older is the version of upstream before, OlderVersions what it consists of.
	Older         []result          `json:"older,omitempty"`
	OlderVersions map[string]string `json:"older_versions,omitempty"`
	// Verified are workloads with both plugins side by side, Compared is the share of their requests that both decided.
	Verified []result `json:"verified,omitempty"`
	Compared float64  `json:"compared,omitempty"`
	// Cores are some of the workloads with several threads.
	Cores  []throughput `json:"cores,omitempty"`
	Memory []memory     `json:"memory"`
}

// add takes over a workload's results.
func (r *report) add(results []result) {
	for _, one := range results {
		switch one.Engine {
		case verify:
			r.Verified = append(r.Verified, one)
		case olderEngine:
			r.Older = append(r.Older, one)
		default:
			r.Results = append(r.Results, one)
		}
	}
}

// olderTime is the CPU time of upstream's version before on a workload, as tables show it.
func (r *report) olderTime(workload string) string {
	for _, one := range r.Older {
		if one.Workload == workload {
			return duration(one.NsPerOp.Median)
		}
	}
	return "–"
}

// write writes admission.json and admission.md into dir.
func (r *report) write(dir string) error {
	if err := measurement.Write(dir, "admission", r, r.markdown()); err != nil {
		return err
	}
	return plotRatios(r, dir)
}

// redrawn makes the table and plots again from the admission.json in dir.
func redrawn(dir string) error {
	r := &report{}
	if err := measurement.Read(dir, "admission", r); err != nil {
		return err
	}
	return r.write(dir)
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The plugin, upstream's and ours\n\nMade by `make bench` at commit %s on %s, %s.\n", r.Commit, r.Date, r.Machine)
	fmt.Fprintf(&b, "Upstream is k8s.io/apiserver %s with cel-go %s. CPU time of the whole process per request, median of interleaved rounds, in one binary; every decision was compared.\n",
		r.Versions["k8s.io/apiserver"], r.Versions["github.com/google/cel-go"])
	if len(r.Older) > 0 {
		fmt.Fprintf(&b, "Upstream 1.36 is k8s.io/apiserver %s with cel-go %s, in a process of its own right after the others; it decided the same. It has no measurement of internal objects.\n",
			r.OlderVersions["k8s.io/apiserver"], r.OlderVersions["github.com/google/cel-go"])
	}
	b.WriteString("\n| workload | upstream 1.36 | upstream | celgate | ratio of the last two (range) | allocations, upstream | celgate |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for i := 0; i+1 < len(r.Results); i += 2 {
		up, us := r.Results[i], r.Results[i+1]
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %.1f (%.1f to %.1f) | %.0f | %.1f |\n", up.Workload, r.olderTime(up.Workload), duration(up.NsPerOp.Median), duration(us.NsPerOp.Median),
			us.Ratio.Median, us.Ratio.Min, us.Ratio.Max, up.AllocsPerOp.Median, us.AllocsPerOp.Median)
	}
	if len(r.Verified) > 0 {
		fmt.Fprintf(&b, "\nThe same with `--admission-engine=verify`, where upstream's engine decides and celgate's decides the same afterwards: CPU time of both, and how long\n"+
			"the client waits. Requests came one after the other; %.0f %% of them were compared, the others came when too many comparisons were running.\n\n%s", 100*r.Compared, r.verifiedTable())
	}
	if len(r.Cores) > 0 {
		fmt.Fprintf(&b, "\nRequests per second of a clock when several threads send them at the same time, each on a core of its own, garbage collection included.\n\n%s", r.coresTable())
	}
	if len(r.Memory) > 0 {
		b.WriteString("\n| engine | resident memory of one small policy and its binding | of that on Go's heap | CPU time to take up all of them |\n| --- | ---: | ---: | ---: |\n")
		for _, m := range r.Memory {
			fmt.Fprintf(&b, "| %s | %.1f KiB (of %d) | %.1f KiB | %.0f ms |\n", m.Engine, m.BytesPerPolicy/1024, m.Policies, m.GoHeapBytesPerPolicy/1024, m.TakeUpMs)
		}
	}
	return b.String()
}

func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.1f µs", ns/1e3)
	default:
		return fmt.Sprintf("%.2f ms", ns/1e6)
	}
}
