package main

import (
	"fmt"
	"regexp"
	"strings"
)

// messageFields are the well-known protobuf messages with their fields.
var messageFields = map[string][]string{
	"Any": {"type_url", "value"}, "BoolValue": {"value"}, "BytesValue": {"value"}, "DoubleValue": {"value"}, "Duration": {"seconds", "nanos"},
	"Empty": nil, "FloatValue": {"value"}, "Int32Value": {"value"}, "Int64Value": {"value"}, "ListValue": {"values"}, "StringValue": {"value"},
	"Struct": {"fields"}, "Struct.FieldsEntry": {"key", "value"}, "Timestamp": {"seconds", "nanos"}, "UInt32Value": {"value"}, "UInt64Value": {"value"},
	"Value": {"null_value", "number_value", "string_value", "bool_value", "struct_value", "list_value"},
}

// fieldEdges are values at the ends of what fields hold.
var fieldEdges = []string{
	"2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295u", "4294967296u", "9007199254740991", "9007199254740992", "9007199254740992u",
	"1e300", "-0.0", "1e-46", "'google.protobuf.Int32Value'", "b'\\x08\\x05'", "[1u, 255u]", "[256u]", "['a', null, b'a', duration('1s'), {'a': [1u]}]",
	"{'values': [1]}", "{'a': {'b': [1, null]}}", "[[1], ['a']]", "google.protobuf.Empty{}", "google.protobuf.Int32Value{value: 3}",
	"google.protobuf.ListValue{values: [1]}", "google.protobuf.Struct{fields: {'a': 1}}", "google.protobuf.Value{}", "ip('::1')", "url('http://a/b')",
}

// messageForms are what is done with a literal.
var messageForms = []string{
	"%s", "type(%s)", "dyn(%[1]s) == dyn(%[1]s)", "[%s]", "{'a': %s}", "[1].map(x, %s)", "string(dyn(%s))", "dyn(%s) == null", "optional.ofNonZeroValue(%s)",
	"dyn(%s).value", "has(dyn(%s).value)", "dyn(%s).?key", "dyn(%s) + dyn(%[1]s)", "size(dyn(%s))",
}

// messageCases are literals of all messages, each field with all operands.
func messageCases() ([]string, error) {
	var all []string
	for name, fields := range messageFields {
		name = "google.protobuf." + name
		all = append(all, name, name+"{}", name+"{nosuch: 1}", fmt.Sprintf("type(%s{}) == %[1]s", name))
		for _, form := range messageForms {
			all = append(all, fmt.Sprintf(form, name+"{}"))
		}
		for _, field := range fields {
			for _, operand := range append(operands, fieldEdges...) {
				literal := fmt.Sprintf("%s{%s: dyn(%s)}", name, field, operand)
				all = append(all, fmt.Sprintf("%s{%s: %s}", name, field, operand),
					fmt.Sprintf("%s{?%s: optional.of(%s)}", name, field, operand))
				for _, form := range messageForms {
					all = append(all, fmt.Sprintf(form, literal))
				}
			}
		}
	}
	return all, nil
}

var (
	// builtIn is the refusal of a part of a built-in object; of many such parts Go's maps take any first.
	builtIn = regexp.MustCompile(`type conversion error from (struct type [\w.]+ to \*?\S*\w|'(list\(dyn\)|map\(dyn, dyn\))' to '\*structpb\.Value')`)
	// joined is that of one in a list joined by +.
	joined = regexp.MustCompile(`unsupported conversion to ref\.Val: \(\*?(v1|resource|semver|url|netip)\..*"$`)
	// noField is the refusal of a map's entry.
	noField = regexp.MustCompile(`no such field '\w+' in type`)
	// asText are library values in text fields, of which the text is not kept.
	asText = regexp.MustCompile(`type conversion error from '(Quantity|Semver)' to 'string'`)
	// goPanic is what becomes of lists of built-in objects in fields of bytes.
	goPanic = regexp.MustCompile(`internal error: (invalid type|reflect)`)
)

// withoutGoTypes takes from a line what our values do not carry, names of Go types, and what is by chance.
func withoutGoTypes(line string) string {
	line = builtIn.ReplaceAllString(line, "type conversion error from a built-in object")
	line = joined.ReplaceAllString(line, `type conversion error from a built-in object"`)
	line = noField.ReplaceAllString(line, "no such field in type")
	return strings.ReplaceAll(line, `"  value:`, `" value:`)
}

// knownMessage says whether two results differ as docs/differences.md has it of messages.
func knownMessage(upstream, ours string) bool {
	if strings.Contains(upstream, `"unknown type: '`) {
		return strings.Contains(ours, "unsupported conversion to ref.Val: (*dynamicpb.Message)type_url:")
	}
	return asText.MatchString(ours) || goPanic.MatchString(upstream) && strings.HasPrefix(ours, "error")
}
