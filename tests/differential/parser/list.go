package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	testpb "cel.dev/expr/conformance/test"
	"google.golang.org/protobuf/encoding/prototext"

	_ "cel.dev/expr/conformance/proto2"
	_ "cel.dev/expr/conformance/proto3"
)

// list prints every expression of the corpora, of cases.txt, and mutations of them.
func list(out io.Writer) error {
	all := &collection{seen: map[string]bool{}}
	if err := all.corpus(os.Getenv("CELGATE_CORPUS")); err != nil {
		return err
	}
	if err := all.spec(filepath.Join(os.Getenv("CEL_SPEC"), "tests/simple/testdata")); err != nil {
		return err
	}
	if err := all.goTests(os.Getenv("CEL_GO")); err != nil {
		return err
	}
	if err := all.cases("cases.txt"); err != nil {
		return err
	}
	all.generated()
	mutations := 20_000
	if count := os.Getenv("CELGATE_MUTATIONS"); count != "" {
		var err error
		if mutations, err = strconv.Atoi(count); err != nil {
			return err
		}
	}
	all.mutate(mutations)
	writer := bufio.NewWriter(out)
	for _, text := range all.texts {
		fmt.Fprintln(writer, hex.EncodeToString([]byte(text)))
	}
	return writer.Flush()
}

// collection is a list of distinct expressions.
type collection struct {
	texts []string
	seen  map[string]bool
}

func (c *collection) add(text string) {
	if utf8.ValidString(text) && !c.seen[text] {
		c.seen[text] = true
		c.texts = append(c.texts, text)
	}
}

// corpus adds the expressions of all policies in JSON files.
func (c *collection) corpus(dir string) error {
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
		var value any
		if err := json.Unmarshal(content, &value); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		c.expressions(value)
		return nil
	})
}

func (c *collection) expressions(value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			c.expressions(item)
		}
	case map[string]any:
		for key, item := range value {
			text, ok := item.(string)
			if ok && strings.HasSuffix(strings.ToLower(key), "expression") {
				c.add(text)
				continue
			}
			c.expressions(item)
		}
	}
}

// spec adds the expressions of cel-spec's conformance tests.
func (c *collection) spec(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.textproto"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no conformance tests in %s: %w", dir, err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var file testpb.SimpleTestFile
		if err := prototext.Unmarshal(content, &file); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, section := range file.GetSection() {
			for _, test := range section.GetTest() {
				c.add(test.GetExpr())
			}
		}
	}
	return nil
}

// goTests adds every string in cel-go's test files: most are expressions, and the others test errors.
func (c *collection) goTests(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					c.add(text)
				}
			}
			return true
		})
		return nil
	})
}

// cases adds the lines of a file, in Go's string syntax where they begin with a quote.
func (c *collection) cases(name string) error {
	all, err := lines(name)
	if err != nil {
		return err
	}
	for _, line := range all {
		text, found := strings.CutPrefix(line, "go:")
		switch {
		case found:
			if text, err = strconv.Unquote(text); err != nil {
				return fmt.Errorf("%s: %s: %w", name, line, err)
			}
			c.add(text)
		case line != "" && !strings.HasPrefix(line, "# "):
			c.add(line)
		}
	}
	return nil
}

// generated adds expressions around the parser's limits.
func (c *collection) generated() {
	for _, n := range []int{1, 2, 3, 5, 40, 62, 63, 82, 83, 84, 124, 125, 126, 248, 249, 250, 251, 252, 300} {
		for _, around := range [][2]string{
			{"(", ")"}, {"[", "]"}, {"{1:", "}"}, {"f(", ")"}, {"a.b(", ")"}, {"a[", "]"}, {"T{f:", "}"}, {"!(", ")"}, {"-(", ")"},
			{"1+(", ")"}, {"1+2*(", ")"}, {"1 < (", ")"}, {"1<2+3*(", ")"}, {"a?b:(", ")"}, {"(a?", ":b)"}, {"a&&(", ")"}, {"a||b&&(", ")"},
			{"[1].all(x,", ")"}, {"[1].map(x,true,", ")"}, {"optional.of(1).optFlatMap(x,", ")"}, {"has(", ".f)"}, {"[!{a.b:1+f(", ")}]"},
		} {
			c.add(strings.Repeat(around[0], n) + "1" + strings.Repeat(around[1], n))
			c.add(strings.Repeat(around[0], n) + "1")
			c.add("break+" + strings.Repeat(around[0], n) + "for" + strings.Repeat(around[1], n))
		}
		for _, repeated := range []string{".a", ".a()", "[0]", "+1", "*1", "<1", "&&a", "||a", "?a:b", ".?a", "[?0]", ".map(x,x)", ".a+1", "$"} {
			c.add("a" + strings.Repeat(repeated, n))
			c.add("break" + strings.Repeat(repeated, n))
		}
		c.add(strings.Repeat("!", n) + "a")
		c.add(strings.Repeat("-", n) + "1")
		c.add(strings.Repeat("-", n) + "a")
		c.add(strings.Repeat("a?b:", n) + "c")
		c.add("a" + strings.Repeat("&&b||c", n))
	}
	for _, n := range []int{99_999, 100_000, 100_001} {
		c.add(strings.Repeat(" ", n-1) + "1")
		c.add("'" + strings.Repeat("é", n-2) + "'")
	}
	for _, n := range []int{16_380, 16_390} {
		c.add(strings.Repeat(" ", n) + "has(1)")
	}
	for n := range 12 {
		c.add("a" + strings.Repeat(".optMap(x, {'k': [x, T{f: x}]})", n))
	}
}

// mutate adds count mutations of expressions: characters and pieces removed, repeated, or brought in from elsewhere.
func (c *collection) mutate(count int) {
	random := rand.New(rand.NewSource(1))
	originals := c.texts
	noise := []string{"(", ")", "[", "]", "{", "}", ".", ",", "?", ":", "-", "!", "+", "&&", "||", "==", "in", "'", "\"", "\\", "`", "b'",
		"r\"", "1", "0x", "1u", "1.5", "e5", "null", "true", "for", "a", " ", "\n", "\t", "//", "$", "é", "😁", "has(", ".all(x,", "'''", "\\u00e9", ".?", "[?"}
	for range count {
		text := []rune(originals[random.Intn(len(originals))])
		if len(text) > 2_000 {
			continue
		}
		for range 1 + random.Intn(3) {
			at := random.Intn(len(text) + 1)
			end := min(len(text), at+random.Intn(4))
			switch random.Intn(4) {
			case 0:
				text = append(text[:at:at], text[end:]...)
			case 1:
				text = append(text[:end:end], text[at:]...)
			case 2:
				text = append(append(text[:at:at], []rune(noise[random.Intn(len(noise))])...), text[at:]...)
			case 3:
				text = append(append(text[:at:at], []rune(noise[random.Intn(len(noise))])...), text[end:]...)
			}
		}
		c.add(string(text))
	}
}
