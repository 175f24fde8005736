package differential

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	celast "github.com/google/cel-go/common/ast"
)

// exercised is what cases show of the overloads and macros of an environment.
type exercised struct {
	mutex sync.Mutex
	// internal are the overloads that only macros call: no expression is a call of one.
	internal []string
	by       map[string]*showing
}

// showing is what cases show of one overload or macro.
type showing struct {
	// values counts the expressions that have it and gave a value.
	values int
	// errors counts those that are a call of it, or of one of several overloads by what values turn out to be, and failed.
	errors int
	// costs are those of expressions that are a call of it, and of no other overload.
	costs map[string]bool
}

func newExercised(env *cel.Env, r *Report) *exercised {
	e := &exercised{by: map[string]*showing{}}
	for name, function := range env.Functions() {
		for _, overload := range function.OverloadDecls() {
			if slices.Contains(unspeakable, name) {
				e.internal = append(e.internal, overload.ID())
			}
		}
	}
	for id := range r.coverage {
		e.by[id] = &showing{costs: map[string]bool{}}
	}
	return e
}

// called are the overloads that an expression as a whole is a call of, or the macro that it is, of the calls of macros in it.
func called(c *Compiled, macros map[int64]celast.Expr) []string {
	ast := c.AST.NativeRep()
	root := ast.Expr()
	for root.Kind() == celast.CallKind && root.AsCall().FunctionName() == "dyn" {
		root = root.AsCall().Args()[0]
	}
	if call, found := macros[root.ID()]; found {
		return []string{macroOf(call)}
	}
	return ast.GetOverloadIDs(root.ID())
}

// add notes a result of upstream.
func (e *exercised) add(called, all []string, line string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if strings.HasPrefix(line, "value") {
		for _, id := range all {
			if s := e.by[id]; s != nil {
				s.values++
			}
		}
	}
	for _, id := range called {
		s := e.by[id]
		switch {
		case s == nil:
			continue
		case len(called) == 1:
			s.costs[cost(line)] = true
		}
		if !strings.HasPrefix(line, "value") {
			s.errors++
		}
	}
}

// infallible are the overloads that take anything, or nothing.
var infallible = regexp.MustCompile(`^(format\.\w+|optional_none|to_dyn|list_includes_dyn_dyn)$`)

// flat are the overloads whose cost is the same for all that they take (cel-go's interpreter/runtimecost.go, apiserver's
// pkg/cel/library/cost.go): they need not be shown at several sizes.
var flat = regexp.MustCompile(`^(` + strings.Join([]string{
	`(add|subtract)_(duration|timestamp)_\w+`, `(bool|double|duration|int64|timestamp|uint64)_to_\w+`, `string_to_(bool|double|duration|int64|timestamp|uint64)`,
	`(greater|less)(_equals)?_(duration|timestamp)`, `negate_\w+`, `format\.\w+`, `optional_none`, `optional_(list|map)_\w+`, `size_string`, `to_dyn`,
}, "|") + `)$`)

// sizes is at how many sizes cost must be shown.
const sizes = 3

// Lacking says what the cases of files do not show: of every overload and macro of the environment a value, an error if it can fail, and
// its cost at three sizes if the cost depends on one.
func (r *Report) Lacking() []string {
	if r.exercised == nil {
		return nil
	}
	var all []string
	for _, id := range sortedKeys(r.exercised.by) {
		s := r.exercised.by[id]
		if s.values == 0 {
			all = append(all, id+": no value")
		}
		if slices.Contains(r.exercised.internal, id) {
			continue
		}
		if s.errors == 0 && !infallible.MatchString(id) {
			all = append(all, id+": no error")
		}
		if len(s.costs) < sizes && !flat.MatchString(id) {
			all = append(all, fmt.Sprintf("%s: %d costs", id, len(s.costs)))
		}
	}
	return all
}

// print prints what is shown of each overload and macro.
func (e *exercised) print(out io.Writer) {
	for _, id := range sortedKeys(e.by) {
		s := e.by[id]
		fmt.Fprintf(out, "%-60s %6d values, %6d errors, %4d costs\n", id, s.values, s.errors, len(s.costs))
	}
}
