package differential

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode"

	"github.com/google/cel-go/cel"

	"github.com/celgate/celgate/go/internal/cabi/expression"
	"github.com/celgate/celgate/go/internal/wire"
)

// vast are ranges of characters that are all alike, or that are none: only some of each are looked at.
var vast = []unicode.Range32{
	{Lo: 0x3400, Hi: 0x4dbf}, {Lo: 0x4e00, Hi: 0x9fff}, {Lo: 0xac00, Hi: 0xd7a3}, {Lo: 0xe000, Hi: 0xf8ff}, {Lo: 0x17000, Hi: 0x18aff},
	{Lo: 0x20000, Hi: 0x3ffff}, {Lo: 0x40000, Hi: 0xdffff}, {Lo: 0xf0000, Hi: unicode.MaxRune},
}

func characters() string {
	var text strings.Builder
	for c := rune(0); c <= unicode.MaxRune; c++ {
		if c >= 0xd800 && c < 0xe000 {
			continue
		}
		isVast := slices.ContainsFunc(vast, func(r unicode.Range32) bool { return uint32(c) >= r.Lo+8 && uint32(c)+8 <= r.Hi })
		if !isVast || c%256 == 0 {
			text.WriteRune(c)
		}
	}
	return text.String()
}

// Every class of Unicode that Go's regular expressions know has the same characters here, whatever the case.
func TestUnicodeClasses(t *testing.T) {
	engines, err := NewEngines([]Variable{{Name: "text", Type: cel.StringType}})
	if err != nil {
		t.Fatal(err)
	}
	text := characters()
	encoder := wire.Get(1)
	defer encoder.Put()
	encoder.SetPlain(0, text)
	record := encoder.Bytes()
	scratch := expression.NewScratch()
	for _, class := range classes() {
		for _, flags := range []string{"", "(?i)"} {
			source := fmt.Sprintf(`text.findAll('%s%s+')`, flags, class)
			compiled, err := engines.Compile(source)
			if err != nil {
				t.Fatal(err)
			}
			if compiled.UpstreamVerdict != compiled.OurVerdict {
				t.Errorf("%s: upstream %s, ours %s", source, compiled.UpstreamVerdict, compiled.OurVerdict)
			} else if compiled.Program != nil {
				upstream := EvaluateUpstream(compiled.Program, map[string]any{"text": text})
				ours, err := compiled.Ours.Evaluate(scratch, record, math.MaxUint64, nil)
				if err != nil {
					t.Fatal(err)
				}
				if upstream != string(ours) {
					at := 0
					for at < min(len(upstream), len(ours)) && upstream[at] == ours[at] {
						at++
					}
					t.Errorf("%s: from byte %d on upstream %.80s, ours %.80s", source, at, upstream[at:], ours[at:])
				}
			}
			compiled.Free()
		}
	}
}

// classes are patterns as CEL strings have them: one of each name, negated ones, and some in brackets.
func classes() []string {
	names := []string{"Any", "ASCII", "Assigned"}
	for name := range unicode.Categories {
		names = append(names, name)
	}
	for name := range unicode.CategoryAliases {
		names = append(names, name)
	}
	for name := range unicode.Scripts {
		names = append(names, name)
	}
	sort.Strings(names)
	classes := []string{
		`\\d`, `\\D`, `\\s`, `\\S`, `\\w`, `\\W`, `[\\d_]`, `[^\\D]`, `[\\W]`, `[^\\W]`, `[\\S]`,
		`[\\P{LC}]`, `[^\\p{LC}]`, `[\\p{LC}x]`, `[\\P{Lu}a-z]`, `[^\\p{Ll}]`, `[\\P{^Greek}]`, `\\P{Lu}`, `\\pN`, `\\PL`,
		`[\\x{100}-\\x{24f}]`, `[^k]`, `[s-t]`, `k`, `[\\x{370}-\\x{3ff}]`, `[\\x{1c80}-\\x{1c8f}]`, `[\\x{a640}-\\x{a7ff}]`, `[^\\x{10ffff}]`,
	}
	for _, name := range []string{"alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word", "xdigit"} {
		classes = append(classes, "[[:"+name+":]]", "[[:^"+name+":]]", "[^[:"+name+":]é]", "[x[:^"+name+":]]")
	}
	for _, name := range names {
		classes = append(classes, `\\p{`+name+`}`)
	}
	return classes
}
