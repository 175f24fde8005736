package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/celgate/celgate/go/internal/measurement"
)

// report is the content of expressions.json.
type report struct {
	measurement.Origin
	CppVersion string  `json:"cel_expr_python,omitempty"`
	Lines      []*line `json:"lines"`
}

func newReport() *report {
	r := &report{Origin: measurement.NewOrigin()}
	r.Versions["cel crate"] = crateVersion("Cargo.lock", "cel")
	return r
}

func crateVersion(lock, name string) string {
	content, err := os.ReadFile(lock)
	if err != nil {
		return "unknown"
	}
	_, after, _ := strings.Cut(string(content), "\nname = \""+name+"\"\nversion = \"")
	version, _, _ := strings.Cut(after, "\"")
	return version
}

// rival is one or more engines that celgate is compared with; the fastest counts.
type rival struct {
	title   string
	engines []string
}

var rivals = []rival{
	{"cel-go with cost", []string{"cel-go with cost", "cel-go with cost, maps"}},
	{"cel-go without cost", []string{"cel-go", "cel-go, maps"}},
	{celCrate, []string{celCrate}},
	{cpp, []string{cpp}},
}

// time is the median of an engine on a line; 0 if it was not measured.
func (l *line) time(engine string) float64 {
	for _, result := range l.Results {
		if result.Engine == engine {
			return result.NsPerOp.Median
		}
	}
	return 0
}

// fastest is the shortest time of a rival.
func (l *line) fastest(r rival) float64 {
	best := 0.0
	for _, engine := range r.engines {
		if t := l.time(engine); t > 0 && (best == 0 || t < best) {
			best = t
		}
	}
	return best
}

func (l *line) brief() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%10s", duration(l.time(ours)))
	for _, r := range rivals {
		if t := l.fastest(r); t > 0 {
			fmt.Fprintf(&b, " %7.1f", t/l.time(ours))
		} else {
			fmt.Fprintf(&b, " %7s", "-")
		}
	}
	return b.String()
}

// ratios are those of one rival on the lines of the given groups, smallest first.
func (r *report) ratios(rival rival, groups ...string) (ratios []float64, slower int) {
	for _, l := range r.Lines {
		t := l.fastest(rival)
		if t <= 0 || !slices.Contains(groups, l.Group) {
			continue
		}
		ratios = append(ratios, t/l.time(ours))
		if t < l.time(ours) {
			slower++
		}
	}
	slices.Sort(ratios)
	return ratios, slower
}

func geometricMean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

// groups are the groups there are, and the corpus as a whole.
func (r *report) groups() [][]string {
	var each []string
	for _, l := range r.Lines {
		if !slices.Contains(each, l.Group) {
			each = append(each, l.Group)
		}
	}
	var all [][]string
	var policies []string
	for _, group := range each {
		all = append(all, []string{group})
		if group != "synthetic" {
			policies = append(policies, group)
		}
	}
	if len(policies) > 1 {
		all = append(all, policies)
	}
	return all
}

func (r *report) summary() string {
	var b strings.Builder
	b.WriteString("| expressions | compared with | times faster (geometric mean) | smallest | largest | expressions compared | where celgate is slower |\n| --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, groups := range r.groups() {
		for _, rival := range rivals {
			ratios, slower := r.ratios(rival, groups...)
			if len(ratios) == 0 {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.1f | %d | %d |\n", strings.Join(groups, " + "), rival.title, geometricMean(ratios), ratios[0], ratios[len(ratios)-1], len(ratios), slower)
		}
	}
	return b.String() + "\n" + r.slopes()
}

// slopes are the times for one element, from lists of two lengths.
func (r *report) slopes() string {
	engines := []string{"cel-go with cost", "cel-go", ours, celCrate, cpp}
	var b strings.Builder
	for _, short := range r.Lines {
		name, found := strings.CutSuffix(short.Name, fmt.Sprintf("/%d", lengths[0]))
		if !found {
			continue
		}
		for _, long := range r.Lines {
			if long.Name != fmt.Sprintf("%s/%d", name, lengths[1]) {
				continue
			}
			fmt.Fprintf(&b, "| `%s` |", strings.ReplaceAll(short.Expression, "|", "\\|"))
			for _, e := range engines {
				if short.time(e) <= 0 || long.time(e) <= 0 {
					b.WriteString(" - |")
					continue
				}
				fmt.Fprintf(&b, " %.1f |", (long.time(e)-short.time(e))/float64(lengths[1]-lengths[0]))
			}
			b.WriteString("\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("| ns for one more element, between %d and %d | %s |\n| --- |%s\n%s", lengths[0], lengths[1],
		strings.Join(engines, " | "), strings.Repeat(" ---: |", len(engines)), b.String())
}

// write writes expressions.json and expressions.md into dir.
func (r *report) write(dir string) error {
	return measurement.Write(dir, "expressions", r, r.markdown())
}

// redrawn makes the table again from the expressions.json in dir.
func redrawn(dir string) error {
	r := &report{}
	if err := measurement.Read(dir, "expressions", r); err != nil {
		return err
	}
	return r.write(dir)
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# One expression, in celgate and elsewhere\n\nMade by `make bench-expressions` at commit %s on %s, %s.\n", r.Commit, r.Date, r.Machine)
	fmt.Fprintf(&b, "cel-go %s in the environment of k8s.io/apiserver %s, the cel crate %s", r.Versions["github.com/google/cel-go"], r.Versions["k8s.io/apiserver"], r.Versions["cel crate"])
	if r.CppVersion != "" {
		fmt.Fprintf(&b, ", the C++ runtime of cel-expr-python %s", r.CppVersion)
	}
	b.WriteString(".\n\nEvaluation only, over a 4 KiB Pod that is in the evaluator's own form already: CPU time of the evaluator's process for one evaluation, median of interleaved rounds. " +
		"celgate and \"cel-go with cost\" count cost, and their values and costs were compared; the others count none. cel-go ran over typed objects, as the apiserver has them, and over maps; the faster of both counts. " +
		"The time that a call from Python takes was measured in the same rounds, with the expression `true`, and taken off the C++ runtime's.\n\n")
	b.WriteString(r.summary())
	b.WriteString("\n| synthetic expression | celgate | cel-go with cost | without cost | cel crate | C++ |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, l := range r.Lines {
		if l.Group == "synthetic" {
			b.WriteString(l.row("`" + strings.ReplaceAll(l.Expression, "|", "\\|") + "`"))
		}
	}
	b.WriteString("\nThe expressions of the corpus are in expressions.json; these are the ten on which celgate takes longest.\n\n| expression | celgate | cel-go with cost | without cost | cel crate | C++ |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
	longest := slices.DeleteFunc(slices.Clone(r.Lines), func(l *line) bool { return l.Group == "synthetic" })
	slices.SortFunc(longest, func(a, b *line) int { return int(b.time(ours) - a.time(ours)) })
	for _, l := range longest[:min(10, len(longest))] {
		b.WriteString(l.row(l.Group + " " + l.Name))
	}
	return b.String() + "\n" + r.left()
}

func (l *line) row(title string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |", title, duration(l.time(ours)))
	for _, rival := range rivals {
		if t := l.fastest(rival); t > 0 {
			fmt.Fprintf(&b, " %s |", duration(t))
		} else {
			b.WriteString(" - |")
		}
	}
	return b.String() + "\n"
}

// left says how many expressions an engine could not be measured on.
func (r *report) left() string {
	counts := map[string]int{}
	for _, l := range r.Lines {
		for _, result := range l.Results {
			if result.Skipped != "" {
				reason, _, _ := strings.Cut(result.Skipped, ":")
				counts[result.Engine+" "+reason]++
			}
		}
	}
	var parts []string
	for what, count := range counts {
		parts = append(parts, fmt.Sprintf("%s: %d", what, count))
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		return "Every evaluator ran every expression.\n"
	}
	return "Not compared, with the reasons in expressions.json: " + strings.Join(parts, ", ") + ".\n"
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
