package verifying

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/celgate/celgate/go/admission/policy/validating"
	"github.com/celgate/celgate/go/internal/answer"
)

// differencesOf names what differs between two answers: verdict, error, warnings, annotations. Upstream takes policies and bindings in the
// order of Go's maps: which of several denials it reports, and the order of warnings and of joined values, is no difference.
func differencesOf(theirs, ours *observed) []string {
	var differences []string
	switch {
	case (theirs.err == nil) != (ours.err == nil):
		differences = append(differences, "verdict")
	case theirs.err != nil && !couldBe(theirs.err, ours):
		differences = append(differences, "error")
	}
	if !slices.Equal(sorted(theirs.warnings.Texts()), sorted(ours.warnings.Texts())) {
		differences = append(differences, "warnings")
	}
	if !sameAnnotations(theirs.annotations, ours.annotations) {
		differences = append(differences, "annotations")
	}
	return differences
}

// couldBe says whether the error is the one that was returned, or another denial of the same request.
func couldBe(err error, ours *observed) bool {
	text := answer.Status(err)
	return text == answer.Status(ours.err) || slices.ContainsFunc(ours.denials, func(denial error) bool { return answer.Status(denial) == text })
}

func sameAnnotations(theirs, ours map[string]string) bool {
	if len(theirs) != len(ours) {
		return false
	}
	for key, value := range theirs {
		other, found := ours[key]
		if !found || value != other && !sameValues(key, value, other) {
			return false
		}
	}
	return true
}

// sameValues says whether two annotations have the same values in another order.
func sameValues(key, theirs, ours string) bool {
	if key != validating.FailuresKey {
		return slices.Equal(sorted(strings.Split(theirs, ", ")), sorted(strings.Split(ours, ", ")))
	}
	var one, other []json.RawMessage
	if json.Unmarshal([]byte(theirs), &one) != nil || json.Unmarshal([]byte(ours), &other) != nil {
		return false
	}
	texts := func(list []json.RawMessage) (texts []string) {
		for _, failure := range list {
			texts = append(texts, string(failure))
		}
		return sorted(texts)
	}
	// Of more failures than there is room for, those that are listed depend on the order.
	return slices.Equal(texts(one), texts(other)) || len(one) == validating.MaxFailures && len(other) == validating.MaxFailures
}

func sorted(texts []string) []string { return slices.Sorted(slices.Values(texts)) }

// isNotReady says whether a plugin did not know its policies yet.
func isNotReady(err error) bool {
	return err != nil && strings.HasSuffix(err.Error(), "not yet ready to handle request")
}

// denier finds policy and binding in the message of a denial.
var denier = regexp.MustCompile(`ValidatingAdmissionPolicy '([^']*)'(?: with binding '([^']*)')? denied request`)

// verdict is an answer without any part of the object: messages can quote it.
func (o *observed) verdict() string {
	if o.err == nil {
		return "allowed"
	}
	verdict := "error"
	var status apierrors.APIStatus
	if errors.As(o.err, &status) {
		verdict = fmt.Sprintf("%d %s", status.Status().Code, status.Status().Reason)
	}
	if found := denier.FindStringSubmatch(o.err.Error()); found != nil {
		verdict += fmt.Sprintf(" by policy %q, binding %q", found[1], found[2])
	}
	return verdict
}
