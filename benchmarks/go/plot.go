package main

import (
	"fmt"
	"image/color"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

var colours = map[string]color.Color{
	olderEngine: color.RGBA{R: 0xcc, G: 0xcc, B: 0xcc, A: 0xff},
	"upstream":  color.RGBA{R: 0x99, G: 0x99, B: 0x99, A: 0xff},
	"celgate":   color.RGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0xff},
}

// plotRatios draws ratio.svg (upstream's CPU time through ours, by workload) and policies.svg (CPU time by number of matching policies).
func plotRatios(r *report, dir string) error {
	bars := plot.New()
	bars.Title.Text = "upstream's CPU time through celgate's"
	bars.X.Scale, bars.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	bars.X.Min = 1
	var names []string
	for i, one := range r.Results {
		if one.Engine != "celgate" {
			continue
		}
		bar, err := plotter.NewLine(plotter.XYs{{X: 1, Y: float64(i / 2)}, {X: max(one.Ratio.Median, 1), Y: float64(i / 2)}})
		if err != nil {
			return err
		}
		bar.Color, bar.Width = colours["celgate"], vg.Points(8)
		bars.Add(bar)
		names = append(names, one.Workload)
	}
	bars.NominalY(names...)
	bars.Y.Padding = vg.Points(20)
	if err := bars.Save(7*vg.Inch, vg.Length(len(names))*vg.Points(18)+vg.Inch, filepath.Join(dir, "ratio.svg")); err != nil {
		return err
	}
	lines := plot.New()
	lines.Title.Text, lines.X.Label.Text, lines.Y.Label.Text = "one request", "matching policies", "CPU time, µs"
	lines.X.Scale, lines.Y.Scale = plot.LogScale{}, plot.LogScale{}
	lines.X.Tick.Marker, lines.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	drawn := false
	for _, engine := range append([]string{olderEngine}, engines...) {
		var points plotter.XYs
		for _, one := range slices.Concat(r.Older, r.Results) {
			var n int
			if one.Engine == engine && strings.HasSuffix(one.Workload, "/versioned") {
				if _, err := fmt.Sscanf(one.Workload, "matching/%d/versioned", &n); err != nil {
					continue
				}
				points = append(points, plotter.XY{X: float64(n), Y: one.NsPerOp.Median / 1e3})
			}
		}
		if len(points) < 2 { // no line
			continue
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = colours[engine], vg.Points(2)
		lines.Add(line)
		lines.Legend.Add(engine, line)
		drawn = true
	}
	if !drawn {
		return nil
	}
	lines.Legend.Top, lines.Legend.Left = true, true
	return lines.Save(6*vg.Inch, 4*vg.Inch, filepath.Join(dir, "policies.svg"))
}
