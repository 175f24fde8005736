package differential

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// signature is one overload of a function.
type signature struct {
	function string
	id       string
	member   bool
	args     []*cel.Type
	result   *cel.Type
}

// unspeakable are functions that only macros call.
var unspeakable = []string{"@not_strictly_false", "@sortByAssociatedKeys", "cel.@mapInsert"}

// signatures are the overloads that an expression can name, in a fixed order.
func signatures(env *cel.Env) []*signature {
	var all []*signature
	functions := env.Functions()
	for _, name := range sortedKeys(functions) {
		if slices.Contains(unspeakable, name) || functions[name].IsDeclarationDisabled() {
			continue
		}
		for _, overload := range functions[name].OverloadDecls() {
			all = append(all, &signature{
				function: name, id: overload.ID(), member: overload.IsMemberFunction(), args: overload.ArgTypes(), result: overload.ResultType(),
			})
		}
	}
	return all
}

// bindings are what type parameters stand for.
type bindings map[string]*cel.Type

// match makes a type of a declaration equal to a wanted one by binding its parameters.
func (b bindings) match(declared, wanted *cel.Type) bool {
	if declared.Kind() == types.TypeParamKind {
		name := declared.TypeName()
		if bound, ok := b[name]; ok {
			return bound.IsExactType(wanted)
		}
		b[name] = wanted
		return true
	}
	if declared.Kind() != wanted.Kind() || declared.TypeName() != wanted.TypeName() {
		return false
	}
	theirs := wanted.Parameters()
	for i, parameter := range declared.Parameters() {
		if i >= len(theirs) || !b.match(parameter, theirs[i]) {
			return false
		}
	}
	return true
}

// apply puts what is bound in the place of parameters; what is not bound gets a type from choose.
func (b bindings) apply(t *cel.Type, choose func(name string) *cel.Type) *cel.Type {
	switch {
	case t.Kind() == types.TypeParamKind:
		name := t.TypeName()
		if b[name] == nil {
			b[name] = choose(name)
		}
		return b[name]
	case len(t.Parameters()) == 0:
		return t
	}
	parameters := make([]*cel.Type, len(t.Parameters()))
	for i, parameter := range t.Parameters() {
		parameters[i] = b.apply(parameter, choose)
	}
	switch t.Kind() {
	case types.ListKind:
		return cel.ListType(parameters[0])
	case types.MapKind:
		return cel.MapType(parameters[0], parameters[1])
	case types.TypeKind:
		return types.NewTypeTypeWithParam(parameters[0])
	}
	return cel.OpaqueType(t.TypeName(), parameters...)
}

// render writes a call.
func (s *signature) render(args []*tree) *tree {
	if text, ok := operators[s.function]; ok {
		return form(text, args...)
	}
	if s.member {
		return form("($)."+s.function+"("+strings.Join(slices.Repeat([]string{"$"}, len(args)-1), ", ")+")", args...)
	}
	return form(s.function+"("+strings.Join(slices.Repeat([]string{"$"}, len(args)), ", ")+")", args...)
}

// operators are how functions with symbols for names are written.
var operators = map[string]string{
	"!_": "!($)", "-_": "-($)", "@in": "($) in ($)", "_!=_": "($) != ($)", "_%_": "($) % ($)", "_&&_": "($) && ($)", "_*_": "($) * ($)",
	"_+_": "($) + ($)", "_-_": "($) - ($)", "_/_": "($) / ($)", "_<=_": "($) <= ($)", "_<_": "($) < ($)", "_==_": "($) == ($)",
	"_>=_": "($) >= ($)", "_>_": "($) > ($)", "_?_:_": "($) ? ($) : ($)", "_[?_]": "($)[?$]", "_[_]": "($)[$]", "_||_": "($) || ($)",
}

func isOptional(t *cel.Type) bool {
	return t.Kind() == types.OpaqueKind && t.TypeName() == "optional_type"
}
