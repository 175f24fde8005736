package differential

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/celgate/celgate/go/internal/cabi/expression"
)

// TestFoundDifferenceBecomesACase plants bugs, and expects that what shows them is saved small, differs when it is read again, and no longer
// does when the bug is gone.
func TestFoundDifferenceBecomesACase(t *testing.T) {
	const typedMismatchIsFalse, sizeInBytes = 12, 18
	for _, test := range []struct {
		mutant int
		made   *tree
		change func(*content)
		want   string
	}{
		{
			typedMismatchIsFalse,
			form("[$].size() > 0 && dyn($) == dyn($)", leaf("aString"), leaf("object.metadata"), leaf("1")),
			func(c *content) {},
			" == dyn(1)\n",
		},
		{
			sizeInBytes,
			form("($).filter(x, $)", leaf("strings"), form("$ == $", leaf("size(x)"), leaf("1"))),
			func(c *content) { c.plain[rootStrings] = []any{"abc", "é", "", "de"} },
			"@strings [\"é\"]\n",
		},
		{
			sizeInBytes,
			form("size($) == 1", leaf("object.data.a")),
			func(c *content) {
				c.object = objectContent{`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "labels": {"a": "b"}}, "data": {"b": "c", "a": "é"}}`, false}
			},
			"@object {\"data\":{\"a\":\"é\"},\"kind\":\"ConfigMap\"}\n",
		},
	} {
		engines, err := NewPolicyEngines()
		if err != nil {
			t.Fatal(err)
		}
		inputs, err := newInputs(0, 1)
		if err != nil {
			t.Fatal(err)
		}
		changed := inputs[0].content.with()
		test.change(changed)
		in, err := changed.encode()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		options := Options{Workers: 1, Progress: io.Discard, Found: filepath.Join(dir, "found.txt")}
		w := &worker{engines: engines, options: options, pool: inputs, scratch: expression.NewScratch(), report: newReport(engines.upstream)}
		expression.Plant(test.mutant)
		t.Cleanup(func() { expression.Plant(0) })
		for range 2 {
			if _, err := w.compare(test.made, nil, []*input{in}); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(options.Found)
		if err != nil {
			t.Fatalf("%s: nothing was saved: %v", test.made, err)
		}
		if !strings.Contains(string(text), test.want) || strings.Count(string(text), "# upstream ") != 1 {
			t.Errorf("%s: saved\n%s", test.made, text)
		}
		cases, err := ReadCases(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, planted := range []int{test.mutant, 0} {
			expression.Plant(planted)
			report, err := CheckCases(engines, cases, options)
			if err != nil {
				t.Fatal(err)
			}
			if found := len(report.Differences()); found != min(planted, 1) {
				t.Errorf("%s: %d differences with bug %d\n%s", test.made, found, planted, text)
			}
		}
	}
}

func TestCaseFiles(t *testing.T) {
	text := `# Comment.
1 + 2
$x:
  a
  'b'

$y:
  [$x]
  {}
f($x, $x2, $x)
$y == '$z$x9'
'a\Nb'
@any 1u
@ints [1]
any
aBool

any
`
	cases, err := parseCases("f.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1 + 2", "f(a, a, a)", "f(a, 'b', a)", "f('b', a, 'b')", "f('b', 'b', 'b')",
		"[a] == '$za'", "[a] == '$z'b''", "['b'] == '$za'", "['b'] == '$z'b''", "{} == '$za'", "{} == '$z'b''",
		"'a\nb'", "any", "aBool", "any",
	}
	for i, c := range cases {
		if i >= len(want) || c.Expression != want[i] {
			t.Errorf("%d: %s", i, c.Expression)
		}
		if sets := len(c.with) == 2; sets != (i == 12 || i == 13) {
			t.Errorf("%s: sets %v", c.Expression, c.with)
		}
	}
	if len(cases) != len(want) {
		t.Errorf("%d cases", len(cases))
	}
	if got := cases[12].String(); got != "@any 1u\n@ints [1]\nany\n" {
		t.Errorf("%q", got)
	}
	for _, wrong := range []string{"  a", "$x:\n$x:", "@any"} {
		if _, err := parseCases("f.txt", wrong); err == nil {
			t.Errorf("%q was read", wrong)
		}
	}
}
