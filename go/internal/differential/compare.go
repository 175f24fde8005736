package differential

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

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
	// Ours is nil if the core does not compile the expression.
	Ours *expression.Expression
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
	case err != nil:
		return fmt.Errorf("%s: %w", c.Source, err)
	default:
		c.Ours, c.OurVerdict = ours, "type "+output
	}
	return nil
}

// Free frees the core's expression; it must not be used again.
func (c *Compiled) Free() {
	if c.Ours != nil {
		c.Ours.Free()
	}
}

// evaluateOurs returns the core's line; a failed call is a line, too, that no evaluation of upstream gives.
func (c *Compiled) evaluateOurs(scratch *expression.Scratch, in *input) string {
	line, err := c.Ours.Evaluate(scratch, in.record, CostLimit, answer)
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
const retries = 30

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
	results := []string{upstream}
	for range retries {
		again := EvaluateUpstream(c.Program, in.activation)
		if again == ours {
			return varying
		}
		if !slices.Contains(results, again) {
			results = append(results, again)
		}
	}
	if len(results) > 1 && slices.ContainsFunc(results, func(result string) bool { return sameParts(result, ours) || sameClass(result, ours) }) {
		return varying
	}
	// Small maps of Go have few of the possible orders.
	if listsMap(c.AST) && strings.HasPrefix(upstream, "value") && strings.HasPrefix(ours, "value") && cost(upstream) == cost(ours) {
		return varying
	}
	// Of many orders, ours need not be among those seen.
	if len(results) > retries/2 {
		return varying
	}
	return different
}

// listsMap says whether an expression may make a list of the entries of a map, which come in any order.
func listsMap(ast *cel.Ast) bool {
	found := false
	root := celast.NavigateAST(ast.NativeRep())
	for _, e := range celast.MatchDescendants(root, celast.KindMatcher(celast.ComprehensionKind)) {
		fold := e.AsComprehension()
		over := ast.NativeRep().GetType(fold.IterRange().ID()).Kind()
		found = found || fold.AccuInit().Kind() == celast.ListKind && (over == types.MapKind || over == types.DynKind)
	}
	return found
}

// isKnown says whether the difference is one of docs/differences.md.
func (c *Compiled) isKnown(upstream, ours string) bool {
	// Empty lists are one key of a map here.
	if strings.Contains(c.Source, "[]: ") && strings.Count(c.Source, "[]") > 1 {
		return true
	}
	// As a struct of an object is the same key each time.
	if strings.HasPrefix(upstream, "value") && strings.Contains(ours, "\tinsert failed: key {") && cost(upstream) == cost(ours) {
		return true
	}
	// Go panics that upstream recovers from keep their verdict; their texts name Go types.
	if theirs, found := strings.CutPrefix(upstream, "error\t"); found && strings.Contains(theirs, "\tinternal error: ") {
		return strings.Contains(ours, "\tinternal error: ") && cost(upstream) == cost(ours)
	}
	// Upstream looks for a time zone's file, and says what the system says of the name.
	if _, text, found := strings.Cut(ours, "\tunknown time zone "); found && text != "" {
		return fileError.MatchString(upstream) && cost(upstream) == cost(ours)
	}
	// An error that is there as a value is no key; here it is the error.
	if strings.HasSuffix(upstream, "\tinvalid qualifier type: *types.Err") {
		return strings.HasPrefix(ours, "error\t") && cost(upstream) == cost(ours)
	}
	// Texts that print values of library types name their types.
	if at := libraryType.FindStringIndex(ours); at != nil && strings.HasPrefix(ours, "error\t") {
		return strings.HasPrefix(upstream, ours[:at[0]])
	}
	// Texts that print parts of built-in objects show CEL's values, not Go's with their addresses.
	if at := goValue.FindStringIndex(upstream); at != nil && strings.HasPrefix(upstream, "error\t") {
		return strings.HasPrefix(ours, upstream[:at[0]])
	}
	return false
}

var fileError = regexp.MustCompile(`\t(invalid argument|is a directory|not a directory|file name too long|malformed time zone information)$`)

var libraryType = regexp.MustCompile(`kubernetes\.[A-Z]\w+|kubernetes\.authorization\.\w+|net\.(IP|CIDR)`)

// goValue finds where the text of a Go map, pointer or struct begins.
var goValue = regexp.MustCompile(`map\[|&[{\[]|0x[0-9a-f]{6,}`)

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
