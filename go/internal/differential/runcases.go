package differential

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/celgate/celgate/go/internal/cabi/expression"
)

// CheckCases compares the cases of files. One that sets no variables sees all inputs that are made of texts as they are, or only the first
// if it reads none or is one of many.
func CheckCases(engines *Engines, cases []Case, options Options) (*Report, error) {
	report := newReport(engines.upstream)
	report.exercised = newExercised(engines.upstream, report)
	start := time.Now()
	var next atomic.Int64
	err := together(options.Workers, func(int) error {
		w := &worker{engines: engines, options: options, scratch: expression.NewScratch(), report: report}
		var err error
		if w.pool, err = newInputs(0, len(objectTexts)); err != nil {
			return err
		}
		for at := next.Add(1) - 1; at < int64(len(cases)) && report.differences() < maxDifferences; at = next.Add(1) - 1 {
			if err := w.check(cases[at]); err != nil {
				return err
			}
		}
		return nil
	})
	report.Elapsed = time.Since(start)
	return report, err
}

// check compares one case.
func (w *worker) check(c Case) error {
	inputs := w.pool[:1]
	switch {
	case len(c.with) > 0:
		in, err := w.inputOf(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Place, err)
		}
		inputs = []*input{in}
	case !c.listed && readsInput.MatchString(c.Expression):
		inputs = w.pool
	}
	compiled, err := w.engines.Compile(c.Expression)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Place, err)
	}
	defer compiled.Free()
	differs := func(upstream, ours string) {
		if found := (Difference{c.Expression, upstream, ours}); w.report.differ(found) {
			fmt.Fprintf(w.options.Progress, "%s: %s", c.Place, found)
		}
	}
	if verdict := w.engines.compareVerdicts(compiled); verdict != same || compiled.Program == nil || compiled.Ours == nil {
		w.report.notCompiled(verdict)
		if verdict == different {
			differs(compiled.UpstreamVerdict, compiled.OurVerdict)
		}
		return nil
	}
	calls := w.engines.macroCalls(c.Expression)
	valued, macros := false, macrosOf(calls)
	whole, all := called(compiled, calls), slices.Concat(overloads(compiled.AST), slices.Collect(maps.Keys(macros)))
	for _, in := range inputs {
		upstream := EvaluateUpstream(compiled.Program, in.activation)
		if strings.Contains(upstream, impatient) {
			return fmt.Errorf("%s: upstream takes too long for %s", c.Place, c.Expression)
		}
		w.report.exercised.add(whole, all, upstream)
		ours := compiled.evaluateOurs(w.scratch, in)
		verdict := compiled.compareResults(in, upstream, ours)
		isValue := w.report.evaluated(upstream, verdict)
		valued = valued || isValue
		if verdict == different {
			differs(upstream, ours)
		}
	}
	if valued {
		w.report.covered(compiled.AST, macros)
	}
	return nil
}

// inputOf is the first input with what the case sets.
func (w *worker) inputOf(c Case) (*input, error) {
	set := w.pool[0].content.with()
	for _, setting := range c.with {
		if err := set.apply(w.engines.upstream, setting); err != nil {
			return nil, fmt.Errorf("@%s: %w", setting.name, err)
		}
	}
	return set.encode()
}
