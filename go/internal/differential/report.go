package differential

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/google/cel-go/cel"
)

// Report is what a run found.
type Report struct {
	Elapsed time.Duration

	mutex sync.Mutex
	// expressions by what became of them, cases by what they gave.
	compiled, refused, values, errors, costs int
	known, varying, slow                     int
	// coverage counts the expressions that gave a value and call an overload or use a macro.
	coverage map[string]int
	// exercised is what cases of files show; nil for generated ones.
	exercised *exercised
	found     []Difference
}

func newReport(env *cel.Env) *Report {
	r := &Report{coverage: map[string]int{}}
	for _, function := range env.Functions() {
		if function.IsDeclarationDisabled() {
			continue
		}
		for _, overload := range function.OverloadDecls() {
			r.coverage[overload.ID()] = 0
		}
	}
	for _, macro := range env.Macros() {
		r.coverage[macroName(macro.Function(), macro.ArgCount())] = 0
	}
	return r
}

func macroName(function string, args int) string { return fmt.Sprintf("%s:%d", function, args) }

func (r *Report) notCompiled(verdict outcome) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.refused++
	r.count(verdict)
}

func (r *Report) count(verdict outcome) {
	switch verdict {
	case known:
		r.known++
	case varying:
		r.varying++
	}
}

// evaluated counts a case, and says whether it gave a value.
func (r *Report) evaluated(upstream string, verdict outcome) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.count(verdict)
	switch {
	case strings.HasPrefix(upstream, "value"):
		r.values++
		return true
	case strings.HasSuffix(upstream, "actual cost limit exceeded"):
		r.costs++
	default:
		r.errors++
	}
	return false
}

// tooSlow counts a case that upstream took too long for.
func (r *Report) tooSlow() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.slow++
}

func (r *Report) covered(ast *cel.Ast, macros map[string]bool) {
	ids := overloads(ast)
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.compiled++
	for _, id := range ids {
		r.coverage[id]++
	}
	for macro := range macros {
		r.coverage[macro]++
	}
}

// differ notes a difference; false if it is known already.
func (r *Report) differ(d Difference) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, other := range r.found {
		if other.Expression == d.Expression {
			return false
		}
	}
	r.found = append(r.found, d)
	return true
}

// save appends a case to the file of found ones.
func (r *Report) save(path string, c Case, d Difference) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return save(path, c, d)
}

func (r *Report) differences() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.found)
}

// Differences are the distinct cases that differ.
func (r *Report) Differences() []Difference { return r.found }

// Uncovered are the overloads and macros that no expression with a value has.
func (r *Report) Uncovered() []string {
	var missing []string
	for _, id := range sortedKeys(r.coverage) {
		if r.coverage[id] == 0 {
			missing = append(missing, id)
		}
	}
	return missing
}

// Print prints the counts; with all, those of every overload and macro.
func (r *Report) Print(out io.Writer, all bool) {
	evaluations := r.values + r.errors + r.costs
	cases := evaluations + r.refused
	percent := func(n int) float64 { return 100 * float64(n) / float64(max(cases, 1)) }
	fmt.Fprintf(out, "%d cases in %s: %.1f%% values, %.1f%% errors, %.2f%% over the cost limit, %.1f%% not compiled\n",
		cases, r.Elapsed.Round(time.Second), percent(r.values), percent(r.errors), percent(r.costs), percent(r.refused))
	fmt.Fprintf(out, "%d differ as docs/differences.md says, %d vary upstream, %d took upstream too long; %d differences\n", r.known, r.varying, r.slow, len(r.found))
	if all && r.exercised != nil {
		r.exercised.print(out)
	} else if all {
		for _, id := range sortedKeys(r.coverage) {
			fmt.Fprintf(out, "%8d %s\n", r.coverage[id], id)
		}
	}
	rarest, count := "", -1
	for _, id := range sortedKeys(r.coverage) {
		if n := r.coverage[id]; n > 0 && (count < 0 || n < count) {
			rarest, count = id, n
		}
	}
	fmt.Fprintf(out, "%d overloads and macros reached with a value, the rarest %s %d times\n", len(r.coverage)-len(r.Uncovered()), rarest, count)
}
