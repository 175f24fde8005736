package workloads

import (
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// Alone is a version of upstream on a workload, in a process of its own: two versions cannot be in one binary.
type Alone struct {
	// Versions are those of k8s.io/apiserver and cel-go.
	Versions  map[string]string `json:"versions"`
	StartMs   float64           `json:"start_ms"`
	Decisions []string          `json:"decisions"`
	Samples   []Sample          `json:"samples"`
}

// MeasureAlone measures the plugin that start runs on the workload of a name.
func MeasureAlone(name string, start func(*World) (*Running, error), rounds int, roundTime time.Duration) (*Alone, error) {
	all := All()
	at := slices.IndexFunc(all, func(w *Workload) bool { return w.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("no workload is called %q", name)
	}
	w := all[at]
	world, err := w.World()
	if err != nil || world == nil {
		return nil, fmt.Errorf("%s is not there: %v", name, err)
	}
	requests, err := w.Requests()
	if err != nil {
		return nil, err
	}
	r, err := start(world)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	measured := &Alone{Versions: versions(), StartMs: r.Started.Seconds() * 1e3, Decisions: w.Decisions(r, requests)}
	n := w.Calibrate(r, requests, roundTime)
	for range w.Rounds(rounds) {
		measured.Samples = append(measured.Samples, w.Round(r, requests, n))
	}
	return measured, nil
}

func versions() map[string]string {
	found := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			switch dep.Path {
			case "k8s.io/apiserver", "github.com/google/cel-go":
				found[dep.Path] = dep.Version
			}
		}
	}
	return found
}
