// Command extensions prints expressions that call the functions of cel-go's strings, lists and sets libraries, one a line in
// hexadecimal: every form with every operand, and calls with random operands. The program of ../eval evaluates them.
package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"math/rand"
	"os"
	"strings"
)

// missing is an operand that fails.
const missing = "object.nosuch"

var texts = []string{
	"'héllo wörld'", "''", "'a'", "'aaa'", "'abcabc'", "'a,b,,c'", "text", "long", "'  \\t x\\u00a0\\u2003'", "'é'", "'日本語 😁'",
	"'TacoCÆt'", "crd.metadata.name", "object.metadata.name", "'%'", "'\"q\"\\n\\\\'",
}

var parts = []string{"'a'", "''", "'l'", "'é'", "'abc'", "','", "'wörld'", "'日'", "object.metadata.name", "'zz'", "' '"}

var integers = []string{"0", "1", "2", "3", "5", "-1", "10", "100", "9223372036854775807", "-9223372036854775807 - 1", "numbers[4]"}

// depths are small: what a call costs with greater ones depends on the processor that upstream runs on.
var depths = []string{"0", "1", "2", "3", "-1", "100", missing}

var anything = []string{
	"null", "true", "false", "1", "-7", "255u", "1.5", "-0.0", "1234567.8915", "0.1", "1e21", "1e-7", "2.5", "(0.0/0.0)", "(1.0/0.0)", "(-1.0/0.0)",
	"'s'", "'NaN'", "'Infinity'", "'-Infinity'", "'q\"\\n\\u0007'", "b'abc'", "b'\\xff'", "duration('90m')", "timestamp('2024-02-29T12:34:56.5Z')",
	"[1, 2]", "['a', 'b']", "[[1], ['a', 2.0]]", "{'b': 1, 'a': [true, null]}", "{1: 'x', 2: 1.5}", "{true: 1u}", "{}", "[]", "int", "type([])",
	"optional.of(1)", "optional.none()", "object.spec.containers[0]", "object.metadata", "crd.metadata", "crd.spec.matrix", "[1] + [2]",
	"object.status", "object.spec.priority", missing, "nothing", "[dyn(1.5), duration('1s'), timestamp('2024-01-01T00:00:00Z'), b'x', int, 3u]",
}

// scalars are printed alike by everyone; upstream prints addresses of some other values.
var scalars = []string{"null", "true", "1", "255u", "1.5", "-0.0", "1e21", "'s'", "b'abc'", "duration('90m')", "timestamp('2024-02-29T12:34:56.5Z')", "int", "type([])", "type({})", "type(optional.none())", "[1, 2]", "{'a': 1}"}

var lists = []string{
	"[]", "[1, 2, 3]", "[3, 1, 2]", "[1u, 3u, 2u]", "[2.5, -1.0, 2.5]", "[true, false, true]", "['b', 'a', 'c', 'a']", "[b'b', b'a']",
	"[duration('2s'), duration('1s')]", "[timestamp('2024-01-01T00:00:00Z'), timestamp('2023-01-01T00:00:00Z')]", "numbers", "crd.spec.matrix",
	"[[1, 2], [3]]", "[[[1]], [[2], [3]]]", "[1] + [1]", "object.spec.containers", "object.spec.containers[0].args", "object.spec.securityContext.supplementalGroups",
	"crd.spec.containers", "[{'a': 1}, {'a': 1.0}]", "[null, null]", "[dyn(1), dyn(1u), dyn(1.0), dyn('1')]", "[(0.0/0.0), 1.0, (0.0/0.0)]", "patterns",
	"[type(1), type(2)]", "[[1], [1], [2]]", "[dyn(1), dyn('a')]",
}

var notLists = []string{"1", "'a'", "b'a'", "{'a': 1}", "null", "true", "1.0", "2u", "int", "optional.of(1)", "duration('1s')", "object", "crd", "object.metadata.labels",
	"timestamp('2024-01-01T00:00:00Z')", missing}

// forms are calls; %t is a text, %p a part, %i an integer, %d a depth, %l a list, %n what is no list,
// %s a scalar, %a anything.
var forms = []string{
	"%t.charAt(%i)", "%t.indexOf(%p)", "%t.indexOf(%p, %i)", "%t.lastIndexOf(%p)", "%t.lastIndexOf(%p, %i)", "%t.lowerAscii()", "%t.upperAscii()",
	"%t.replace(%p, %p)", "%t.replace(%p, %p, %i)", "%t.split(%p)", "%t.split(%p, %i)", "%t.substring(%i)", "%t.substring(%i, %i)", "%t.trim()",
	"strings.quote(%t)", "%t.split(%p).join(%p)", "%t.split(%p).join()", "dyn(%a).charAt(1)", "dyn(%a).lowerAscii()", "dyn(%a).trim()", "dyn(%a).split('a')",
	"dyn(%a).substring(1)", "dyn(%a).substring(0, 1)", "dyn(%a).replace('a', 'b')", "%t.replace(dyn(%a), 'b')", "%t.substring(dyn(%a))", "%t.charAt(dyn(%a))",
	"strings.quote(dyn(%a))", "dyn(%a).join()", "dyn(%a).join(',')", "[dyn('x'), dyn(%s)].join('-')", "dyn(%l).join(%p)",
	"'%%s'.format([dyn(%a)])", "'%%d'.format([dyn(%a)])", "'%%f'.format([dyn(%a)])", "'%%e'.format([dyn(%a)])", "'%%b'.format([dyn(%a)])", "'%%x'.format([dyn(%a)])",
	"'%%X'.format([dyn(%a)])", "'%%o'.format([dyn(%a)])", "'%%.3f'.format([dyn(%a)])", "'%%.0f'.format([dyn(%a)])", "'%%.20f'.format([dyn(%a)])", "'%%.14e'.format([dyn(%a)])",
	"'%%.0e'.format([dyn(%a)])", "'%%.256f'.format([dyn(%a)])", "'%%.300f'.format([dyn(%a)])", "'%%.32767f'.format([dyn(%a)])", "'%%.32768f'.format([dyn(%a)])",
	"'%%.40001f'.format([dyn(%a)])", "'%%.10000009f'.format([dyn(%a)])", "'%%.10000010f'.format([dyn(%a)])", "'%%.10000010e'.format([dyn(%a)])", "'%%.70000e'.format([dyn(%a)]).size()",
	"'%%s %%%% %%s'.format([dyn(%a), [%l]])", "'%%s'.format(%l)", "'%%s|%%s'.format(%l)", "dyn(%t).format(%l)", "(text + '%%é').format(%l)", "(text + '%%').format(%l)",
	"(text + '%%.5').format(%l)", "(text + '%%.f').format(%l)", "(text + '%%.99999999999999999999f').format(%l)", "(text + '%%q%%').format(%l)", "'%%s'.format(dyn(%a))",
	"'%%s'.format([{dyn(%a): 1}])", "'%%s'.format([{'k': dyn(%a)}])", "'%%s'.format([[dyn(%a)]])",
	"%l.slice(%i, %i)", "%l.reverse()", "%l.distinct()", "%l.flatten()", "%l.flatten(%d)", "dyn(%l).flatten(%d)", "%l.sort()", "dyn(%l).sort()", "%l.sortBy(x, x)",
	"%l.sortBy(x, -x)", "%l.sortBy(x, string(x))", "%l.sortBy(x, dyn(%a))", "%l.sortBy(x, x.name)", "%l.first()", "%l.last()", "lists.range(%i)", "lists.range(dyn(%a))",
	"dyn(%n).slice(0, 1)", "dyn(%n).reverse()", "dyn(%n).distinct()", "dyn(%n).flatten()", "dyn(%n).flatten(1)", "dyn(%l).flatten(dyn(%n))", "dyn(%n).sort()", "dyn(%n).sortBy(x, x)",
	"[1, 2].slice(dyn(%n), 1)", "dyn(%n).distinct().size() > 0 || true", "[[1]].flatten(int(dyn(%n)))", "[int(dyn(%n))].sort()", "[dyn(%a), dyn(%a)].distinct()", "[dyn(%a), dyn(%a)].sort()",
	"sets.contains(%l, %l)", "sets.equivalent(%l, %l)", "sets.intersects(%l, %l)", "sets.contains(dyn(%n), [1])", "sets.contains(dyn(%l), dyn(%l))", "sets.equivalent(dyn(%l), dyn(%l))",
	"sets.intersects(dyn(%l), dyn(%l))", "sets.contains([1], dyn(%n))", "sets.contains([dyn(%a)], [dyn(%a)])", "sets.intersects([dyn(%a)], [dyn(%a)])",
	"lists.range(%i).sortBy(x, x %% 3)", "lists.range(37).map(x, x * 7 %% 11).sort()", "lists.range(%i).reverse().sortBy(x, x / 4)", "numbers.map(x, x * %i %% 13).sortBy(x, x %% 2)",
	"(lists.range(200) + lists.range(%i)).sortBy(x, x %% 5)", "lists.range(300).sortBy(x, (x * 37) %% %i)", "lists.range(120).sortBy(x, x < 60 ? x : 120 - x)",
	"lists.range(90).sortBy(x, x %% 7 == 0 ? (0.0/0.0) : double(x * 31 %% 17))", "lists.range(1000).distinct().size()", "lists.range(600).distinct().size()",
	"sets.contains(lists.range(1000), lists.range(1000))", "sets.contains(lists.range(999), lists.range(1000))", "sets.equivalent(lists.range(800), lists.range(800))",
	"lists.range(999989).size()", "lists.range(999990).size()", "lists.range(1000000).size()", "lists.range(1000001).size()",
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	random := rand.New(rand.NewSource(1))
	seen := map[string]bool{}
	put := func(expression string) {
		if !seen[expression] {
			seen[expression] = true
			fmt.Fprintln(out, hex.EncodeToString([]byte(expression)))
		}
	}
	for _, form := range forms {
		for n := range 120 {
			put(fill(form, func(pool []string) string { return pick(random, pool, n) }))
		}
	}
}

// fill puts operands into a form.
func fill(form string, operand func([]string) string) string {
	var out strings.Builder
	for i := 0; i < len(form); i++ {
		if form[i] != '%' || i+1 == len(form) {
			out.WriteByte(form[i])
			continue
		}
		i++
		switch form[i] {
		case 't':
			out.WriteString(operand(texts))
		case 'p':
			out.WriteString(operand(parts))
		case 'i':
			out.WriteString(operand(integers))
		case 's':
			out.WriteString(operand(scalars))
		case 'd':
			out.WriteString(operand(depths))
		case 'a':
			out.WriteString(operand(anything))
		case 'l':
			out.WriteString(operand(lists))
		case 'n':
			out.WriteString(operand(notLists))
		default:
			out.WriteByte(form[i])
		}
	}
	return out.String()
}

// pick takes each operand once and then at random.
func pick(random *rand.Rand, pool []string, n int) string {
	if n < len(pool) && random.Intn(3) > 0 {
		return pool[n]
	}
	return pool[random.Intn(len(pool))]
}
