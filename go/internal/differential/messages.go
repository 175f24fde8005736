package differential

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// message is a well-known protobuf message, its fields with their types, and the type that a literal has for those who use it.
type message struct {
	name   string
	fields []messageField
	result *cel.Type
}

type messageField struct {
	name string
	kind *cel.Type
}

var (
	listOfAny = cel.ListType(cel.DynType)
	mapOfAny  = cel.MapType(cel.StringType, cel.DynType)
)

func wrapper(name string, kind *cel.Type) message {
	return message{name, []messageField{{"value", kind}}, kind}
}

var messages = []message{
	wrapper("BoolValue", cel.BoolType), wrapper("BytesValue", cel.BytesType), wrapper("DoubleValue", cel.DoubleType), wrapper("FloatValue", cel.DoubleType),
	wrapper("Int32Value", cel.IntType), wrapper("Int64Value", cel.IntType), wrapper("StringValue", cel.StringType), wrapper("UInt32Value", cel.UintType),
	wrapper("UInt64Value", cel.UintType),
	{"Any", []messageField{{"type_url", cel.StringType}, {"value", cel.BytesType}}, cel.DynType},
	{"Duration", []messageField{{"seconds", cel.IntType}, {"nanos", cel.IntType}}, cel.DurationType},
	{"Timestamp", []messageField{{"seconds", cel.IntType}, {"nanos", cel.IntType}}, cel.TimestampType},
	{"Empty", nil, cel.DynType},
	{"ListValue", []messageField{{"values", listOfAny}}, listOfAny},
	{"Struct", []messageField{{"fields", mapOfAny}}, mapOfAny},
	{"Struct.FieldsEntry", []messageField{{"key", cel.StringType}, {"value", cel.DynType}}, cel.DynType},
	{"Value", []messageField{
		{"null_value", cel.IntType}, {"number_value", cel.DoubleType}, {"string_value", cel.StringType}, {"bool_value", cel.BoolType}, {"struct_value", mapOfAny},
		{"list_value", listOfAny},
	}, cel.DynType},
}

// packed are values of google.protobuf.Any's fields that fit each other.
var packed = [][2]string{
	{"'google.protobuf.Int32Value'", `b'\x08\x05'`}, {"'a/google.protobuf.Duration'", `b'\x08\x05\x10\x07'`}, {"'type.googleapis.com/google.protobuf.Empty'", "b''"},
	{"'google.protobuf.Struct'", `b'\x0a\x07\x0a\x01k\x12\x02 \x01'`}, {"'google.protobuf.Value'", `b'\x1a\x01x'`}, {"'google.protobuf.Nope'", "b''"},
	{"'google.protobuf.StringValue'", `b'\x0a\x01\xff'`}, {"'google.protobuf.ListValue'", `b'\x0a\x09\x11\x00\x00\x00\x00\x00\x00\xf0\x3f'`},
	{"'google.protobuf.Timestamp'", `b'\x08\x05'`}, {"'google.protobuf.BoolValue'", `b'\x08\x01'`},
}

// fieldEdges are values at the ends of what fields hold.
var fieldEdges = []string{
	"2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295u", "4294967296u", "9007199254740991", "9007199254740992", "1e300", "-0.0", "1e-46", "[1u, 255u]", "[256u]",
	"{'values': [1]}", "{'a': {'b': [1, null]}}", "[[1], ['a']]", "google.protobuf.Empty{}", "google.protobuf.Int32Value{value: 3}", "google.protobuf.ListValue{values: [1]}",
	"google.protobuf.Struct{fields: {'a': 1}}", "google.protobuf.Value{}", "google.protobuf.Struct.FieldsEntry{key: 'a'}", "quantity('64Mi')", "semver('1.2.3')", "ip('::1')",
	"253402300800", "-62135596801", "999999999", "-1", "1000000000",
}

// message makes a literal of a message whose value has the wanted type; nil if there is none.
func (g *generator) message(want *cel.Type, size int) *tree {
	var candidates []message
	for _, m := range messages {
		if want.Kind() == types.DynKind || m.result.IsExactType(want) {
			candidates = append(candidates, m)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	m := pick(g.random, candidates...)
	if m.name == "Any" && g.one(2) {
		value := pick(g.random, packed...)
		return form("google.protobuf.Any{type_url: $, value: $}", leaf(value[0]), leaf(value[1]))
	}
	var fields []*tree
	for _, field := range m.fields {
		if g.one(1 + len(m.fields)/2) {
			fields = append(fields, g.messageField(field, size/len(m.fields)))
		}
	}
	return sequence("google.protobuf."+m.name+"{", ", ", "}", fields)
}

func (g *generator) messageField(field messageField, size int) *tree {
	value := func() *tree {
		switch g.random.IntN(4) {
		case 0:
			return form("dyn($)", leaf(pick(g.random, operands...)))
		case 1:
			return form("dyn($)", leaf(pick(g.random, fieldEdges...)))
		}
		return g.make(field.kind, size)
	}
	if !g.one(4) {
		return form(fmt.Sprintf("%s: $", field.name), value())
	}
	switch g.random.IntN(4) {
	case 0:
		return form(fmt.Sprintf("?%s: $", field.name), g.make(cel.OptionalType(field.kind), size))
	case 1:
		return form(fmt.Sprintf("?%s: $", field.name), value())
	}
	return form(fmt.Sprintf("?%s: optional.of($)", field.name), value())
}
