package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	// Linked so that the test files can name their messages.
	_ "cel.dev/expr/conformance/proto2"
	_ "cel.dev/expr/conformance/proto3"
	"cel.dev/expr/conformance/test"
	"google.golang.org/protobuf/encoding/prototext"

	"github.com/celgate/celgate/go/internal/differential"
)

// Case is one test with its place: file/section/test.
type Case struct {
	Name string
	Test *test.SimpleTest
}

// Suite is the tests of one file.
type Suite struct {
	Name  string
	Cases []Case
}

// Load reads all test files of cel-spec.
func Load() ([]Suite, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "cel.dev/expr").Output()
	if err != nil {
		return nil, fmt.Errorf("find cel.dev/expr: %w", err)
	}
	paths, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "tests/simple/testdata/*.textproto"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no tests below %s", dir)
	}
	var suites []Suite
	for _, path := range paths {
		suite, err := read(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		suites = append(suites, suite)
	}
	return suites, nil
}

// Bare are the expressions of all tests, each once, without what the tests declare: what the environment cannot express is compared at
// least so far.
func Bare(suites []Suite) []differential.Case {
	var all []differential.Case
	seen := map[string]bool{}
	for _, suite := range suites {
		for _, c := range suite.Cases {
			if expression := c.Test.Expr; !seen[expression] {
				seen[expression] = true
				all = append(all, differential.Case{Place: c.Name, Expression: expression})
			}
		}
	}
	return all
}

func read(path string) (Suite, error) {
	suite := Suite{Name: strings.TrimSuffix(filepath.Base(path), ".textproto")}
	content, err := os.ReadFile(path)
	if err != nil {
		return suite, err
	}
	var file test.SimpleTestFile
	if err := prototext.Unmarshal(content, &file); err != nil {
		return suite, err
	}
	seen := map[string]int{}
	for _, section := range file.Section {
		for _, test := range section.Test {
			name := suite.Name + "/" + section.Name + "/" + test.Name
			// A few names are used twice.
			if seen[name]++; seen[name] > 1 {
				name = fmt.Sprintf("%s#%d", name, seen[name])
			}
			suite.Cases = append(suite.Cases, Case{Name: name, Test: test})
		}
	}
	return suite, nil
}
