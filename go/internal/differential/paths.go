package differential

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

var identifier = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// fieldName is the name of some field of the objects.
func (g *generator) fieldName() string {
	at := g.shape
	name := "metadata"
	for range 1 + g.random.IntN(4) {
		if names := at.names(); len(names) > 0 {
			name = pick(g.random, names...)
			at = at.fields[name]
		} else if at.element != nil {
			at = at.element
		}
	}
	if !identifier.MatchString(name) {
		return "name"
	}
	return name
}

// local reads a variable of a comprehension that has the wanted type, or a path below one; nil if there is none.
func (g *generator) local(want *cel.Type) *tree {
	for i := len(g.locals) - 1; i >= 0; i-- {
		variable := g.locals[i]
		if g.one(4) {
			continue
		}
		if variable.kind.IsExactType(want) && (variable.shape == nil || g.one(3)) {
			return leaf(variable.name)
		}
		if variable.shape != nil {
			if made := g.walk(variable.name, variable.shape, want); made != nil {
				return made
			}
		}
	}
	return nil
}

// path reads a field of an object that may have the wanted type; nil if none was found.
func (g *generator) path(want *cel.Type) *tree {
	return g.walk(pick(g.random, "object", "object", "oldObject", "params"), g.shape, want)
}

// walk goes some steps down; the place it ends at has the wanted type, or anything for dyn.
func (g *generator) walk(from string, at *shape, want *cel.Type) *tree {
	for range 6 {
		text, end := g.steps(from, at)
		switch {
		case want.Kind() == types.DynKind,
			slices.ContainsFunc(end.scalars, want.IsExactType),
			want.Kind() == types.ListKind && end.element != nil,
			want.Kind() == types.MapKind && end.fields != nil,
			isOptional(want) && end.fields != nil && g.one(2):
			if isOptional(want) {
				return leaf(text + ".?" + g.below(end))
			}
			return leaf(text)
		}
	}
	return nil
}

// below is the name of a field that is there, or mostly so.
func (g *generator) below(at *shape) string {
	if names := at.names(); len(names) > 0 && !g.one(10) {
		if name := pick(g.random, names...); identifier.MatchString(name) {
			return name
		}
	}
	return "nosuch"
}

func (g *generator) steps(text string, at *shape) (string, *shape) {
	for range g.random.IntN(7) {
		switch {
		case at.element != nil && (len(at.fields) == 0 || g.one(2)):
			text += fmt.Sprintf("[%s]", pick(g.random, "0", "0", "0", "1", "2", "9", "-1", "0u", "0.0", "anInt"))
			at = at.element
		case len(at.fields) > 0:
			name := pick(g.random, at.names()...)
			next := at.fields[name]
			switch {
			case g.one(24):
				return text + ".nosuch", &shape{}
			case !identifier.MatchString(name) || g.one(12):
				text += fmt.Sprintf("['%s']", name)
			default:
				text += "." + name
			}
			at = next
		default:
			return text, at
		}
	}
	return text, at
}

// hasPath is a selection for has().
func (g *generator) hasPath() string {
	if g.one(8) {
		return pick(g.random, "object.spec.nothing", "params.spec.nothing", "object.spec.empty", "object.spec.enabled", "object.spec.paused", "object.status.phase")
	}
	from, at := pick(g.random, "object", "oldObject", "params"), g.shape
	if len(g.locals) > 0 && g.one(2) {
		if last := g.locals[len(g.locals)-1]; last.shape != nil {
			from, at = last.name, last.shape
		}
	}
	text, end := g.steps(from, at)
	return text + "." + g.below(end)
}
