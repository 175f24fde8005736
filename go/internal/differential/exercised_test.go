package differential

import (
	"io"
	"slices"
	"testing"
)

func TestWhatCasesLackIsNoticed(t *testing.T) {
	engines, err := NewPolicyEngines()
	if err != nil {
		t.Fatal(err)
	}
	for text, lack := range map[string]map[string]bool{
		"1 + 2\n":                       {"add_int64: no value": false, "add_int64: no error": true, "add_int64: 1 costs": true, "add_double: no value": true},
		"9223372036854775807 + 1\n":     {"add_int64: no value": true, "add_int64: no error": false},
		"dyn(1 + 2)\n[1].map(x, 1/0)\n": {"add_int64: no value": false, "map:2: no error": false, "divide_int64: no error": true, "to_dyn: no error": false},
		"[1].map(x, x)\n":               {"map:2: no value": false, "map:2: no error": true, "map:2: 1 costs": true, "add_list: no value": false, "not_strictly_false: no value": true},
		"duration('1s') < duration('1h')\n'a'.contains('')\n'aaaaaaaaaaaaaaa'.contains('a')\n(text + text).contains('a')\n": {
			"less_duration: 1 costs": false, "less_duration: no error": true, "contains_string: 3 costs": false, "contains_string: 2 costs": false, "contains_string: 1 costs": false,
		},
	} {
		cases, err := parseCases("f.txt", text)
		if err != nil {
			t.Fatal(err)
		}
		report, err := CheckCases(engines, cases, Options{Workers: 1, Progress: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		lacking := report.Lacking()
		for what, want := range lack {
			if slices.Contains(lacking, what) != want {
				t.Errorf("%s%s: %v instead of %v", text, what, !want, want)
			}
		}
	}
}
