package differential

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/cel-go/cel"

	"github.com/celgate/celgate/go/internal/cabi/expression"
)

// Options say what is run.
type Options struct {
	// Cases is how many (expression, input) pairs are generated.
	Cases int
	Seed  uint64
	// Inputs is how many inputs an expression is evaluated over.
	Inputs int
	// Workers run at the same time, each with a stream of its own.
	Workers int
	// Found is a file that differences are appended to as cases; none if empty.
	Found string
	// Progress gets a line now and then, and every difference when it is found.
	Progress io.Writer
}

// maxDifferences is where a run ends early.
const maxDifferences = 40

// poolSize is how many inputs there are to choose from.
const poolSize = 400

// Difference is a case that the engines disagree on, as small as it could be made.
type Difference struct {
	Expression     string
	Upstream, Ours string
}

func (d Difference) String() string {
	return fmt.Sprintf("%s\n  upstream %s\n  ours     %s\n", d.Expression, d.Upstream, d.Ours)
}

// Run generates cases and compares them.
func Run(engines *Engines, options Options) (*Report, error) {
	report := newReport(engines.upstream)
	start := time.Now()
	var done atomic.Int64
	stop := make(chan struct{})
	go progress(options, &done, report, stop)
	err := together(options.Workers, func(number int) error {
		w := &worker{engines: engines, options: options, scratch: expression.NewScratch(), report: report, done: &done}
		share := options.Cases / options.Workers
		if number < options.Cases%options.Workers {
			share++
		}
		return w.run(share, uint64(number))
	})
	close(stop)
	report.Elapsed = time.Since(start)
	return report, err
}

// together has workers do something at the same time, and waits for all; the error is that of the first that has one.
func together(workers int, do func(number int) error) error {
	errs := make([]error, workers)
	var waiting sync.WaitGroup
	for number := range workers {
		waiting.Go(func() { errs[number] = do(number) })
	}
	waiting.Wait()
	return cmp.Or(errs...)
}

func progress(options Options, done *atomic.Int64, report *Report, stop <-chan struct{}) {
	ticker := time.NewTicker(20 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
			fmt.Fprintf(options.Progress, "%d of %d cases, %d differences\n", done.Load(), options.Cases, report.differences())
		}
	}
}

type worker struct {
	engines *Engines
	options Options
	pool    []*input
	scratch *expression.Scratch
	report  *Report
	done    *atomic.Int64
}

func (w *worker) run(cases int, stream uint64) error {
	var err error
	// Not shared: upstream's values remember what was read of them, without a lock.
	if w.pool, err = newInputs(w.options.Seed, poolSize); err != nil {
		return err
	}
	g, err := newGenerator(w.engines.upstream, w.options.Seed, stream)
	if err != nil {
		return err
	}
	for cases > 0 && w.report.differences() < maxDifferences {
		made, macros := g.expression()
		ran, err := w.compare(made, macros, w.choose(g, made, cases))
		if err != nil {
			return err
		}
		cases -= ran
		w.done.Add(int64(ran))
	}
	return nil
}

// choose picks the inputs of an expression: as many as it can tell apart, within reason.
func (w *worker) choose(g *generator, made *tree, atMost int) []*input {
	n := 1
	if readsInput.MatchString(made.String()) {
		n = min(atMost, 4+g.random.IntN(w.options.Inputs-3))
	}
	inputs := make([]*input, n)
	for i := range inputs {
		inputs[i] = pick(g.random, w.pool...)
	}
	return inputs
}

// readsInput matches expressions that read a variable of the request.
var readsInput = regexp.MustCompile(`\b(object|oldObject|params|request|namespaceObject|a(Bool|Int|Uint|Double|String)|ints|strings|counts|any)\b`)

// compare runs one expression and returns how many cases that was.
func (w *worker) compare(made *tree, macros map[string]bool, inputs []*input) (int, error) {
	c, err := w.engines.Compile(made.String())
	if err != nil {
		return 0, err
	}
	defer c.Free()
	if verdict := w.engines.compareVerdicts(c); verdict != same || c.Program == nil {
		w.report.notCompiled(verdict)
		if verdict == different {
			err = w.differ(made, nil, &Difference{c.Source, c.UpstreamVerdict, c.OurVerdict})
		}
		return 1, err
	}
	valued := false
	for i, in := range inputs {
		upstream := EvaluateUpstream(c.Program, in.activation)
		if strings.Contains(upstream, impatient) {
			w.report.tooSlow()
			return i + 1, nil
		}
		ours := c.evaluateOurs(w.scratch, in)
		verdict := c.compareResults(in, upstream, ours)
		isValue := w.report.evaluated(upstream, verdict)
		valued = valued || isValue
		if verdict == different {
			return i + 1, w.differ(made, in, &Difference{c.Source, upstream, ours})
		}
	}
	if valued {
		w.report.covered(c.AST, macros)
	}
	return len(inputs), nil
}

// differ makes a difference small, reports and saves it; one that does not show again is reported as it was first seen.
func (w *worker) differ(made *tree, in *input, first *Difference) error {
	small := smallest(made, func(candidate *tree) bool { return w.differs(candidate.String(), in) != nil })
	found := w.differs(small.String(), in)
	if found == nil {
		found = first
	}
	if !w.report.differ(*found) {
		return nil
	}
	fmt.Fprint(w.options.Progress, found)
	if w.options.Found == "" {
		return nil
	}
	var from *content
	if in != nil {
		from = in.content
	}
	c, shows := w.smallestCase(found.Expression, from)
	if !shows {
		fmt.Fprintf(w.options.Progress, "  not saved: it shows in this run alone\n")
		return nil
	}
	fmt.Fprintf(w.options.Progress, "  saved in %s\n", w.options.Found)
	return w.report.save(w.options.Found, c, *found)
}

// differs compares an expression over one input; nil means that there is no difference.
func (w *worker) differs(source string, in *input) *Difference {
	c, err := w.engines.Compile(source)
	if err != nil {
		return nil
	}
	defer c.Free()
	if w.engines.compareVerdicts(c) == different {
		return &Difference{source, c.UpstreamVerdict, c.OurVerdict}
	}
	if c.Program == nil || c.Ours == nil || in == nil {
		return nil
	}
	upstream, ours := EvaluateUpstream(c.Program, in.activation), c.evaluateOurs(w.scratch, in)
	if c.compareResults(in, upstream, ours) == different {
		return &Difference{source, upstream, ours}
	}
	return nil
}

// overloads are the ids of all overloads that a checked expression calls.
func overloads(ast *cel.Ast) []string {
	var ids []string
	for _, reference := range ast.NativeRep().ReferenceMap() {
		ids = append(ids, reference.OverloadIDs...)
	}
	return ids
}
