package differential

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// PolicyCases are all expressions of the policies in the JSON files below a directory, each once.
func PolicyCases(dir string) ([]Case, error) {
	var all []Case
	seen := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
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
		for _, expression := range expressions(&file.Policy.Spec) {
			if expression != "" && !seen[expression] {
				seen[expression] = true
				all = append(all, Case{Place: path, Expression: expression})
			}
		}
		return nil
	})
	return all, err
}

func expressions(spec *admissionv1.ValidatingAdmissionPolicySpec) []string {
	var all []string
	for _, condition := range spec.MatchConditions {
		all = append(all, condition.Expression)
	}
	for _, variable := range spec.Variables {
		all = append(all, variable.Expression)
	}
	for _, validation := range spec.Validations {
		all = append(all, validation.Expression, validation.MessageExpression)
	}
	for _, annotation := range spec.AuditAnnotations {
		all = append(all, annotation.ValueExpression)
	}
	return all
}
