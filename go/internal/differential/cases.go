package differential

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
)

// Case is an expression from a file, with the input that it is about.
type Case struct {
	// Place is the file and line.
	Place      string
	Expression string
	// listed says that the expression is one of many that a line with lists stands for: it sees only the first input.
	listed bool
	// with are the values of variables that the case sets, by name; the others are those of the first input.
	with []setting
}

// setting is a line @NAME VALUE.
type setting struct{ name, value string }

// ReadCases reads the case files of a directory, by name. tests/cases/expressions/README.md has their format.
func ReadCases(dir string) ([]Case, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no cases in %s", dir)
	}
	slices.Sort(paths)
	var all []Case
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		cases, err := parseCases(filepath.Base(path), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

// caseParser reads one file.
type caseParser struct {
	lists map[string][]string
	// list is the name of the list that indented lines go to.
	list  string
	with  []setting
	cases []Case
}

func parseCases(file, text string) ([]Case, error) {
	p := caseParser{lists: map[string][]string{}}
	for i, line := range strings.Split(text, "\n") {
		if err := p.line(fmt.Sprintf("%s:%d", file, i+1), line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	return p.cases, nil
}

func (p *caseParser) line(place, line string) error {
	entry, indented := strings.CutPrefix(line, "  ")
	switch {
	case line == "":
		p.list, p.with = "", nil
	case strings.HasPrefix(line, "#"):
	case indented:
		if p.list == "" {
			return errors.New("an indented line belongs below a list's name")
		}
		expanded, err := p.expand(entry)
		p.lists[p.list] = append(p.lists[p.list], expanded...)
		return err
	case strings.HasPrefix(line, "$") && listName.MatchString(line):
		p.list = strings.TrimSuffix(line[1:], ":")
		if p.lists[p.list] != nil {
			return fmt.Errorf("a second list %s", p.list)
		}
		p.lists[p.list] = []string{}
	case strings.HasPrefix(line, "@"):
		name, value, found := strings.Cut(line[1:], " ")
		if !found {
			return errors.New("@NAME needs a value")
		}
		p.with = append(p.with, setting{name, value})
	default:
		expanded, err := p.expand(line)
		for _, expression := range expanded {
			expression = strings.ReplaceAll(expression, `\N`, "\n")
			p.cases = append(p.cases, Case{Place: place, Expression: expression, listed: len(expanded) > 1, with: p.with})
		}
		return err
	}
	return nil
}

var (
	listName = regexp.MustCompile(`^\$[a-zA-Z]+:$`)
	listUse  = regexp.MustCompile(`\$[a-zA-Z]+[0-9]*`)
)

// mostExpanded is a limit for what one line stands for.
const mostExpanded = 50_000

// expand puts every entry of a list in the place of $LIST. Uses of one name have the same entry; $LIST and $LIST2 are independent.
func (p *caseParser) expand(line string) ([]string, error) {
	all := []string{line}
	var done []string
	for _, use := range listUse.FindAllString(line, -1) {
		entries := p.lists[strings.TrimRight(use[1:], "0123456789")]
		if entries == nil || slices.Contains(done, use) {
			continue
		}
		done = append(done, use)
		if len(all)*len(entries) > mostExpanded {
			return nil, fmt.Errorf("more than %d expressions", mostExpanded)
		}
		var expanded []string
		for _, text := range all {
			for _, entry := range entries {
				expanded = append(expanded, replaceUse(text, use, entry))
			}
		}
		all = expanded
	}
	return all, nil
}

// replaceUse replaces a use, and no longer name that starts with it.
func replaceUse(text, use, entry string) string {
	return listUse.ReplaceAllStringFunc(text, func(found string) string {
		if found == use {
			return entry
		}
		return found
	})
}

// String is the case as a file has it.
func (c Case) String() string {
	var out strings.Builder
	for _, set := range c.with {
		fmt.Fprintf(&out, "@%s %s\n", set.name, set.value)
	}
	return out.String() + strings.ReplaceAll(c.Expression, "\n", `\N`) + "\n"
}

// apply puts a value in the place of a variable's.
func (c *content) apply(env *cel.Env, set setting) error {
	object := func(into *objectContent) error {
		text, unstructured := strings.CutPrefix(set.value, unstructuredPrefix)
		*into = objectContent{text: text, unstructured: unstructured}
		if text == "null" {
			*into = objectContent{}
		}
		_, err := into.decode()
		return err
	}
	switch set.name {
	case variables[rootObject].Name:
		return object(&c.object)
	case variables[rootOldObject].Name:
		return object(&c.oldObject)
	case variables[rootNamespace].Name:
		return object(&c.namespace)
	case variables[rootRequest].Name:
		c.request = requestContent{}
		return json.Unmarshal([]byte(set.value), &c.request)
	}
	root := slices.IndexFunc(variables, func(v Variable) bool { return v.Name == set.name })
	if root < 0 || root == rootUnbound {
		return errors.New("no such variable")
	}
	value, err := readPlain(env, set.value)
	c.plain[root] = value
	return err
}
