package differential

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// comprehended is what a comprehension goes over: the expression, and its variables with one and with two of them.
type comprehended struct {
	over *tree
	// one is the variable of one-variable macros: an element or a key.
	one local
	// key and value are those of two-variable macros.
	key, value local
	isMap      bool
}

var names = []string{"x", "y", "k", "v", "i", "e", "object", "c"}

// ranged makes a list or map to go over.
func (g *generator) ranged(size int) comprehended {
	name := func() string { return names[min(g.random.IntN(len(names)), g.random.IntN(len(names)))] }
	first, second := name(), name()
	if first == second {
		second += "2"
	}
	switch g.random.IntN(5) {
	case 0:
		if path, end := g.steps(pick(g.random, "object", "oldObject", "params"), g.shape); end.element != nil || end.fields != nil {
			element := end.element
			key := cel.IntType
			if element == nil {
				key = cel.StringType
			}
			made := comprehended{over: leaf(path), one: local{first, cel.DynType, element}, key: local{first, key, nil}, value: local{second, cel.DynType, element}, isMap: element == nil}
			if made.isMap {
				made.one.shape = nil
			}
			return made
		}
	case 1:
		key, value := g.keyType(), g.anyType(1)
		return comprehended{over: g.make(cel.MapType(key, value), size), one: local{first, key, nil}, key: local{first, key, nil}, value: local{second, value, nil}, isMap: true}
	}
	element := g.anyType(1)
	return comprehended{over: g.make(cel.ListType(element), size), one: local{first, element, nil}, key: local{first, cel.IntType, nil}, value: local{second, element, nil}}
}

// within makes an expression that sees the variables.
func (g *generator) within(want *cel.Type, size int, variables ...local) *tree {
	depth := len(g.locals)
	g.locals = append(g.locals, variables...)
	made := g.make(want, size)
	g.locals = g.locals[:depth]
	return made
}

// macro makes a use of a macro that gives the wanted type; nil if the chosen one does not.
func (g *generator) macro(want *cel.Type, size int) *tree {
	half := size/2 + 1
	switch {
	case want.Kind() == types.BoolKind:
		return g.boolMacro(half)
	case want.Kind() == types.ListKind:
		return g.listMacro(want, half)
	case want.Kind() == types.MapKind:
		return g.mapMacro(want, half)
	case isOptional(want):
		inner := g.anyType(1)
		over := g.make(cel.OptionalType(inner), half)
		variable := local{pick(g.random, names...), inner, nil}
		if g.one(2) {
			return g.use("optMap:2", form("($).optMap($, $)", over, leaf(variable.name), g.within(want.Parameters()[0], half, variable)))
		}
		return g.use("optFlatMap:2", form("($).optFlatMap($, $)", over, leaf(variable.name), g.within(want, half, variable)))
	}
	return nil
}

// use notes that a macro is used.
func (g *generator) use(name string, made *tree) *tree {
	g.macros[name] = true
	return made
}

func (g *generator) boolMacro(half int) *tree {
	if g.one(4) {
		return g.use("has:1", leaf("has("+g.hasPath()+")"))
	}
	r := g.ranged(half)
	if g.one(2) {
		name := pick(g.random, "all", "exists", "exists_one")
		return g.use(name+":2", form("($)."+name+"($, $)", r.over, leaf(r.one.name), g.within(cel.BoolType, half, r.one)))
	}
	name := pick(g.random, "all", "exists", "exists_one", "existsOne")
	return g.use(name+":3", form("($)."+name+"($, $, $)", r.over, leaf(r.key.name), leaf(r.value.name), g.within(cel.BoolType, half, r.key, r.value)))
}

func (g *generator) listMacro(want *cel.Type, half int) *tree {
	element := want.Parameters()[0]
	r := g.ranged(half)
	switch g.random.IntN(6) {
	case 0:
		return g.use("map:2", form("($).map($, $)", r.over, leaf(r.one.name), g.within(element, half, r.one)))
	case 1:
		return g.use("map:3", form("($).map($, $, $)", r.over, leaf(r.one.name), g.within(cel.BoolType, half/2, r.one), g.within(element, half/2, r.one)))
	case 2:
		variable := local{pick(g.random, names...), element, nil}
		return g.use("filter:2", form("($).filter($, $)", g.make(want, half), leaf(variable.name), g.within(cel.BoolType, half, variable)))
	case 3:
		return g.use("transformList:3", form("($).transformList($, $, $)", r.over, leaf(r.key.name), leaf(r.value.name), g.within(element, half, r.key, r.value)))
	case 4:
		return g.use("transformList:4", form("($).transformList($, $, $, $)", r.over, leaf(r.key.name), leaf(r.value.name), g.within(cel.BoolType, half/2, r.key, r.value), g.within(element, half/2, r.key, r.value)))
	}
	variable := local{pick(g.random, names...), element, nil}
	key := pick(g.random, cel.IntType, cel.StringType, cel.DoubleType, cel.UintType, cel.BoolType, cel.BytesType, cel.DurationType, cel.TimestampType, cel.DynType)
	return g.use("sortBy:2", form("($).sortBy($, $)", g.make(want, half), leaf(variable.name), g.within(key, half, variable)))
}

func (g *generator) mapMacro(want *cel.Type, half int) *tree {
	key, value := want.Parameters()[0], want.Parameters()[1]
	r := g.ranged(half)
	filter := func() *tree { return g.within(cel.BoolType, half/2, r.key, r.value) }
	switch {
	case g.one(2):
		entries := g.within(want, half, r.key, r.value)
		if g.one(2) {
			return g.use("transformMapEntry:4", form("($).transformMapEntry($, $, $, $)", r.over, leaf(r.key.name), leaf(r.value.name), filter(), entries))
		}
		return g.use("transformMapEntry:3", form("($).transformMapEntry($, $, $)", r.over, leaf(r.key.name), leaf(r.value.name), entries))
	case !r.key.kind.IsExactType(key):
		return nil
	case g.one(2):
		return g.use("transformMap:4", form("($).transformMap($, $, $, $)", r.over, leaf(r.key.name), leaf(r.value.name), filter(), g.within(value, half/2, r.key, r.value)))
	}
	return g.use("transformMap:3", form("($).transformMap($, $, $)", r.over, leaf(r.key.name), leaf(r.value.name), g.within(value, half, r.key, r.value)))
}
