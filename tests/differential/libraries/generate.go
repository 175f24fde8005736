package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"unicode"
)

// generator makes expressions from texts that are nearly right.
type generator struct {
	*rand.Rand
}

func (g generator) pick(from []string) string { return from[g.IntN(len(from))] }

var (
	quantities = []string{
		"0", "1", "-1", "1.5", "-0.25", "100m", "1k", "20Ki", "1Mi", "3.5Gi", "9223372036854775807", "-9223372036854775808",
		"9223372036854775808", "8Ei", "7Ei", "0.5Pi", "1e3", "12E6", "1e-9", "1n", "5u", "999999999999999999", "1234567890123456789012",
		"0.0000000001", "1.0000000001", "1.23456789012345678901Mi", "10000000000000000000000E", "1e18", "1e19", "1e30", "-3e300", "0e5",
		".5", "5.", "+7", "-", "1K", "1e", "1ee2", "e3", "1.2.3", "Mi", "0.1Ki", "1e+6", "1E-3", "00012", "0.000m",
	}
	addresses = []string{
		"127.0.0.1", "0.0.0.0", "255.255.255.255", "10.1.2.3", "224.0.0.9", "239.1.1.1", "169.254.7.8", "192.168.1.300", "01.2.3.4", "1.2.3",
		"1.2.3.4.5", "::", "::1", "fe80::1", "fe80::1%eth0", "fe80::1%", "ff02::1", "ff00::", "fd00::abcd", "2001:db8::1", "2001:DB8:0:0::1",
		"2001:db8:1:2:3:4:5:6", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7", "::ffff:1.2.3.4", "64:ff9b::1.2.3.4", "1::2::3", "12345::", "1:2:3:4:5:6:1.2.3.4",
		"1:2:3:4:5:6:7::", "0:0:1:0:0:0:1:0", "g::1", ":1", "1:", "%", "", "é",
	}
	urls = []string{
		"https://user:pa%20ss@example.com:80/path?query=val#fragment", "/absolute-path", "https://a:b:c/", "../relative-path", "http://[::1]:80/",
		"http://[fe80::1%25en0]/", "http://[1.2.3.4]/", "http://[::1", "mailto:a@b", "mailto:", "http://host/a b?k=v w&k=%zz&k", "*", "", "//host/x", "//host:x/y",
		"http://é.com/ü?ä=ö", "http://ho%20st/", "http://%ff/", "http://h/%zz", "http://h/%41%2f%ff", "HTTP://H/?", "http://h??", "http://h?a=1;b=2&c=3", "://x", "1http://x",
		"a+b.c-d://x/y", "http://h:port/", "http://a@b@c/", "http://u@h", "http:///p", "http://h#%zz", "http:/p#f'(", "foo:bar?x#y", "http://h:/", "x://a:b:1/", "/p?a=b&a=c&d",
	}
	versions = []string{
		"1.2.3", "0.0.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-1.x.02", "1.0.0-01", "1.0.0+build.1", "1.0.0-rc.1+b.2", "v1.2.3", "1.2", "1", "01.2.3", "1.2.3-", "1.2.3+",
		"18446744073709551615.0.9223372036854775808", "18446744073709551616.0.0", "1..3", "a.b.c", "1.2.3.4", "1.2.3-é", "00.00.00", "1.2-x", "", "v", "vv1", "1.2.x-3",
	}
	names = []string{
		"my-name", "MyName", "a.b.c", "a..b", "-a", "a-", "a", "", "example.com/My_Name", "/x", "a/", "a/b/c", "A.B/c", "1abc", "é", strings.Repeat("a", 63), strings.Repeat("a", 64),
		strings.Repeat("ab.", 84) + "a", strings.Repeat("ab.", 85) + "a", "2024-02-29", "2023-02-29", "2024-13-01", "2021-01-01T00:00:00Z", "2021-01-01t23:59:60.5+09:00", "2021-01-01T10:00:00é1Z",
		"123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000", "aGVsbG8=", "aGVsbA==", "aGVsb", "x\ny", "2021-01-01T1:00:00Z", "http://x", "x",
	}
	patterns = []string{
		"[0-9]+", "a*", "", "(a|b)+?", "\\d{2,3}", "\\pL+", "(?i)É", "^x", "y$", "(?m)^.", "[^\\s]", "a{1001}", "(", "[z-a]", "\\8", "(?P<n>a)", "(?<n>a)", "x**", "\\b\\w", "(?s).+", ".", "a||b", "[[:alpha:]]", "(?=a)",
	}
	formats = []string{
		"dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue", "uri", "uuid", "byte", "date", "datetime",
	}
	elements = [][]string{
		{"1", "2", "-3", "9223372036854775807", "dyn(1.5)", "dyn(2u)", "dyn('x')"},
		{"1u", "2u", "18446744073709551615u", "dyn(-1)"},
		{"1.0", "-2.5", "1e308", "double('NaN')", "dyn(3)"},
		{"'a'", "'b'", "'ab'", "'é'", "dyn(b'a')"},
		{"true", "false"},
		{"duration('1s')", "duration('-2m')", "duration('2562047h47m16s')"},
		{"timestamp('2020-01-01T00:00:00Z')", "timestamp('2020-01-01T01:00:00+01:00')"},
		{"b'a'", "b'\\xff'", "b''"},
		{"quantity('1')", "quantity('1').add(1)", "quantity('2')"},
		{"ip('::1')", "ip('1.1.1.1')"},
		{"null", "dyn([1])", "dyn({'a': 1})", "dyn(1)", "dyn('a')"},
	}
)

// mutate changes, inserts or removes a few characters.
func (g generator) mutate(s string) string {
	const letters = "019.-+:/%[]@?#&;=eEiKMGnxaZ é\u00a0\u200b\t~_'\"\\"
	alphabet := []rune(letters)
	runes := []rune(s)
	for range g.IntN(3) {
		at := g.IntN(len(runes) + 1)
		r := alphabet[g.IntN(len(alphabet))]
		switch {
		case at == len(runes) || g.IntN(3) == 0:
			runes = append(runes[:at], append([]rune{r}, runes[at:]...)...)
		case g.IntN(2) == 0:
			runes[at] = r
		default:
			runes = append(runes[:at], runes[at+1:]...)
		}
	}
	return string(runes)
}

// literal writes a string as CEL does.
func literal(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString("\\n")
		case unicode.IsControl(r) || r > 0xffff:
			fmt.Fprintf(&b, "\\U%08x", r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// text is a literal near one of the pool's; sometimes hidden from the checker.
func (g generator) text(pool []string) string {
	s := literal(g.mutate(g.pick(pool)))
	switch g.IntN(12) {
	case 0:
		return "dyn(" + s + ")"
	case 1:
		return "dyn(" + g.pick([]string{"1", "null", "[1]", "b'a'", "'x'", "ip('::1')"}) + ")"
	}
	return s
}

func (g generator) quantity() string {
	q := "quantity(" + g.text(quantities) + ")"
	for range g.IntN(3) {
		switch g.IntN(4) {
		case 0:
			q += ".add(" + "quantity(" + g.text(quantities) + "))"
		case 1:
			q += ".sub(" + "quantity(" + g.text(quantities) + "))"
		case 2:
			q += ".add(" + g.pick([]string{"1", "-1", "9223372036854775807", "dyn(5)", "dyn(5.0)"}) + ")"
		default:
			q += ".sub(" + g.pick([]string{"1", "-9223372036854775807", "0", "dyn(1)"}) + ")"
		}
	}
	return q
}

func (g generator) list(of []string) string {
	items := make([]string, g.IntN(5))
	for i := range items {
		items[i] = g.pick(of)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// choose gives one of the alternatives; only that one is made.
func (g generator) choose(alternatives ...func() string) string {
	return alternatives[g.IntN(len(alternatives))]()
}

func (g generator) expression() string {
	call := func(receiver string, methods ...string) string { return receiver + "." + g.pick(methods) }
	equality := func(a, b string) string { return a + g.pick([]string{" == ", " != "}) + b }
	ip := func() string { return "ip(" + g.text(addresses) + ")" }
	cidr := func() string {
		return "cidr(" + g.text([]string{g.pick(addresses) + "/" + g.pick([]string{"0", "8", "16", "32", "33", "64", "128", "129", "08", "-1", ""})}) + ")"
	}
	url := func() string { return "url(" + g.text(urls) + ")" }
	semver := func() string {
		if g.IntN(2) == 0 {
			return "semver(" + g.text(versions) + ", " + g.pick([]string{"true", "false", "dyn(true)"}) + ")"
		}
		return "semver(" + g.text(versions) + ")"
	}
	return g.choose(
		func() string {
			return call(g.quantity(), "isInteger()", "asInteger()", "asApproximateFloat()", "compareTo("+g.quantity()+")", "isLessThan("+g.quantity()+")", "isGreaterThan("+g.quantity()+")")
		},
		func() string {
			return g.pick([]string{"isQuantity(", "isIP(", "isCIDR(", "isURL("}) + g.text(append(quantities, append(addresses, urls...)...)) + ")"
		},
		func() string { return equality(g.quantity(), g.quantity()) },
		func() string { return "sign(" + g.quantity() + ")" },
		func() string {
			return call(ip(), "family()", "isUnspecified()", "isLoopback()", "isLinkLocalMulticast()", "isLinkLocalUnicast()", "isGlobalUnicast()")
		},
		func() string { return g.pick([]string{"ip.isCanonical(", "isIP("}) + g.text(addresses) + ")" },
		func() string { return "string(" + g.choose(ip, cidr) + ")" },
		func() string { return equality(ip(), ip()) },
		func() string {
			return call(cidr(), "containsIP("+g.text(addresses)+")", "containsIP("+ip()+")", "containsCIDR("+cidr()+")", "containsCIDR("+g.text([]string{"10.0.0.0/8", "::/0", "1.2.3.4/32"})+")",
				"masked()", "prefixLength()", "ip()", "masked() == "+cidr())
		},
		func() string {
			return call(url(), "getScheme()", "getHost()", "getHostname()", "getPort()", "getEscapedPath()", "getQuery()")
		},
		func() string { return equality(url(), url()) },
		func() string {
			return call(semver(), "major()", "minor()", "patch()", "compareTo("+semver()+")", "isLessThan("+semver()+")", "isGreaterThan("+semver()+")")
		},
		func() string { return equality(semver(), semver()) },
		func() string { return "isSemver(" + g.text(versions) + g.pick([]string{"", ", true", ", false"}) + ")" },
		func() string { return "format." + g.pick(formats) + "().validate(" + g.text(names) + ")" },
		func() string { return "format.named(" + g.text(formats) + ").hasValue()" },
		func() string {
			return equality("format."+g.pick(formats)+"()", "format.named("+literal(g.pick(formats))+").value()")
		},
		func() string {
			return call(g.text(names), "find("+g.text(patterns)+")", "findAll("+g.text(patterns)+")", "findAll("+g.text(patterns)+", "+g.pick([]string{"-1", "0", "1", "2", "dyn(1)"})+")")
		},
		func() string {
			of := elements[g.IntN(len(elements))]
			list := g.list(of)
			if g.IntN(3) == 0 {
				list = "dyn(" + list + ")"
			}
			return call(list, "isSorted()", "sum()", "min()", "max()", "indexOf("+g.pick(of)+")", "lastIndexOf("+g.pick(of)+")", "includes("+g.pick(of)+")")
		},
		func() string {
			return g.pick([]string{"1", "'a'", "null", "quantity('1')", "dyn([1])"}) + ".includes(" + g.pick([]string{"1", "1u", "'a'", "null", "dyn(1.0)"}) + ")"
		},
		func() string { return equality(g.list(elements[8]), g.list(elements[8])) },
		func() string { return g.authorization() },
		func() string {
			return equality("type("+g.choose(ip, cidr, url, semver, g.quantity)+")", g.pick([]string{"net.IP", "net.CIDR", "type(quantity('1'))", "string"}))
		},
	)
}

func (g generator) authorization() string {
	account := g.pick([]string{"", "", ".serviceAccount(" + g.text(names) + ", " + g.text(names) + ")"})
	verb := ".check(" + g.pick([]string{"'get'", "'fail'", "'list'", "''", "dyn('get')"}) + ")"
	read := g.pick([]string{".allowed()", ".reason()", ".error()", ".errored()"})
	if g.IntN(3) == 0 {
		return "authorizer" + account + ".path(" + g.text([]string{"/healthz", " ", "", "x"}) + ")" + verb + read
	}
	resource := "authorizer" + account + ".group(" + g.text([]string{"", "apps"}) + ").resource(" + g.text([]string{"pods", "", " "}) + ")"
	if g.IntN(3) == 0 {
		resource = "authorizer.requestResource"
	}
	for range g.IntN(4) {
		if g.IntN(2) == 0 {
			// Not mutated: what the authorizer sees of a selector is not its text.
			selector := literal(g.pick([]string{"a=b", "x", "", "a in (b,c),!d", "spec.x!=y", "!!"}))
			resource += g.pick([]string{".fieldSelector(", ".labelSelector("}) + selector + ")"
			continue
		}
		resource += "." + g.pick([]string{"namespace", "name", "subresource"}) + "(" + g.text([]string{"web", "", "prod"}) + ")"
	}
	return resource + verb + read
}

// hostile exponents keep upstream busy for minutes or for ever; the Rust tests have them.
var hostile = regexp.MustCompile(`[eE][-+]?[0-9]{6}`)

// generate prints expressions; the same seed gives the same ones.
func generate(out *bufio.Writer, count int, seed uint64) {
	g := generator{rand.New(rand.NewPCG(seed, 0))}
	for count > 0 {
		if expression := g.expression(); !hostile.MatchString(expression) {
			fmt.Fprintln(out, expression)
			count--
		}
	}
}
