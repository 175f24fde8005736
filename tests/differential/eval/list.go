package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	// Linked so that the test files can name their messages.
	_ "cel.dev/expr/conformance/proto2"
	_ "cel.dev/expr/conformance/proto3"
	"cel.dev/expr/conformance/test"
	"google.golang.org/protobuf/encoding/prototext"
	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// list prints the expressions of all sources, each once.
func list(out io.Writer) error {
	var all []string
	for _, source := range []func() ([]string, error){fileCases, generatedCases, messageCases, patternCases, specCases, corpusCases} {
		expressions, err := source()
		if err != nil {
			return err
		}
		all = append(all, expressions...)
	}
	seen := map[string]bool{}
	for _, expression := range all {
		if !seen[expression] {
			seen[expression] = true
			fmt.Fprintf(out, "%x\n", expression)
		}
	}
	return nil
}

// fileCases reads cases.txt: one expression a line, `#` starts a comment line, `\n` in it is a newline.
func fileCases() ([]string, error) {
	file, err := os.Open("cases.txt")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "# ") {
			all = append(all, strings.ReplaceAll(line, `\N`, "\n"))
		}
	}
	return all, lines.Err()
}

// specCases are the expressions of cel-spec's conformance tests, from the module cache.
func specCases() ([]string, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "cel.dev/expr").Output()
	if err != nil {
		return nil, fmt.Errorf("find cel.dev/expr: %w", err)
	}
	paths, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "tests/simple/testdata/*.textproto"))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		// Messages of types that this program does not link are of no use here, and make their file unreadable.
		var file test.SimpleTestFile
		if err := (prototext.UnmarshalOptions{DiscardUnknown: true, AllowPartial: true}).Unmarshal(content, &file); err != nil {
			fmt.Fprintf(os.Stderr, "skipped: %s: %v\n", filepath.Base(path), err)
			continue
		}
		for _, section := range file.Section {
			for _, test := range section.Test {
				all = append(all, test.Expr)
			}
		}
	}
	return all, nil
}

// corpusCases are all expressions of the policies under $CELGATE_CORPUS.
func corpusCases() ([]string, error) {
	var all []string
	root := os.Getenv("CELGATE_CORPUS")
	if root == "" {
		return nil, nil
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var file struct {
			Policy admissionv1.ValidatingAdmissionPolicy `json:"policy"`
		}
		if err := json.Unmarshal(content, &file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		spec := file.Policy.Spec
		for _, c := range spec.MatchConditions {
			all = append(all, c.Expression)
		}
		for _, v := range spec.Variables {
			all = append(all, v.Expression)
		}
		for _, v := range spec.Validations {
			all = append(all, v.Expression, v.MessageExpression)
		}
		for _, a := range spec.AuditAnnotations {
			all = append(all, a.ValueExpression)
		}
		return nil
	})
	return all, err
}
