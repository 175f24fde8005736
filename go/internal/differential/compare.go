package differential

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/cel"

	"github.com/celgate/celgate/go/internal/cabi/expression"
)

// CostLimit is Kubernetes' for one expression.
const CostLimit = 1_000_000

// Compiled is an expression in both engines.
type Compiled struct {
	Source string
	// AST and Program are cel-go's, nil where it got no further.
	AST     *cel.Ast
	Program cel.Program
	// Ours is nil if the core does not compile the expression; so is the one with cost counted the long way.
	Ours, tracked *expression.Expression
	projections   projections
	// The verdicts are the static type, or the text of what is wrong.
	UpstreamVerdict, OurVerdict string
}

// Compile compiles an expression with both; it must be freed.
func (e *Engines) Compile(source string) (*Compiled, error) {
	c := &Compiled{Source: source}
	var err error
	if c.AST, c.Program, err = compileUpstream(e.upstream, source); err != nil {
		c.UpstreamVerdict = err.Error()
	} else {
		c.UpstreamVerdict = "type " + c.AST.OutputType().String()
	}
	return c, c.compileOurs(e)
}

// compileOurs compiles with the core alone; an error is one that no expression may cause.
func (c *Compiled) compileOurs(e *Engines) error {
	ours, output, err := e.ours.Compile(c.Source)
	var failed *expression.CompileError
	switch {
	case errors.As(err, &failed):
		c.Ours, c.OurVerdict = nil, failed.Text
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", c.Source, err)
	}
	c.Ours, c.OurVerdict = ours, "type "+output
	if c.tracked, _, err = e.tracked.Compile(c.Source); err != nil {
		return fmt.Errorf("%s: with tracking: %w", c.Source, err)
	}
	if c.projections, err = projectionsOf(ours, c.Source); err != nil {
		return fmt.Errorf("%s: %w", c.Source, err)
	}
	return nil
}

// Free frees the core's expression; it must not be used again.
func (c *Compiled) Free() {
	if c.Ours != nil {
		c.Ours.Free()
	}
	if c.tracked != nil {
		c.tracked.Free()
	}
}

// evaluateOurs returns the core's line. A failed call is a line, too, and so is what it gives otherwise over the parts of the objects that
// it says it reads, with cost counted the other way: no evaluation of upstream gives such lines.
func (c *Compiled) evaluateOurs(scratch *expression.Scratch, in *input) string {
	line := evaluate(c.Ours, scratch, in.record)
	record, release := in.projected(&c.projections)
	defer release()
	if other := evaluate(c.tracked, scratch, record); other != line {
		return line + "\tbut with tracking, over what is read\t" + other
	}
	return line
}

func evaluate(x *expression.Expression, scratch *expression.Scratch, record []byte) string {
	line, err := x.Evaluate(scratch, record, CostLimit, answer)
	if err != nil {
		return err.Error()
	}
	return string(line)
}

// outcome says how two results compare.
type outcome int

const (
	same outcome = iota
	// known is a difference that docs/differences.md lists.
	known
	// varying is a result of upstream that differs from time to time; ours is one of them, or upstream has no other as good.
	varying
	different
)

// retries is how often upstream is asked again for a result that may depend on the order of Go's maps.
const retries = 200

// retryingTakes is how long asking again may take altogether.
const retryingTakes = 20 * time.Second

// compareVerdicts compares what compiling gave.
func (e *Engines) compareVerdicts(c *Compiled) outcome {
	upstream, ours := c.UpstreamVerdict, c.OurVerdict
	switch {
	case upstream == ours:
		return same
	case strings.HasPrefix(upstream, panicked):
		return known
	case syntaxError(upstream) && syntaxError(ours):
		// Texts of syntax errors are our own.
		return known
	}
	// cel-go numbers the type variables of an overload in the order of a map, and its texts show the numbers.
	for range retries {
		if _, _, err := compileUpstream(e.upstream, c.Source); err != nil && err.Error() == ours {
			return varying
		}
	}
	return different
}

func syntaxError(verdict string) bool { return strings.Contains(verdict, "Syntax error") }

// compareResults compares two lines of one evaluation.
func (c *Compiled) compareResults(in *input, upstream, ours string) outcome {
	if upstream == ours {
		return same
	}
	if c.isKnown(upstream, ours) {
		return known
	}
	// Maps that the expression makes come in Go's order even then.
	began := time.Now()
	results := []string{upstream}
	ordered := inOurOrder(in.activation)
	for range retries {
		again := EvaluateUpstream(c.Program, in.activation)
		if again == ours || EvaluateUpstream(c.Program, ordered) == ours {
			return varying
		}
		if !slices.Contains(results, again) {
			results = append(results, again)
		}
		if time.Since(began) > retryingTakes {
			break
		}
	}
	// Texts that show values have them in an order of their own.
	if len(results) > 1 && slices.ContainsFunc(results, func(result string) bool { return sameParts(result, ours) || sameClass(result, ours) }) {
		return varying
	}
	return different
}

func cost(line string) string {
	parts := strings.SplitN(line, "\t", 3)
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

// sameClass says whether two results are errors of the same cost and kind, about different things.
func sameClass(a, b string) bool {
	if !strings.HasPrefix(a, "error") || !strings.HasPrefix(b, "error") || cost(a) != cost(b) {
		return false
	}
	theirs, ours := strings.Fields(a), strings.Fields(b)
	return len(theirs) > 3 && len(ours) > 3 && slices.Equal(theirs[:3], ours[:3])
}

// sameParts says whether two values have the same parts and cost, in another order.
func sameParts(a, b string) bool {
	parts := func(line string) []string {
		parts := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("[]{}, ", r) })
		slices.Sort(parts)
		return parts
	}
	return strings.HasPrefix(a, "value") && slices.Equal(parts(a), parts(b))
}
