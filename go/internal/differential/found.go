package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// settings are the values of the variables that an expression names, as a file of cases has them. The long texts are left out: they are those
// of the first input then.
func (c *content) settings(source string) []setting {
	var all []setting
	for root, variable := range variables {
		if root == rootUnbound || root == rootTexts || !regexp.MustCompile(`\b`+variable.Name+`\b`).MatchString(source) {
			continue
		}
		all = append(all, setting{variable.Name, c.text(root)})
	}
	return all
}

func (c *content) text(root int) string {
	switch root {
	case rootObject:
		return c.object.String()
	case rootOldObject:
		return c.oldObject.String()
	case rootNamespace:
		return c.namespace.String()
	case rootRequest:
		return textOf(c.request)
	}
	return plainText(c.plain[root])
}

// unstructuredPrefix stands before an object that is no Go struct.
const unstructuredPrefix = "unstructured "

func (c objectContent) String() string {
	if c.text == "" {
		return "null"
	}
	var line bytes.Buffer
	if err := json.Compact(&line, []byte(c.text)); err != nil {
		return c.text
	}
	if c.unstructured {
		return unstructuredPrefix + line.String()
	}
	return line.String()
}

// smallestCase finds what of an input a difference needs: variables that may as well have the values of the first input are left out, and
// parts of the others. It is false if the difference does not show without the long texts.
func (w *worker) smallestCase(source string, from *content) (Case, bool) {
	c := Case{Expression: source}
	if from == nil {
		return c, true
	}
	compiled, err := w.engines.Compile(source)
	if err != nil {
		return c, false
	}
	defer compiled.Free()
	if compiled.Program == nil || compiled.Ours == nil {
		return c, true
	}
	differs := func(with []setting) bool {
		in, err := w.inputOf(Case{with: with})
		if err != nil {
			return false
		}
		return compiled.compareResults(in, EvaluateUpstream(compiled.Program, in.activation), compiled.evaluateOurs(w.scratch, in)) == different
	}
	c.with = from.settings(source)
	if !differs(c.with) {
		return c, false
	}
	for i := len(c.with) - 1; i >= 0; i-- {
		if without := slices.Delete(slices.Clone(c.with), i, i+1); differs(without) {
			c.with = without
		}
	}
	for i := range c.with {
		w.reduce(c.with, i, differs)
	}
	return c, true
}

// reduce makes the value of one setting smaller.
func (w *worker) reduce(with []setting, i int, differs func([]setting) bool) {
	value, write, ok := w.read(with[i])
	tries := 400
	for found := ok; found && tries > 0; {
		found = withoutParts(value, func(smaller any) bool {
			if tries--; tries < 0 {
				return false
			}
			changed := slices.Clone(with)
			changed[i].value = write(smaller)
			if !differs(changed) {
				return false
			}
			value, with[i] = smaller, changed[i]
			return true
		})
	}
}

// read decodes a setting's value if it has parts, and says how one like it is written.
func (w *worker) read(set setting) (value any, write func(any) string, ok bool) {
	switch set.name {
	case variables[rootRequest].Name:
		return nil, nil, false
	case variables[rootObject].Name, variables[rootOldObject].Name, variables[rootNamespace].Name:
		text, unstructured := strings.CutPrefix(set.value, unstructuredPrefix)
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		err := decoder.Decode(&value)
		return value, func(value any) string { return objectContent{textOf(value), unstructured}.String() }, err == nil
	}
	value, err := readPlain(w.engines.upstream, set.value)
	return value, plainText, err == nil
}

// withoutParts calls try with every value that has one entry or element less, until try returns true.
func withoutParts(value any, try func(any) bool) bool {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(value) {
			shorter := maps.Clone(value)
			delete(shorter, key)
			if try(shorter) {
				return true
			}
		}
		for _, key := range sortedKeys(value) {
			inner := withoutParts(value[key], func(smaller any) bool {
				changed := maps.Clone(value)
				changed[key] = smaller
				return try(changed)
			})
			if inner {
				return true
			}
		}
	case []any:
		for i := range value {
			if try(slices.Delete(slices.Clone(value), i, i+1)) {
				return true
			}
		}
		for i := range value {
			inner := withoutParts(value[i], func(smaller any) bool {
				changed := slices.Clone(value)
				changed[i] = smaller
				return try(changed)
			})
			if inner {
				return true
			}
		}
	}
	return false
}

// save appends a case to the file of found ones, with what differs; it does nothing if the file has the case.
func save(path string, c Case, d Difference) error {
	old, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if strings.Contains("\n"+string(old), "\n"+c.String()) {
		return nil
	}
	var block strings.Builder
	if len(old) > 0 {
		block.WriteString("\n")
	}
	for _, line := range strings.Split(fmt.Sprintf("upstream %s\nours     %s", d.Upstream, d.Ours), "\n") {
		fmt.Fprintf(&block, "# %.300s\n", line)
	}
	block.WriteString(c.String())
	return os.WriteFile(path, append(old, block.String()...), 0o644)
}
