package differential

import (
	"fmt"
	"time"

	"github.com/celgate/celgate/go/internal/cabi/expression"
)

// recorded is an expression with what both engines agreed on.
type recorded struct {
	source  string
	verdict string
	inputs  []*input
	results []string
}

// RunMutants plants each of the core's bugs in turn, and says which of them the generated cases do not find.
func RunMutants(engines *Engines, options Options) (missed []int, err error) {
	start := time.Now()
	cases, err := record(engines, options)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(options.Progress, "recorded %d cases of %d expressions in %s\n", options.Cases, len(cases), time.Since(start).Round(time.Second))
	mutants := expression.Plant(0)
	defer expression.Plant(0)
	scratch := expression.NewScratch()
	for mutant := 1; mutant <= mutants; mutant++ {
		expression.Plant(mutant)
		at, source, err := find(engines, scratch, cases)
		if err != nil {
			return nil, fmt.Errorf("mutant %d: %w", mutant, err)
		}
		if source == "" {
			missed = append(missed, mutant)
			fmt.Fprintf(options.Progress, "mutant %d of %d: not found\n", mutant, mutants)
			continue
		}
		fmt.Fprintf(options.Progress, "mutant %d of %d: found after %d cases: %.200s\n", mutant, mutants, at, source)
	}
	return missed, nil
}

// record generates cases and keeps those that the engines agree on.
func record(engines *Engines, options Options) ([]*recorded, error) {
	pool, err := newInputs(options.Seed, poolSize)
	if err != nil {
		return nil, err
	}
	g, err := newGenerator(engines.upstream, options.Seed, 0)
	if err != nil {
		return nil, err
	}
	w := &worker{engines: engines, options: options, pool: pool, scratch: expression.NewScratch(), report: newReport(engines.upstream)}
	var all []*recorded
	for n := 0; n < options.Cases; {
		made, _ := g.expression()
		r, err := w.record(made.String(), w.choose(g, made, options.Inputs))
		if err != nil {
			return nil, err
		}
		n += max(1, len(r.results))
		all = append(all, r)
	}
	return all, nil
}

func (w *worker) record(source string, inputs []*input) (*recorded, error) {
	c, err := w.engines.Compile(source)
	if err != nil {
		return nil, err
	}
	defer c.Free()
	r := &recorded{source: source}
	if w.engines.compareVerdicts(c) == same {
		r.verdict = c.OurVerdict
	}
	if c.Program == nil || c.Ours == nil {
		return r, nil
	}
	for _, in := range inputs {
		upstream := EvaluateUpstream(c.Program, in.activation)
		if upstream == c.evaluateOurs(w.scratch, in) {
			r.inputs, r.results = append(r.inputs, in), append(r.results, upstream)
		}
	}
	return r, nil
}

// find says after how many cases a difference shows, and in which expression; "" if none does.
func find(engines *Engines, scratch *expression.Scratch, cases []*recorded) (at int, source string, err error) {
	for _, r := range cases {
		c := &Compiled{Source: r.source}
		if err := c.compileOurs(engines); err != nil {
			return 0, "", err
		}
		at++
		if r.verdict != "" && c.OurVerdict != r.verdict {
			c.Free()
			return at, r.source, nil
		}
		if c.Ours == nil {
			continue
		}
		for i, in := range r.inputs {
			if i > 0 {
				at++
			}
			if c.evaluateOurs(scratch, in) != r.results[i] {
				c.Free()
				return at, r.source, nil
			}
		}
		c.Free()
	}
	return at, "", nil
}
