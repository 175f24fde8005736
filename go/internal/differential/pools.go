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
		"10.0.0.0/8", "10.1.2.3/8", "0.0.0.0/0", "1.2.3.4/32", "1.2.3.4/33", "192.168.0.0/16", "::/0", "fe80::/10", "2001:db8::/32", "::1/128", "::1/129", "10.0.0.0/08", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0", "::ffff:1.2.3.0/120", "fe80::1%a/64", "/8", "",
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
	"boolean": {"true", "false", "True", "TRUE", "t", "1", "0", "f", "F", "T", "yes", "", "tRue", "FALSE", "False"},
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
