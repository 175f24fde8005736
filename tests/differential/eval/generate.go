package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// operands are values of all kinds, and errors.
var operands = []string{
	"null", "true", "false", "0", "1", "-1", "2u", "0u", "1.0", "0.5", "(0.0/0.0)", "9223372036854775807", "18446744073709551615u",
	"9223372036854775807.0", "'a'", "''", "'name'", "b'a'", "duration('1s')", "timestamp('2024-01-01T00:00:00Z')",
	"timestamp('2024-01-01T01:00:00+01:00')",
	"[1]", "[]", "['a', 'name']", "[1] + [2]", "[object.spec] + [1]", "{'a': 1}", "{}", "{1: 'x'}", "{1.0: 'y', true: 2}",
	"type(1)", "optional.of(1)", "optional.none()", "optional.of('a')",
	"object", "object.spec", "object.spec.containers", "object.metadata.labels", "object.spec.containers[0].resources",
	"oldObject.spec.containers[0].resources", "oldObject.spec.containers[0].resources.limits",
	"crd", "crd.spec", "crd.spec.containers", "crd.metadata.labels", "crd.spec.one", "crd.spec.nothing", "params.spec", "params.metadata.labels",
	"object.nosuch", "(1 / 0)", "unbound", "text", "numbers", "nothing",
}

var binary = []string{"==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "in", "&&", "||"}

var unary = []string{
	"!dyn(%s)", "-dyn(%s)", "size(dyn(%s))", "type(dyn(%s))", "int(dyn(%s))", "uint(dyn(%s))", "double(dyn(%s))", "string(dyn(%s))",
	"bytes(dyn(%s))", "bool(dyn(%s))", "duration(dyn(%s))", "timestamp(dyn(%s))", "dyn(%s).size()", "dyn(%s).matches('a')",
	"dyn(%s).matches(text)", "'a'.matches(dyn(%s))", "dyn(%s).startsWith('a')", "'a'.contains(dyn(%s))", "dyn(%s).getHours()",
	"dyn(%s).getMilliseconds('UTC')", "has(dyn(%s).a)", "has(dyn(%s).a.b)", "dyn(%s).a", "dyn(%s).?a", "dyn(%s)[?0]", "dyn(%s)[dyn(0u)]",
	"dyn(%s)[?dyn(0u)]", "dyn(%s)[dyn('a')]", "dyn(%s)[0.0]", "dyn(%s)[true]", "dyn(%s)[dyn(null)]", "dyn(%s)[type(1)]",
	"dyn(%s).all(x, x == 1)", "dyn(%s).exists(x, x == 1)", "dyn(%s).exists_one(x, x == 1)", "dyn(%s).map(x, x)", "dyn(%s).filter(x, x != 1)",
	"dyn(%s).all(k, v, k == v)", "dyn(%s).transformList(k, v, [k, v])", "dyn(%s).transformMap(k, v, v)", "dyn(%s).transformMapEntry(k, v, {v: k})",
	"optional.of(%s)", "optional.ofNonZeroValue(dyn(%s))", "dyn(%s).value()", "dyn(%s).hasValue()", "dyn(%s).or(optional.of(2))", "dyn(%s).orValue(2)",
	"optional.of(%s).optMap(x, [x, x])", "optional.of(%s).optFlatMap(x, optional.of([x]))", "dyn(%s).first()", "dyn(%s).last()",
	"dyn(%s).unwrapOpt()", "[dyn(%s), 1]", "{'k': dyn(%s)}", "{dyn(%s): 1}", "[?optional.of(%s)]", "[?dyn(%s)]", "{?'k': dyn(%s)}",
	"dyn(%s) ? 1 : 2", "true ? dyn(%s) : 1", "(true ? dyn(%s) : 1).a", "has((true ? dyn(%s) : {}).a)", "dyn(%s) in [1, 'a', 1.0, true]", "dyn(%s) in ['a', b'c']",
	"[dyn(%s)].all(x, x in ['a', 'b'] || x == 1)", "[1, 2].map(i, dyn(%s))", "[dyn(%s)] == [dyn(1)]", "{'a': dyn(%s)} == {'a': dyn(1)}", "[dyn(1)] + [] == [dyn(%s)]",
	"{dyn('a'): 1}[dyn(%s)]", "[1, 2][dyn(%s)]", "dyn(%s) == null", "null == dyn(%s)", "{'a': 1}[?dyn(%s)]", "[[1, 2], [3]].map(x, x + [dyn(%s)])",
	"[1, 2, 3].filter(i, dyn(%s) == i)", "[1, 2].exists(i, dyn(%s) == i || i == 2)", "object.spec.containers.all(c, dyn(%s))", "string(%s)", "int(%s)", "dyn(%s)",
}

// generatedCases are all operators with all operands.
func generatedCases() ([]string, error) {
	var all []string
	for _, form := range unary {
		for _, operand := range operands {
			all = append(all, fmt.Sprintf(form, operand))
		}
	}
	for _, operator := range binary {
		for _, left := range operands {
			for _, right := range operands {
				all = append(all, fmt.Sprintf("dyn(%s) %s dyn(%s)", left, operator, right))
			}
		}
	}
	return all, nil
}

// fragments are what random patterns are made of.
var fragments = []string{
	"a", "b", "B", "é", "ß", "k", "1", "_", " ", "-", ".", "^", "$", "|", "(", ")", "(?:", "(?i)", "(?s)", "(?m)", "(?i:", "(?-i)", "(?U)", "(?P<n>", "(?<m>",
	"(?", "(?P", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{,2}", "{2,}", "{3,2}", "{0}", "{1001}", "{", "}", "[a-c]", "[^a]", "[a", "[]a]", "[^]a]", "[a-]",
	"[z-a]", "[[:alpha:]]", "[[:^alpha:]_]", "[[:foo:]]", "[\\d-]", "[\\w\\s]", "[^\\W]", "]", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B", "\\A", "\\z", "\\Z",
	"\\pL", "\\PL", "\\p{Lu}", "\\p{^Lu}", "\\p{Greek}", "\\p{Nope}", "\\p", "\\p{", "\\x41", "\\x{e9}", "\\x{110000}", "\\x", "\\101", "\\1", "\\8", "\\n", "\\.", "\\-", "\\_", "\\Q", "\\E",
	"\\Q.*\\E", "\\C", "\\é", "\\", "x{100}", "(a{50})", "ab", "foo|bar",
}

var subjects = []string{"", "a", "aB1 é_", "foo\nbar", "ÉßKk\u212a", "aaaabbbb", ".*-_^$"}

// patternCases are random patterns, in a form that is compiled when the expression runs and in one that is compiled before.
func patternCases() ([]string, error) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []string
	for range 6000 {
		var pattern strings.Builder
		for range 1 + random.IntN(6) {
			pattern.WriteString(fragments[random.IntN(len(fragments))])
		}
		literal := strconv.Quote(pattern.String())
		all = append(all, fmt.Sprintf("%s.map(s, s.matches(%s + ''))", quotedList(subjects), literal))
		if random.IntN(10) == 0 {
			all = append(all, fmt.Sprintf("'aB1'.matches(%s)", literal))
		}
	}
	return all, nil
}

func quotedList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strconv.Quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
