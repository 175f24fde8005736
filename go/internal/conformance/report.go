package conformance

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/celgate/celgate/go/internal/cabi/expression"
)

// counts are those of one file.
type counts struct{ passed, excluded, compared, failed int }

// Check runs all tests and prints what failed and the counts of each file; it returns the number of failures.
func Check(out io.Writer, suites []Suite, exclusions Exclusions) (int, error) {
	scratch := expression.NewScratch()
	used := map[string]bool{}
	var total counts
	for _, suite := range suites {
		var c counts
		for _, test := range suite.Cases {
			outcome, err := Run(scratch, test.Test)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", test.Name, err)
			}
			entry, excluded := exclusions.find(test.Name)
			used[entry] = excluded
			if failure := judge(outcome, excluded); failure != "" {
				c.failed++
				fmt.Fprintf(out, "%s: %s\n    %s\n    upstream %s\n    ours     %s\n", test.Name, failure, test.Test.Expr, outcome.Upstream, outcome.Ours)
			} else if excluded {
				c.excluded++
			} else {
				c.passed++
			}
			if outcome.Impossible == "" {
				c.compared++
			}
		}
		fmt.Fprintf(out, "%-16s %4d passed, %4d excluded, %4d failed; %4d compared with cel-go\n", suite.Name, c.passed, c.excluded, c.failed, c.compared)
		total = counts{total.passed + c.passed, total.excluded + c.excluded, total.compared + c.compared, total.failed + c.failed}
	}
	for entry := range exclusions {
		if !used[entry] {
			total.failed++
			fmt.Fprintf(out, "%s is excluded, and no test has that name\n", entry)
		}
	}
	fmt.Fprintf(out, "%-16s %4d passed, %4d excluded, %4d failed; %4d compared with cel-go\n", "all", total.passed, total.excluded, total.failed, total.compared)
	return total.failed, nil
}

// judge says what is wrong with an outcome.
func judge(o Outcome, excluded bool) string {
	switch {
	case o.Impossible != "" && !excluded:
		return o.Impossible + ", and it is not excluded"
	case o.Impossible != "":
		return ""
	case !o.Same():
		return "the results differ"
	case o.Unexpected != "" && !excluded:
		return "cel-go's result is not the expected one: " + o.Unexpected
	case o.Unexpected == "" && excluded:
		return "it is excluded, and holds"
	}
	return ""
}

// Propose prints a list of exclusions: each file, section or test of which nothing holds in cel-go, with the reason found.
func Propose(out io.Writer, suites []Suite) error {
	scratch := expression.NewScratch()
	reasons, holds := map[string]map[string]bool{}, map[string]bool{}
	for _, suite := range suites {
		for _, test := range suite.Cases {
			outcome, err := Run(scratch, test.Test)
			if err != nil {
				return fmt.Errorf("%s: %w", test.Name, err)
			}
			for _, name := range ancestry(test.Name) {
				if reasons[name] == nil {
					reasons[name] = map[string]bool{}
				}
				if reason := outcome.reason(); reason != "" {
					reasons[name][reason] = true
				} else {
					holds[name] = true
				}
			}
		}
	}
	var lines []string
	for name, found := range reasons {
		covered := false
		for _, above := range ancestry(name)[1:] {
			covered = covered || !holds[above]
		}
		if !holds[name] && !covered {
			var all []string
			for reason := range found {
				all = append(all, reason)
			}
			sort.Strings(all)
			lines = append(lines, name+": "+strings.Join(all, "; "))
		}
	}
	sort.Strings(lines)
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}

// ancestry is a name, its section's and its file's.
func ancestry(name string) []string {
	names := []string{name}
	for at := strings.LastIndexByte(name, '/'); at >= 0; at = strings.LastIndexByte(name, '/') {
		name = name[:at]
		names = append(names, name)
	}
	return names
}

// reason is why a test does not hold in cel-go, empty if it does.
func (o Outcome) reason() string {
	switch {
	case o.Impossible != "" || o.Unexpected == "":
		return o.Impossible
	case o.Missing != "":
		return o.Missing
	}
	for _, known := range []struct{ text, reason string }{
		{"undeclared reference to 'cel'", "the bindings and block extensions are not in the environment"},
		{"undeclared reference to 'math'", "the math extension is not in the environment"},
		{"undeclared reference to 'base64'", "the encoders extension is not in the environment"},
		{"undeclared reference to 'proto'", "the proto extension is not in the environment"},
		{"undeclared reference to 'Test", "the test's messages are not in the environment"},
		{"undeclared reference to 'cel.expr.conformance", "the test's messages are not in the environment"},
		{"undeclared reference to 'TestAll", "the test's messages are not in the environment"},
		{"Syntax error", "the syntax is not enabled"},
		{"expected type", "lists and maps must have elements of one type"},
		{"undeclared reference", "what it names is not in the environment"},
		{"found no matching overload", "the overload is not in the environment"},
		{"program instantiation failed", "cel-go evaluates constants when it plans"},
	} {
		if strings.Contains(o.Upstream, known.text) {
			return known.reason
		}
	}
	return "cel-go differs: " + strings.ReplaceAll(o.Unexpected, "\n", " ")
}
