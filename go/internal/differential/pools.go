package differential

import "strings"

// stringPool is strings of all kinds, for where no kind is asked for.
var stringPool = []string{
	"", "a", "b", "ab", "abc", "aaa", "A", "name", "x", " ", "  padded\t", "a,b,,c", "true", "1", "-7", "1.5", "é", "ß", "日本語", "\U0001f600", "e\u0301", "\u212a", "héllo wörld", "İ", "\u00a0x\u2003",
	"line\nbreak", "q\"u'o\\te", "%s", "\x00", "\ufeff", "10.0.0.7", "1.5Gi", "1h30m", "2024-02-29T12:34:56Z", "1.2.3", "https://example.com/a?b=c", "^[a-z]+$", "web", "nginx:1.25", "my-name",
	"0123456789012345678901234567890123456789", strings.Repeat("ab", 100), strings.Repeat("é", 300),
}

var pools = map[string][]string{
	"quantity": {
		"0", "1", "-1", "1.5", "-0.25", "100m", "1k", "20Ki", "1Mi", "3.5Gi", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "8Ei", "7Ei", "0.5Pi", "1e3", "12E6", "1e-9", "1n", "5u",
		"999999999999999999", "1234567890123456789012", "0.0000000001", "1.0000000001", "1.23456789012345678901Mi", "10000000000000000000000E", "1e18", "1e19", "1e30", "-3e300", "0e5", ".5", "5.", "+7", "-", "1K", "1e",
		"1ee2", "e3", "1.2.3", "Mi", "0.1Ki", "1e+6", "1E-3", "00012", "0.000m", "64Mi", "67108864", "500m", "0.5", "1.", "2",
	},
	"address": {
		"127.0.0.1", "0.0.0.0", "255.255.255.255", "10.1.2.3", "224.0.0.9", "239.1.1.1", "169.254.7.8", "192.168.1.300", "01.2.3.4", "1.2.3", "1.2.3.4.5", "::", "::1", "fe80::1", "fe80::1%eth0", "fe80::1%", "ff02::1",
		"ff00::", "fd00::abcd", "2001:db8::1", "2001:DB8:0:0::1", "2001:db8:1:2:3:4:5:6", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7", "::ffff:1.2.3.4", "64:ff9b::1.2.3.4", "1::2::3", "12345::", "1:2:3:4:5:6:1.2.3.4",
		"1:2:3:4:5:6:7::", "0:0:1:0:0:0:1:0", "g::1", ":1", "1:", "%", "", "é",
	},
	"cidr": {
		"10.0.0.0/8", "10.0.0.0/16", "10.0.0.0/24", "10.1.2.3/8", "2001:db8::/48", "0.0.0.0/0", "1.2.3.4/32", "1.2.3.4/33", "192.168.0.0/16", "::/0", "fe80::/10", "2001:db8::/32", "::1/128", "::1/129", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0", "::ffff:1.2.3.0/120", "fe80::1%a/64", "/8", "",
	},
	"url": {
		"https://user:pa%20ss@example.com:80/path?query=val#fragment", "/absolute-path", "https://a:b:c/", "../relative-path", "http://[::1]:80/", "http://[fe80::1%25en0]/", "http://[1.2.3.4]/", "http://[::1", "mailto:a@b", "mailto:",
		"http://host/a b?k=v w&k=%zz&k", "*", "", "//host/x", "//host:x/y", "http://é.com/ü?ä=ö", "http://ho%20st/", "http://h/%zz", "http://h/%41%2f%ff", "HTTP://H/?", "http://h??", "http://h?a=1;b=2&c=3", "://x", "1http://x",
		"a+b.c-d://x/y", "http://h:port/", "http://a@b@c/", "http://u@h", "http:///p", "http://h#%zz", "http:/p#f'(", "foo:bar?x#y", "http://h:/", "x://a:b:1/", "/p?a=b&a=c&d", "https://example.com:8443/a/b?x=1&y=2&x=3",
	},
	"version": {
		"1.2.3", "0.0.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-1.x.02", "1.0.0-01", "1.0.0+build.1", "1.0.0-rc.1+b.2", "v1.2.3", "1.2", "1", "01.2.3", "1.2.3-", "1.2.3+", "18446744073709551615.0.9223372036854775808",
		"18446744073709551616.0.0", "1..3", "a.b.c", "1.2.3.4", "1.2.3-é", "00.00.00", "1.2-x", "", "v", "vv1", "1.2.x-3", "2.0.0", "1.10.0",
	},
	"validated": {
		"my-name", "MyName", "a.b.c", "a..b", "-a", "a-", "a", "", "example.com/My_Name", "/x", "a/", "a/b/c", "A.B/c", "1abc", "é", strings.Repeat("a", 63), strings.Repeat("a", 64), strings.Repeat("ab.", 84) + "a",
		strings.Repeat("ab.", 85) + "a", "2024-02-29", "2023-02-29", "2024-13-01", "2021-01-01T00:00:00Z", "2021-01-01t23:59:60.5+09:00", "2021-01-01T10:00:00é1Z", "123e4567-e89b-12d3-a456-426614174000",
		"123E4567E89B12D3A456426614174000", "aGVsbG8=", "aGVsbA==", "aGVsb", "x\ny", "2021-01-01T1:00:00Z", "http://x", "x",
	},
	"pattern": {
		"[0-9]+", "a*", "", "(a|b)+?", "\\d{2,3}", "\\pL+", "(?i)É", "^x", "y$", "(?m)^.", "[^\\s]", "a{1001}", "(", "[z-a]", "\\8", "(?P<n>a)", "(?<n>a)", "x**", "\\b\\w", "(?s).+", ".", "a||b", "[[:alpha:]]", "(?=a)", "^[a-z]+$", "b*",
		"^(a+)+$", "\\w+\\s\\w+", "[é-ü]", "(?U)a+", "\\Q.*\\E", "\\x{e9}", "[[:^space:]]", "a.c", "\\bx", "^$", "e|é", "(a)(b)?", "[a-c]{0,2}", "\\.", "$",
	},
	"format": {
		"dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix", "dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue", "uri", "uuid", "byte", "date", "datetime", "nope",
	},
	"duration": {
		"0", "1s", "-1s", "1h2m3s4ms", "1.5h", "-.5m", "1ns", "1us", "1µs", "2562047h47m16.854775807s", "-2562047h47m16.854775808s", "2562047h47m16.854775808s", "1d", "1", "", "s", "1h1", "+3s", "100ms", "90m", "1e3s", "0.000000001s", "3600s",
	},
	"time": {
		"2024-02-29T12:34:56Z", "1970-01-01T00:00:00Z", "2024-01-01T00:00:00+01:00", "2024-01-01T00:00:00.123456789Z", "2024-06-15T12:00:00Z", "2024-03-10T09:59:59Z", "2024-11-03T08:59:59Z", "1969-12-31T23:59:59.5Z",
		"0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "1900-01-01T00:00:00Z", "2024-01-01T00:00:00-23:59", "2024-01-01T00:00:00.1234567891Z", "0000-12-31T23:59:59Z", "2023-02-29T00:00:00Z", "2024-12-31T23:59:60Z", "2024-01-01 00:00:00Z",
		"2024-1-1T0:0:0Z", "2024-01-01T24:00:00Z", "", "2024-01-01",
	},
	"zone": {
		"UTC", "", "Local", "America/New_York", "America/Los_Angeles", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "+01:00", "-02:30", "00:00", "23:59", "+24:00", "1:00", "-9:00", "+9", "Nowhere/City", "utc", "Etc/GMT+5", "EST", "02:00:00", "+05:75",
	},
	"numeral": {
		"0", "1", "-1", "7", "+7", "007", "0x1f", "1e3", "1.5", "-0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "18446744073709551616", "", " 1", "1_000", "NaN", "Inf", "-inf", "infinity", "1e400", "1e-400", ".5", "5.", "0x1p-2", "é", "1u",
	},
	"boolean": {"true", "false", "True", "TRUE", "t", "1", "0", "f", "F", "T", "FALSE", "False", "yes", "tRue", ""},
	"printf": {
		"%s", "%d", "%f", "%e", "%b", "%x", "%X", "%o", "%.3f", "%.0f", "%.14e", "%s and %s", "%%", "%", "%q", "%5d", "%.s", "%.99999f", "é%s", "%d%s%x", "plain", "%.2s", "%-s", "%s %% %d",
	},
	"verb":     {"get", "fail", "list", ""},
	"selector": {"a=b", "x", "", "a in (b,c),!d", "spec.x!=y", "!!", "a==b,c!=d", "metadata.name=x", "a notin (b)", "a>1", "é=ü", " "},
	"path":     {"/healthz", " ", "", "x", "/a/b?c"},
	"name":     {"web", "", "prod", "a b", "é", "pods", "apps", "default"},
	"text":     {"nines", "points", "labels", "long", "pairs", "toMany", "none"},
	"key":      {"a", "b", "app", "é", "max", "name", "none", ""},
	"part":     {"", "a", "b", "ab", ",", "é", "日", "\U0001f600", "x", " ", "\n", "aa"},
}

// hints say which pool the strings of a function's arguments come from.
var hints = map[string][]string{
	"quantity": {"quantity"}, "isQuantity": {"quantity"}, "ip": {"address"}, "isIP": {"address"}, "ip.isCanonical": {"address"}, "cidr": {"cidr"}, "isCIDR": {"cidr"},
	"containsIP": {"", "address"}, "containsCIDR": {"", "cidr"}, "url": {"url"}, "isURL": {"url"}, "semver": {"version"}, "isSemver": {"version"}, "format.named": {"format"},
	"validate": {"", "validated"}, "matches": {"", "pattern"}, "find": {"", "pattern"}, "findAll": {"", "pattern"}, "duration": {"duration"}, "timestamp": {"time"},
	"getDate": {"", "zone"}, "getDayOfMonth": {"", "zone"}, "getDayOfWeek": {"", "zone"}, "getDayOfYear": {"", "zone"}, "getFullYear": {"", "zone"}, "getHours": {"", "zone"}, "getMilliseconds": {"", "zone"},
	"getMinutes": {"", "zone"}, "getMonth": {"", "zone"}, "getSeconds": {"", "zone"}, "int": {"numeral"}, "uint": {"numeral"}, "double": {"numeral"}, "bool": {"boolean"}, "format": {"printf"},
	"check": {"", "verb"}, "fieldSelector": {"", "selector"}, "labelSelector": {"", "selector"}, "path": {"", "path"}, "group": {"", "name"}, "resource": {"", "name"}, "namespace": {"", "name"}, "name": {"", "name"},
	"subresource": {"", "name"}, "serviceAccount": {"", "name", "name"}, "split": {"", "part"}, "join": {"", "part"}, "replace": {"", "part", "part"}, "indexOf": {"", "part"}, "lastIndexOf": {"", "part"},
	"contains": {"", "part"}, "startsWith": {"", "part"}, "endsWith": {"", "part"},
}

// literals of the types that have them; strings are made from pools.
var literals = map[string][]string{
	"bool": {"true", "false"},
	"int": {
		"0", "1", "-1", "2", "3", "5", "7", "10", "64", "100", "1000", "-7", "0x1F", "-0x10", "2147483647", "2147483648", "4294967296", "9007199254740993", "9223372036854775807", "-9223372036854775808", "86400", "1709210096",
	},
	"uint":   {"0u", "1u", "2u", "7u", "0xFFu", "64u", "9223372036854775807u", "9223372036854775808u", "18446744073709551615u"},
	"double": {"0.0", "-0.0", "1.0", "0.5", "-1.5", "2.5", "3.0", "0.1", "1e21", "1e-7", "1e308", "5e-324", "9223372036854775807.0", "-9223372036854775809.0", "18446744073709551616.0", "9007199254740993.0", "(0.0/0.0)", "(1.0/0.0)", "(-1.0/0.0)", "123456789.123"},
	"bytes":  {"b''", "b'a'", "b'abc'", "b'\\xff'", "b'\\303\\251'", "b'é'", "b'\\000'", "B\"x\"", "rb'\\n'"},
	"type":   {"int", "uint", "double", "bool", "string", "bytes", "list", "map", "null_type", "type", "google.protobuf.Duration", "google.protobuf.Timestamp", "optional_type", "net.IP", "net.CIDR"},
}

// reads are expressions of declared types.
var reads = map[string][]string{
	"bool":   {"aBool", "request.dryRun", "has(request.name)", "has(request.userInfo.groups)", "has(namespaceObject.metadata.labels)", "has(namespaceObject.metadata.deletionTimestamp)"},
	"int":    {"anInt", "namespaceObject.metadata.generation", "namespaceObject.metadata.deletionGracePeriodSeconds"},
	"uint":   {"aUint"},
	"double": {"aDouble"},
	"string": {
		"aString", "request.name", "request.namespace", "request.operation", "request.subResource", "request.userInfo.username", "request.userInfo.uid", "request.kind.group", "request.kind.version", "request.resource.resource",
		"request.requestKind.kind", "request.requestResource.group", "request.requestSubResource", "namespaceObject.metadata.name", "namespaceObject.status.phase", "namespaceObject.metadata.UID", "namespaceObject.metadata.resourceVersion",
	},
	"timestamp":                              {"namespaceObject.metadata.creationTimestamp", "namespaceObject.metadata.deletionTimestamp"},
	"list(string)":                           {"strings", "request.userInfo.groups", "namespaceObject.metadata.finalizers", "namespaceObject.spec.finalizers"},
	"list(int)":                              {"ints"},
	"map(string, int)":                       {"counts"},
	"map(string, string)":                    {"namespaceObject.metadata.labels", "namespaceObject.metadata.annotations", "texts"},
	"map(string, list(string))":              {"request.userInfo.extra"},
	"dyn":                                    {"object", "oldObject", "params", "any", "request.options", "dyn(request).object", "dyn(request).uid", "dyn(request)", "dyn(namespaceObject)", "unbound", "object.nosuch", "dyn(1/0)", "dyn(namespaceObject).metadata.uid"},
	"kubernetes.authorization.Authorizer":    {"authorizer"},
	"kubernetes.authorization.ResourceCheck": {"authorizer.requestResource"},
	"kubernetes.authorization.PathCheck":     {"authorizer.path('/x')"},
	"kubernetes.authorization.GroupCheck":    {"authorizer.group('')"},
	"kubernetes.authorization.Decision":      {"authorizer.requestResource.check('get')"},
	"kubernetes.Quantity":                    {"quantity('1')", "quantity('1Mi')", "quantity(object.spec.containers[0].resources.limits.memory)", "quantity('1').add(1)"},
	"kubernetes.URL":                         {"url('https://example.com:80/a?b=c')", "url(params.data.url)"},
	"kubernetes.Semver":                      {"semver('1.2.3')", "semver('v1', true)"},
	"kubernetes.NamedFormat":                 {"format.dns1123Label()", "format.named('uri').value()"},
	"net.IP":                                 {"ip('10.0.0.1')", "ip('::1')", "ip(params.data.ip)"},
	"net.CIDR":                               {"cidr('10.0.0.0/8')", "cidr('::/0')", "cidr(params.data.cidr)"},
	"null_type":                              {"null"},
}

// constructors are the functions, and the pools of their texts, that make values of library types.
var constructors = map[string][2]string{
	"kubernetes.Quantity": {"quantity", "quantity"}, "kubernetes.URL": {"url", "url"}, "kubernetes.Semver": {"semver", "version"}, "net.IP": {"ip", "address"}, "net.CIDR": {"cidr", "cidr"},
}

// ends are numbers at the ends of their types, and small ones.
var ends = map[string][]string{
	"int":  {"anInt", "9223372036854775807", "-9223372036854775808", "0", "1", "-1", "7", "-7", "3", "-3"},
	"text": {"'abcabc'", "'ééabé'", "'aaaaaa'", "''", "'日本語日本語'"},
	"part": {"'c'", "''", "'a'", "'bc'", "'é'", "'aa'", "'語'"},
	"cidr": {"'10.0.0.0/8'", "'10.0.0.0/16'", "'10.0.0.0/24'", "'10.0.1.0/24'", "'0.0.0.0/0'", "'10.0.0.1/32'", "'2001:db8::/32'", "'2001:db8::/48'", "'::/0'"},
	"uint": {"aUint", "18446744073709551615u", "0u", "1u", "7u", "3u"},
}

// frequent are the overloads that half of all expressions are about.
var frequent = []string{
	"equals", "equals", "equals", "equals", "not_equals", "in_list", "in_map", "index_list", "index_map", "map_optindex_optional_value", "optional_of", "optional_ofNonZeroValue", "logical_and", "logical_or", "conditional",
	"contains_string", "starts_with_string", "matches_string", "add_int64", "list_includes_dyn_dyn", "size_list", "type",
}

// objectLists are lists of structs in built-in objects.
var objectLists = []string{"object.spec.containers", "oldObject.spec.containers", "object.spec.volumes", "object.spec.ports", "object.status.conditions", "object.metadata.ownerReferences", "object.spec.template.spec.containers"}

// nestedLists are lists in lists, of one depth and of several.
var nestedLists = []string{
	"[[1, 2], [], [3]]", "[[[1], [2, 3]], [[]], [[4], []]]", "[[[['a']]], [[[]]]]", "[dyn([1, dyn([2, dyn([3])])]), dyn([])]", "[dyn(1), dyn([2]), dyn([[3]])]", "[ints, ints]",
	"[object.spec.containers, [object.spec.containers]]", "[[{'a': [1]}], [{}]]", "[dyn(null), dyn([null])]",
}

var numberedMaps = []string{
	"{1: 'x', 2: 'y'}", "{1u: 'x', 7u: 'z'}", "{dyn(1): 'a', dyn('a'): 2, dyn(true): 3, dyn(2u): 4}", "counts", "object.metadata.labels", "object.spec", "params.data", "{true: 1}", "{'a': null}", "[1, 2].transformMap(i, v, v)",
}

var keys = []string{"1", "1u", "1.0", "0", "0u", "2", "2.0", "true", "'a'", "'app'", "null", "7", "7u", "1.5", "b'a'", "-1", "(0.0/0.0)", "9223372036854775808u", "1e19", "aUint", "anInt", "aDouble"}

// plainQuantities is how many of the library operands are quantities.
const plainQuantities = 5

// libraryOperands are values of library types.
var libraryOperands = []string{
	"quantity('1')", "quantity('1000m')", "quantity('0').add(quantity('1'))", "quantity('2').sub(quantity('1'))", "quantity('1').add(0)", "ip('::1')", "ip('0::1')", "ip('10.0.0.1')", "cidr('10.0.0.0/8')", "cidr('10.1.0.0/8')", "semver('1.2.3')",
	"semver('1.2.3+b')", "url('/a')", "url('/b')", "format.uri()", "format.named('uri').value()", "authorizer", "authorizer.requestResource", "null", "[quantity('1')]", "[quantity('0').add(1)]",
}

// plainOperands is how many of the operands are plain values.
const plainOperands = 26

// operands are values of all kinds, and errors.
var operands = []string{
	"null", "true", "false", "0", "1", "-1", "2u", "0u", "1u", "1.0", "0.0", "-0.0", "0.5", "(0.0/0.0)", "9223372036854775807", "18446744073709551615u", "9223372036854775807.0", "'a'", "''", "'name'", "b'a'", "b''",
	"duration('1s')", "duration('0s')", "timestamp('2024-01-01T00:00:00Z')", "timestamp('2024-01-01T01:00:00+01:00')", "timestamp('0001-01-01T00:00:00Z')", "[1]", "[]", "['a', 'name']", "[1] + [2]", "[object.spec] + [1]", "{'a': 1}", "{}",
	"{1: 'x'}", "{dyn(1.0): 'y', dyn(true): 2}", "int", "type(1)", "optional.of(1)", "optional.none()", "optional.of('a')", "quantity('1')", "quantity('1000m')", "quantity('1').add(0)", "ip('::1')", "cidr('10.0.0.0/8')", "semver('1.2.3')", "url('/a')",
	"object", "object.spec", "object.spec.containers", "object.metadata.labels", "object.metadata", "oldObject.metadata", "object.spec.containers[0].resources", "oldObject.spec", "oldObject", "oldObject.spec.containers[0].resources.limits",
	"object.status", "object.spec.empty", "object.spec.none", "object.spec.one", "object.spec.nothing", "params.spec", "params.data", "params", "object.nosuch", "(1 / 0)", "unbound", "aString", "ints", "any", "request", "namespaceObject", "texts.long", "texts.labels",
	"object.spec.template.spec.containers", "object.metadata.creationTimestamp", "optional.of(texts.long)", "optional.of(object.spec)", "object.spec.emptyDir", "object.spec.securityContext",
}
