package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// outcome is what both dumps say about an expression that does not parse.
type outcome struct {
	Errors [][3]any `json:"errors"`
	Text   string   `json:"text"`
}

// mostErrors is how many errors cel-go keeps. Which ones it keeps depends on how far its parser has read ahead.
const mostErrors = 100

// maxShown is how many differences are printed.
const maxShown = 20

func compare(expressions, celGo, celgate string) error {
	inputs, err := lines(expressions)
	if err != nil {
		return err
	}
	want, err := lines(celGo)
	if err != nil {
		return err
	}
	got, err := lines(celgate)
	if err != nil {
		return err
	}
	if len(inputs) == 0 || len(inputs) != len(want) || len(inputs) != len(got) {
		return fmt.Errorf("%d expressions, %d and %d results", len(inputs), len(want), len(got))
	}
	var parsed, sameErrors, samePlace, differences int
	for i := range inputs {
		text, err := decode(inputs[i])
		if err != nil {
			return err
		}
		switch difference := differ(want[i], got[i]); {
		case difference != "":
			if differences++; differences <= maxShown {
				fmt.Printf("%q: %s\n  cel-go:  %s\n  celgate: %s\n", cut(text), difference, cut(want[i]), cut(got[i]))
			}
		case !strings.HasPrefix(want[i], `{"errors"`):
			parsed++
		case want[i] == got[i]:
			sameErrors++
		default:
			samePlace++
		}
	}
	fmt.Printf("%d expressions: %d with equal trees, %d with equal errors, %d with syntax errors at the same place, %d differences\n",
		len(inputs), parsed, sameErrors, samePlace, differences)
	if differences > 0 {
		return fmt.Errorf("%d differences", differences)
	}
	return nil
}

// differ says how two results differ, if they do. Of syntax errors only the place of the first must be equal,
// and whatever else celgate reports must be among cel-go's errors.
func differ(want, got string) string {
	if want == got {
		return ""
	}
	failed := strings.HasPrefix(want, `{"errors"`)
	if failed != strings.HasPrefix(got, `{"errors"`) {
		return "only one parses"
	}
	if !failed {
		return "trees differ"
	}
	var wanted, gotten outcome
	if json.Unmarshal([]byte(want), &wanted) != nil || json.Unmarshal([]byte(got), &gotten) != nil {
		return "not JSON"
	}
	first := firstSyntaxError(wanted)
	if len(wanted.Errors) >= mostErrors {
		return ""
	}
	if first < 0 {
		return "errors differ"
	}
	if second := firstSyntaxError(gotten); second < 0 || wanted.Errors[first][0] != gotten.Errors[second][0] ||
		wanted.Errors[first][1] != gotten.Errors[second][1] {
		return "places differ"
	}
	if gaveUp(wanted) {
		return ""
	}
	for i, err := range gotten.Errors {
		if !isSyntaxError(err) && !slices.Contains(wanted.Errors, err) {
			return fmt.Sprintf("error %d is not one of cel-go's", i)
		}
	}
	return ""
}

// firstSyntaxError is the index of the first error that a parser (not its lexer) found, or -1.
func firstSyntaxError(o outcome) int {
	return slices.IndexFunc(o.Errors, isSyntaxError)
}

// gaveUp tells whether cel-go stopped while recovering from syntax errors.
func gaveUp(o outcome) bool {
	return slices.ContainsFunc(o.Errors, func(err [3]any) bool {
		message, _ := err[2].(string)
		return strings.Contains(message, "limit exceeded")
	})
}

func isSyntaxError(err [3]any) bool {
	message, _ := err[2].(string)
	return strings.HasPrefix(message, "Syntax error: ") && !strings.HasPrefix(message, "Syntax error: token recognition") &&
		!strings.HasPrefix(message, "Syntax error: More than")
}

func cut(text string) string {
	if len(text) > 400 {
		return text[:400] + "..."
	}
	return text
}
