package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// list prints the cases of all policies under $CELGATE_CORPUS and of cases.txt.
func list(out io.Writer) error {
	writer := bufio.NewWriter(out)
	if err := listCorpus(writer, os.Getenv("CELGATE_CORPUS")); err != nil {
		return err
	}
	cases, err := fileCases("cases.txt")
	if err != nil {
		return err
	}
	for _, c := range cases {
		fmt.Fprintln(writer, c)
	}
	return writer.Flush()
}

func listCorpus(writer io.Writer, dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(os.Stderr, "CELGATE_CORPUS names no directory of policies: theirs are left out")
		return nil
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
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
		for _, c := range policyCases(file.Policy.Spec) {
			fmt.Fprintln(writer, c)
		}
		return nil
	})
}

// policyCases are a policy's expressions, each with all its variables.
func policyCases(spec admissionv1.ValidatingAdmissionPolicySpec) []testCase {
	template := testCase{params: spec.ParamKind != nil, authorizer: true}
	for _, v := range spec.Variables {
		template.variables = append(template.variables, variable{v.Name, v.Expression})
	}
	var cases []testCase
	add := func(expression string, authorizer bool) {
		if expression != "" {
			c := template
			c.expression, c.authorizer = expression, authorizer
			cases = append(cases, c)
		}
	}
	for _, condition := range spec.MatchConditions {
		add(condition.Expression, true)
	}
	for _, validation := range spec.Validations {
		add(validation.Expression, true)
		add(validation.MessageExpression, false)
	}
	for _, annotation := range spec.AuditAnnotations {
		add(annotation.ValueExpression, true)
	}
	return cases
}

// fileCases reads one case per line: an expression, after it ` ## name := expression` for each variable. An expression
// that uses params or the authorizer gets them. A line that starts with `#` is a comment; `\n` is a newline.
func fileCases(path string) ([]testCase, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var cases []testCase
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.ReplaceAll(line, `\n`, "\n")
		parts := strings.Split(line, " ## ")
		c := testCase{
			expression: parts[0],
			params:     strings.Contains(line, "params"),
			authorizer: strings.Contains(line, "authorizer"),
		}
		for _, part := range parts[1:] {
			name, expression, ok := strings.Cut(part, " := ")
			if !ok {
				return nil, fmt.Errorf("%s: not a variable: %q", path, part)
			}
			c.variables = append(c.variables, variable{name, expression})
		}
		cases = append(cases, c)
	}
	return cases, nil
}
