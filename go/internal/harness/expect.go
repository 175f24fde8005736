package harness

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celgate/celgate/go/admission/policy/validating"
)

// Expect is the right answer to a request, as a case file has it. What is left out is not compared, but for the verdict. Texts are as
// readable gives them.
type Expect struct {
	// Verdict is "allowed" or "denied".
	Verdict string `json:"verdict"`
	// Code and Reason are those of the status; an error without a status has none.
	Code    int32  `json:"code,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Warnings are in the order in which they were given.
	Warnings []string `json:"warnings,omitempty"`
	// Failures are the entries of the annotation validation_failure: "policy/binding index [actions]: message".
	Failures []string `json:"failures,omitempty"`
	// Annotations are the other audit annotations.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Differs says that upstream's answer is not the right one.
type Differs struct {
	// Because is the beginning of a line of docs/differences.md.
	Because string `json:"because"`
	// Does is what upstream does instead of answering: "hangs", "dies" or "varies" (from request to request).
	Does string `json:"does"`
	// Says is upstream's answer, if it has one.
	Says *Expect `json:"says"`
}

const (
	allowed = "allowed"
	denied  = "denied"
	// readableBytes is how much of a text a case shows.
	readableBytes = 400
)

// Readable is an outcome as case files have it.
func (o Outcome) Readable() (Expect, error) {
	e := Expect{Verdict: allowed}
	if o.Status != "" {
		e.Verdict, e.Message = denied, readable(o.Status)
		var status metav1.Status
		if json.Unmarshal([]byte(o.Status), &status) == nil {
			e.Code, e.Reason, e.Message = status.Code, string(status.Reason), readable(status.Message)
		}
	}
	for _, text := range o.Warnings {
		e.Warnings = append(e.Warnings, readable(text))
	}
	for key, value := range o.Annotations {
		if key == validating.FailuresKey {
			failures, err := readableFailures(value)
			if err != nil {
				return e, err
			}
			e.Failures = failures
			continue
		}
		if e.Annotations == nil {
			e.Annotations = map[string]string{}
		}
		e.Annotations[key] = readable(value)
	}
	return e, nil
}

func readableFailures(annotation string) ([]string, error) {
	var failures []struct {
		Message         string
		Policy, Binding string
		ExpressionIndex json.Number
		Actions         []string `json:"validationActions"`
	}
	if err := json.Unmarshal([]byte(annotation), &failures); err != nil {
		return nil, fmt.Errorf("%s: %w", annotation, err)
	}
	var lines []string
	for _, f := range failures {
		lines = append(lines, readable(fmt.Sprintf("%s/%s %s %v: %s", f.Policy, f.Binding, f.ExpressionIndex, f.Actions, f.Message)))
	}
	return lines, nil
}

// readable shows the ends of a long text and its length.
func readable(text string) string {
	if len(text) <= readableBytes {
		return text
	}
	end := readableBytes / 4
	return fmt.Sprintf("%s [... %d bytes in all ...] %s", strings.ToValidUTF8(text[:end], ""), len(text), strings.ToValidUTF8(text[len(text)-end:], ""))
}

// Compare tells how an outcome is not the expected one; an empty text means that it is.
func (e *Expect) Compare(o Outcome) string {
	got, err := o.Readable()
	if err != nil {
		return err.Error()
	}
	var wrong []string
	check := func(what string, want, got any, same bool) {
		if !same {
			wrong = append(wrong, fmt.Sprintf("%s: want %q, got %q", what, want, got))
		}
	}
	check("verdict", e.Verdict, got.Verdict, e.Verdict == got.Verdict)
	check("code", e.Code, got.Code, e.Code == 0 || e.Code == got.Code)
	check("reason", e.Reason, got.Reason, e.Reason == "" || e.Reason == got.Reason)
	check("message", e.Message, got.Message, e.Message == "" || e.Message == got.Message)
	check("warnings", e.Warnings, got.Warnings, e.Warnings == nil || slices.Equal(e.Warnings, got.Warnings))
	check("failures", e.Failures, got.Failures, e.Failures == nil || slices.Equal(e.Failures, got.Failures))
	check("annotations", e.Annotations, got.Annotations, e.Annotations == nil || fmt.Sprint(e.Annotations) == fmt.Sprint(got.Annotations))
	return strings.Join(wrong, "\n")
}
