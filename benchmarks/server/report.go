package main

import (
	"fmt"
	"image/color"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/celgate/celgate/go/internal/measurement"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// report is the content of server.json.
type report struct {
	measurement.Origin
	Clients int      `json:"clients"`
	Results []result `json:"results"`
}

// result is one engine with one number of policies.
type result struct {
	Engine          string             `json:"engine"`
	Policies        int                `json:"policies"`
	Requests        int                `json:"requests"`
	PerSecond       measurement.Figure `json:"requests_per_second"`
	CPUMsPerRequest measurement.Figure `json:"cpu_ms_per_request"`
	// Ratio is CPU time per request through that of the same engine with the fewest policies, of the rounds that followed each other.
	Ratio measurement.Figure `json:"ratio"`
	P50Ms float64            `json:"p50_ms"`
	P99Ms float64            `json:"p99_ms"`
}

func results(contenders []*contender) (all []result) {
	for _, c := range contenders {
		r := result{Engine: c.engine, Policies: c.policies}
		base := contenders[slices.IndexFunc(contenders, func(other *contender) bool { return other.engine == c.engine })]
		var perSecond, cpu, ratio []float64
		var latencies []time.Duration
		for i, one := range c.rounds {
			perSecond = append(perSecond, float64(len(one.latencies))/one.elapsed.Seconds())
			cpu = append(cpu, one.cpuMs())
			ratio = append(ratio, one.cpuMs()/base.rounds[i].cpuMs())
			latencies = append(latencies, one.latencies...)
		}
		r.PerSecond, r.CPUMsPerRequest, r.Ratio = measurement.FigureOf(perSecond), measurement.FigureOf(cpu), measurement.FigureOf(ratio)
		slices.Sort(latencies)
		r.Requests = len(latencies)
		r.P50Ms, r.P99Ms = milliseconds(latencies[r.Requests/2]), milliseconds(latencies[r.Requests*99/100])
		all = append(all, r)
	}
	return all
}

func (r *round) cpuMs() float64 { return milliseconds(r.cpu) / float64(len(r.latencies)) }

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

// write writes server.json, server.md and server.svg into dir.
func (r *report) write(dir string) error {
	if err := measurement.Write(dir, "server", r, r.markdown()); err != nil {
		return err
	}
	return r.plot(dir)
}

// redrawn makes the table and the plot again from the server.json in dir.
func redrawn(dir string) error {
	r := &report{}
	if err := measurement.Read(dir, "server", r); err != nil {
		return err
	}
	return r.write(dir)
}

func (r *report) markdown() string {
	return fmt.Sprintf("# The whole server\n\nMade by `make bench-server` at commit %s on %s, %s.\n"+
		"%d clients create Pods of three containers as dry runs; the policies differ from each other, and each allows the Pod. CPU time is that of the server's process per request, "+
		"median of rounds in which the servers took turns; the ratio is to the same engine with the fewest policies.\n\n%s\n![CPU time per request](server.svg)\n",
		r.Commit, r.Date, r.Machine, r.Clients, r.table())
}

func (r *report) table() string {
	var b strings.Builder
	b.WriteString("| engine | policies | CPU per request | ratio (range) | requests/s | p50 | p99 |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, one := range r.Results {
		fmt.Fprintf(&b, "| %s | %d | %.2f ms | %.2f (%.2f to %.2f) | %.0f | %.1f ms | %.1f ms |\n", one.Engine, one.Policies, one.CPUMsPerRequest.Median,
			one.Ratio.Median, one.Ratio.Min, one.Ratio.Max, one.PerSecond.Median, one.P50Ms, one.P99Ms)
	}
	return b.String()
}

var colours = map[string]color.Color{
	"upstream": color.RGBA{R: 0x99, G: 0x99, B: 0x99, A: 0xff},
	"celgate":  color.RGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0xff},
	"verify":   color.RGBA{R: 0xff, G: 0x7f, B: 0x0e, A: 0xff},
}

// plot draws CPU time per request by number of policies.
func (r *report) plot(dir string) error {
	lines := plot.New()
	lines.Title.Text, lines.X.Label.Text, lines.Y.Label.Text = "one request to the whole server", "policies", "CPU time, ms"
	lines.Y.Min = 0
	points, engines := map[string]plotter.XYs{}, []string{}
	for _, one := range r.Results {
		if points[one.Engine] == nil {
			engines = append(engines, one.Engine)
		}
		points[one.Engine] = append(points[one.Engine], plotter.XY{X: float64(one.Policies), Y: one.CPUMsPerRequest.Median})
	}
	for _, engine := range engines {
		line, dots, err := plotter.NewLinePoints(points[engine])
		if err != nil {
			return err
		}
		line.Color, line.Width, dots.Color = colours[engine], vg.Points(2), colours[engine]
		lines.Add(line, dots)
		lines.Legend.Add(engine, line)
	}
	lines.Legend.Top, lines.Legend.Left = true, true
	return lines.Save(6*vg.Inch, 4*vg.Inch, filepath.Join(dir, "server.svg"))
}
