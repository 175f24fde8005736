package differential

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// generator makes expressions: mostly well-typed ones, of all functions alike.
type generator struct {
	random     *rand.Rand
	signatures []*signature
	// frequent are those that policies call most, and that take values of most kinds.
	frequent []*signature
	// byResult are the overloads that can give a type.
	byResult map[string][]*signature
	// tried counts how often each overload was taken, so that rare ones are preferred.
	tried  map[string]int
	shape  *shape
	locals []local
	// macros are those of the expression being made.
	macros map[string]bool
}

// local is a variable of a comprehension.
type local struct {
	name string
	kind *cel.Type
	// shape is what is known of a dyn; may be nil.
	shape *shape
}

func newGenerator(env *cel.Env, seed, stream uint64) (*generator, error) {
	shape, err := objectShape(objectTexts)
	if err != nil {
		return nil, err
	}
	g := &generator{
		random: rand.New(rand.NewPCG(seed, stream)), signatures: signatures(env), byResult: map[string][]*signature{}, tried: map[string]int{}, shape: shape,
	}
	for _, s := range g.signatures {
		if slices.Contains(frequent, s.id) {
			g.frequent = append(g.frequent, s)
		}
	}
	return g, nil
}

func (g *generator) one(n int) bool { return g.random.IntN(n) == 0 }

// expression makes an expression of any type, and says which macros it has.
func (g *generator) expression() (*tree, map[string]bool) {
	g.locals, g.macros = g.locals[:0], map[string]bool{}
	size := 2 + g.random.IntN(5)*g.random.IntN(6)
	if g.one(2) {
		// A call that had few turns so far.
		return g.callOf(g.rarest(g.signatures, 12), nil, size), g.macros
	}
	if g.one(3) {
		return g.callOf(pick(g.random, g.frequent...), nil, size), g.macros
	}
	if g.one(6) {
		return g.message(cel.DynType, size), g.macros
	}
	return g.make(g.anyType(2), size), g.macros
}

// plainTypes are the types without parameters; the first few are the ones that values mostly have.
var plainTypes = []*cel.Type{
	cel.BoolType, cel.IntType, cel.StringType, cel.DynType, cel.DoubleType, cel.UintType, cel.BytesType, cel.DurationType, cel.TimestampType, cel.NullType,
	cel.ObjectType("kubernetes.Quantity"), cel.OpaqueType("net.IP"), cel.OpaqueType("net.CIDR"), cel.ObjectType("kubernetes.URL"), cel.ObjectType("kubernetes.Semver"), cel.ObjectType("kubernetes.NamedFormat"),
	cel.ObjectType("kubernetes.authorization.Decision"), cel.ObjectType("kubernetes.authorization.ResourceCheck"),
}

func (g *generator) anyType(depth int) *cel.Type {
	if depth > 0 && g.one(4) {
		switch g.random.IntN(6) {
		case 0, 1, 2:
			return cel.ListType(g.anyType(depth - 1))
		case 3:
			return cel.MapType(g.keyType(), g.anyType(depth-1))
		case 4:
			return cel.OptionalType(g.anyType(depth - 1))
		default:
			return types.NewTypeTypeWithParam(g.anyType(depth - 1))
		}
	}
	if g.one(2) {
		return plainTypes[g.random.IntN(4)]
	}
	return pick(g.random, plainTypes...)
}

func (g *generator) keyType() *cel.Type {
	return pick(g.random, cel.StringType, cel.StringType, cel.IntType, cel.UintType, cel.BoolType, cel.DynType)
}

// make makes an expression of the wanted type; size is about how many parts it may have.
func (g *generator) make(want *cel.Type, size int) *tree {
	switch {
	case g.one(50):
		// Of another type, behind dyn or not.
		other := g.make(g.anyType(1), size)
		if g.one(3) {
			return other
		}
		return form("dyn($)", other)
	case want.Kind() == types.DynKind && size > 1 && g.one(2):
		return form("dyn($)", g.make(g.anyType(2), size-1))
	case size <= 1 || g.one(12):
		return g.simple(want)
	case g.one(3):
		if made := g.macro(want, size-1); made != nil {
			return made
		}
	case g.one(5):
		if made := g.aggregate(want, size-1); made != nil {
			return made
		}
	case g.one(12):
		if made := g.message(want, size-1); made != nil {
			return made
		}
	case g.one(8):
		// A field of a map, or an entry of one.
		return form(pick(g.random, "($).a", "($)['a']"), g.make(cel.MapType(cel.StringType, want), size-1))
	}
	return g.call(want, size-1)
}

// call makes a call of an overload that gives the wanted type.
func (g *generator) call(want *cel.Type, size int) *tree {
	candidates := g.candidates(want)
	if len(candidates) == 0 {
		return g.simple(want)
	}
	return g.callOf(g.rarest(candidates, 3), want, size)
}

// rarest is the least often tried of some candidates.
func (g *generator) rarest(candidates []*signature, of int) *signature {
	chosen := pick(g.random, candidates...)
	for range of {
		if other := pick(g.random, candidates...); g.tried[other.id] < g.tried[chosen.id] {
			chosen = other
		}
	}
	return chosen
}

// callOf makes a call of an overload, of the wanted type if there is one.
func (g *generator) callOf(chosen *signature, want *cel.Type, size int) *tree {
	g.tried[chosen.id]++
	bound := bindings{}
	if want != nil {
		bound.match(chosen.result, want)
	}
	if chosen.function == "_?._" {
		return form("($).?$", g.make(cel.DynType, size), leaf(g.fieldName()))
	}
	args := make([]*tree, len(chosen.args))
	if edges := g.edges(chosen); edges != nil {
		return chosen.render(edges)
	}
	for i, declared := range chosen.args {
		kind := bound.apply(declared, func(string) *cel.Type {
			if strings.HasSuffix(chosen.function, "]") || strings.HasPrefix(chosen.id, "@mapInsert") {
				return g.keyType()
			}
			return g.anyType(1)
		})
		args[i] = g.argument(chosen, i, kind, g.share(size, len(chosen.args)))
	}
	return chosen.render(args)
}

// edges are arguments that lie at the edges of what a function takes: values of all kinds where it takes any type, equal ones where it
// compares, the ends of the range where it computes.
func (g *generator) edges(s *signature) []*tree {
	if !g.one(2) {
		return nil
	}
	operand := func() *tree {
		if g.one(2) {
			return form("dyn($)", leaf(pick(g.random, operands[:plainOperands]...)))
		}
		return form("dyn($)", leaf(pick(g.random, operands...)))
	}
	end := func(kind string) *tree { return leaf(pick(g.random, ends[kind]...)) }
	switch s.id {
	case "equals", "not_equals":
		left := operand()
		switch g.random.IntN(6) {
		case 0:
			return []*tree{left, left}
		case 1:
			// A list of the same length.
			list := leaf(pick(g.random, objectLists...))
			if g.one(2) {
				list = g.path(cel.ListType(cel.DynType))
			}
			if list != nil {
				return []*tree{list, form("$.map(x, $)", list, operand())}
			}
		case 2:
			kind := pick(g.random, plainTypes...)
			return []*tree{g.simple(kind), g.simple(kind)}
		case 3:
			from := libraryOperands
			if g.one(2) {
				from = from[:plainQuantities]
			}
			return []*tree{leaf(pick(g.random, from...)), leaf(pick(g.random, from...))}
		case 4:
			// In an optional, whose cost is that of what is in it.
			return []*tree{form("optional.of($)", left), form("optional.of($)", operand())}
		}
		return []*tree{left, operand()}
	case "optional_of", "optional_ofNonZeroValue", "type", "to_dyn":
		return []*tree{operand()}
	case "index_map", "map_optindex_optional_value":
		return []*tree{leaf(pick(g.random, numberedMaps...)), form("dyn($)", leaf(pick(g.random, keys...)))}
	case "in_map":
		return []*tree{form("dyn($)", leaf(pick(g.random, keys...))), leaf(pick(g.random, numberedMaps...))}
	case "cidr_contains_cidr_string":
		return []*tree{form("cidr($)", end("cidr")), end("cidr")}
	case "in_list":
		return []*tree{operand(), sequence("[", ", ", "]", []*tree{operand(), operand(), operand()})}
	case "string_index_of_string_int", "string_last_index_of_string_int":
		// From within the text, and from its end.
		text := pick(g.random, ends["text"]...)
		size := len([]rune(text)) - len("''")
		return []*tree{leaf(text), end("part"), leaf(fmt.Sprint(pick(g.random, 0, 1, size/2, size-1, size, size, size+1)))}
	case "string_to_bool":
		return []*tree{leaf(g.literal(pick(g.random, pools["boolean"]...)))}
	case "list_slice":
		list := sequence("[", ", ", "]", []*tree{operand(), operand(), operand()})
		return []*tree{list, leaf(pick(g.random, "0", "1", "3", "4")), leaf(pick(g.random, "0", "2", "3", "4", "-1"))}
	case "list_flatten":
		return []*tree{leaf(pick(g.random, nestedLists...))}
	case "list_flatten_int":
		return []*tree{leaf(pick(g.random, nestedLists...)), leaf(pick(g.random, "0", "1", "2", "3", "-1"))}
	case "list_includes_dyn_dyn":
		return []*tree{operand(), operand()}
	case "negate_int64":
		return []*tree{end("int")}
	}
	operation, kind, _ := strings.Cut(s.id, "_")
	if slices.Contains([]string{"add", "subtract", "multiply", "divide", "modulo"}, operation) && ends[strings.TrimSuffix(kind, "64")] != nil {
		kind = strings.TrimSuffix(kind, "64")
		return []*tree{end(kind), end(kind)}
	}
	return nil
}

// share is a part of a size for one of n.
func (g *generator) share(size, n int) int {
	return min(size, 1+g.random.IntN(2*size/n+1))
}

func (g *generator) candidates(want *cel.Type) []*signature {
	key := typeKey(want)
	found, ok := g.byResult[key]
	if !ok {
		for _, s := range g.signatures {
			if (bindings{}).match(s.result, want) {
				found = append(found, s)
			}
		}
		g.byResult[key] = found
	}
	return found
}

// typeKey is a type's name in the pools.
func typeKey(t *cel.Type) string {
	switch t.Kind() {
	case types.TimestampKind:
		return "timestamp"
	case types.DurationKind:
		return "duration"
	case types.TypeKind:
		return "type"
	}
	return t.String()
}

// argument makes an argument: often a text from the pool that the function's arguments come from.
func (g *generator) argument(s *signature, i int, kind *cel.Type, size int) *tree {
	pools := hints[s.function]
	if kind.Kind() == types.StringKind && i < len(pools) && pools[i] != "" && !g.one(8) {
		return g.text(pools[i])
	}
	if s.id == "lists_range" {
		// What upstream does with a list takes time with the square of its length.
		return leaf(pick(g.random, "0", "1", "3", "10", "37", "100", "300", "-1"))
	}
	if s.id == "list_flatten_int" && i == 1 {
		// What great depths cost depends on the processor that upstream runs on.
		return leaf(pick(g.random, "0", "1", "2", "3", "-1", "100"))
	}
	if g.one(60) {
		return leaf("null")
	}
	if kind.Kind() == types.IntKind && (strings.HasPrefix(s.id, "string_") || s.id == "list_slice") && !g.one(4) {
		return leaf(pick(g.random, "0", "1", "2", "3", "4", "5", "6", "-1", "40"))
	}
	if kind.Kind() == types.ListKind && g.one(10) {
		// What the declaration does not let through.
		elements := []*tree{leaf(pick(g.random, operands...)), leaf(pick(g.random, operands...)), leaf(pick(g.random, operands...))}
		return form("dyn($)", sequence("[dyn(", "), dyn(", ")]", elements[:1+g.random.IntN(3)]))
	}
	if strings.Contains(s.id, "map_") && i > 0 && g.one(4) {
		return form("dyn($)", leaf(pick(g.random, "1", "1u", "1.0", "0", "0u", "2", "true", "'a'", "null", "7u")))
	}
	if s.id == "map_optindex_optional_value" || s.id == "index_map" || s.id == "in_map" {
		if kind.Kind() == types.StringKind && g.one(2) {
			return g.text(pick(g.random, "key", "text"))
		}
	}
	if g.one(2) {
		return g.simple(kind)
	}
	return g.make(kind, size)
}

// text is a string from a pool, sometimes changed, and sometimes hidden from the checker and from folding.
func (g *generator) text(pool string) *tree {
	// What is valid comes first in the pools.
	texts := pools[pool]
	at := g.random.IntN(len(texts))
	if !g.one(3) {
		at = min(at, g.random.IntN(len(texts)), g.random.IntN(len(texts)))
	}
	made := leaf(g.literal(g.mutate(texts[at])))
	switch g.random.IntN(16) {
	case 0:
		return form("dyn($)", made)
	case 1:
		return form("$ + ''", made)
	case 2:
		return g.simple(cel.StringType)
	}
	return made
}

// mutate changes a few characters, now and then.
func (g *generator) mutate(text string) string {
	if !g.one(8) || len(text) > 400 {
		return text
	}
	alphabet := []rune("019.-+:/%[]@?#&;=eEiKMGnxaZ é\u00a0\u200b\t~_'\"\\")
	runes := []rune(text)
	for range 1 + g.random.IntN(2) {
		at := g.random.IntN(len(runes) + 1)
		r := alphabet[g.random.IntN(len(alphabet))]
		switch {
		case at == len(runes) || g.one(3):
			runes = append(runes[:at], append([]rune{r}, runes[at:]...)...)
		case g.one(2):
			runes[at] = r
		default:
			runes = append(runes[:at], runes[at+1:]...)
		}
	}
	if hugeExponent.MatchString(string(runes)) {
		return text
	}
	return string(runes)
}

// hugeExponent matches quantities that upstream does not come to an end with.
var hugeExponent = regexp.MustCompile(`[eE][+-]?\d{4,}`)

// literal writes a string in one of CEL's ways.
func (g *generator) literal(text string) string {
	quote := pick(g.random, "'", "'", "'", "\"", "'''", "\"\"\"")
	var out strings.Builder
	out.WriteString(quote)
	for _, r := range text {
		switch {
		case r == '\\' || r == rune(quote[0]):
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case unicode.IsControl(r) && r < 0x80:
			fmt.Fprintf(&out, pick(g.random, `\x%02x`, `\%03o`, `\u%04x`), r)
		case r > 0xffff && g.one(2) || unicode.IsControl(r):
			fmt.Fprintf(&out, `\U%08x`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteString(quote)
	return out.String()
}

// simple makes a literal or reads a variable.
func (g *generator) simple(want *cel.Type) *tree {
	if g.one(2) {
		if made := g.local(want); made != nil {
			return made
		}
	}
	key := typeKey(want)
	if from := reads[key]; len(from) > 0 && g.one(3) && key != "string" {
		return leaf(pick(g.random, from...))
	}
	if g.one(3) {
		if made := g.path(want); made != nil {
			return made
		}
	}
	switch want.Kind() {
	case types.StringKind:
		if g.one(4) {
			return leaf(pick(g.random, reads["string"]...))
		}
		return leaf(g.literal(pick(g.random, stringPool...)))
	case types.IntKind:
		if g.one(6) {
			return leaf(fmt.Sprint(g.random.Int64() >> g.random.IntN(64)))
		}
	case types.DoubleKind:
		if g.one(8) {
			return leaf(fmt.Sprintf("%g", math.Ldexp(g.random.Float64()-0.5, g.random.IntN(140)-70)) + pick(g.random, "", "0"))
		}
	case types.DurationKind:
		return form("duration($)", g.text("duration"))
	case types.TimestampKind:
		return form("timestamp($)", g.text("time"))
	case types.ListKind:
		return sequence("[", ", ", "]", g.several(want.Parameters()[0], g.random.IntN(4), 1))
	case types.MapKind:
		return g.mapLiteral(want, g.random.IntN(3), 1)
	case types.StructKind:
		if constructor, known := constructors[key]; known && g.one(2) {
			return form(constructor[0]+"($)", g.text(constructor[1]))
		}
	case types.OpaqueKind:
		if constructor, known := constructors[key]; known && g.one(2) {
			return form(constructor[0]+"($)", g.text(constructor[1]))
		}
		if isOptional(want) {
			if g.one(3) {
				return leaf("optional.none()")
			}
			return form("optional.of($)", g.simple(want.Parameters()[0]))
		}
	case types.DynKind:
		if made := g.path(want); made != nil && !g.one(3) {
			return made
		}
	}
	if from := literals[key]; len(from) > 0 {
		return leaf(pick(g.random, from...))
	}
	if from := reads[key]; len(from) > 0 {
		return leaf(pick(g.random, from...))
	}
	return leaf("dyn(null)")
}

func (g *generator) several(kind *cel.Type, n, size int) []*tree {
	all := make([]*tree, n)
	for i := range all {
		all[i] = g.make(kind, size)
	}
	return all
}

// aggregate makes a literal list, map or optional of parts that are expressions.
func (g *generator) aggregate(want *cel.Type, size int) *tree {
	switch {
	case want.Kind() == types.ListKind:
		n := 1 + g.random.IntN(3)
		elements := g.several(want.Parameters()[0], n, size/n)
		if g.one(6) {
			elements[0] = form("?$", g.make(cel.OptionalType(want.Parameters()[0]), size/n))
		}
		return sequence("[", ", ", "]", elements)
	case want.Kind() == types.MapKind:
		n := 1 + g.random.IntN(3)
		return g.mapLiteral(want, n, size/n)
	}
	return nil
}

func (g *generator) mapLiteral(want *cel.Type, n, size int) *tree {
	key, value := want.Parameters()[0], want.Parameters()[1]
	entries := make([]*tree, n)
	for i := range entries {
		name := g.make(key, 1)
		if key.Kind() == types.StringKind && !g.one(3) {
			name = leaf(pick(g.random, "'a'", "'b'", "'app'"))
		}
		if g.one(10) {
			entries[i] = form("?$: $", name, g.make(cel.OptionalType(value), size))
			continue
		}
		entries[i] = form("$: $", name, g.make(value, size))
	}
	return sequence("{", ", ", "}", entries)
}
