package differential

import "strings"

// tree is a generated expression: text with expressions in between, so that it can be made smaller.
type tree struct {
	// parts has one more text than there are children.
	parts    []string
	children []*tree
	// elements says that children may be left out: they are those of a list.
	elements bool
}

func leaf(text string) *tree { return &tree{parts: []string{text}} }

// form makes a tree from a text in which each $ stands for the next child.
func form(text string, children ...*tree) *tree {
	return &tree{parts: strings.Split(text, "$"), children: children}
}

// sequence makes a tree of children between separators.
func sequence(open, separator, end string, children []*tree) *tree {
	if len(children) == 0 {
		return leaf(open + end)
	}
	parts := []string{open}
	for range len(children) - 1 {
		parts = append(parts, separator)
	}
	return &tree{parts: append(parts, end), children: children, elements: true}
}

func (t *tree) String() string {
	var out strings.Builder
	t.write(&out)
	return out.String()
}

func (t *tree) write(out *strings.Builder) {
	for i, part := range t.parts {
		out.WriteString(part)
		if i < len(t.children) {
			t.children[i].write(out)
		}
	}
}

// replacements calls try with every tree that has one part of this one made smaller, until try returns true.
func (t *tree) replacements(try func(*tree) bool) bool {
	for _, child := range t.children {
		if try(child) {
			return true
		}
	}
	if len(t.children) > 0 {
		for _, simple := range simplest {
			if try(leaf(simple)) {
				return true
			}
		}
	}
	if t.elements && len(t.children) > 1 {
		for i := range t.children {
			if try(t.without(i)) {
				return true
			}
		}
	}
	for i, child := range t.children {
		replaced := child.replacements(func(smaller *tree) bool {
			changed := *t
			changed.children = append([]*tree(nil), t.children...)
			changed.children[i] = smaller
			return try(&changed)
		})
		if replaced {
			return true
		}
	}
	return false
}

// without leaves out an element and a separator.
func (t *tree) without(i int) *tree {
	shorter := &tree{elements: true, parts: append([]string(nil), t.parts[:len(t.parts)-2]...)}
	shorter.parts = append(shorter.parts, t.parts[len(t.parts)-1])
	shorter.children = append(append([]*tree(nil), t.children[:i]...), t.children[i+1:]...)
	return shorter
}

// simplest are what any expression may be replaced with to make it smaller.
var simplest = []string{"true", "1", "1u", "1.0", "'a'", "b'a'", "null", "[]", "{}", "object", "dyn(1)", "dyn('a')", "dyn([])"}
