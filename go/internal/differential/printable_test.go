package differential

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/celgate/celgate/go/internal/cabi/expression"
)

// TestPrintableCodePoints compares which code points are printed as they are in quoted texts, for all of Unicode: the core has Go's table.
func TestPrintableCodePoints(t *testing.T) {
	engines, err := NewPolicyEngines()
	if err != nil {
		t.Fatal(err)
	}
	c, err := engines.Compile("url(aString)")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Free()
	inputs, err := newInputs(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	scratch, compared := expression.NewScratch(), 0
	const many = 1024
	for first := rune(0x80); first <= utf8.MaxRune; first += many {
		var text strings.Builder
		for r := first; r < first+many && r <= utf8.MaxRune; r++ {
			if utf8.ValidRune(r) {
				text.WriteRune(r)
				compared++
			}
		}
		changed := inputs[0].content.with()
		// What follows a colon is no URL, and quoted in the error.
		changed.plain[rootString], changed.plain[rootTexts] = ":"+text.String(), map[string]any{}
		in, err := changed.encode()
		if err != nil {
			t.Fatal(err)
		}
		upstream, ours := EvaluateUpstream(c.Program, in.activation), c.evaluateOurs(scratch, in)
		if !strings.Contains(upstream, `parse ":`) {
			t.Fatalf("no text is quoted: %s", upstream)
		}
		if upstream != ours {
			t.Errorf("from %x\n  upstream %q\n  ours     %q", first, upstream, ours)
		}
	}
	if compared != utf8.MaxRune+1-0x80-0x800 {
		t.Errorf("%d code points compared", compared)
	}
}
