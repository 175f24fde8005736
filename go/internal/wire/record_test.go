package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// A record read back, and a CEL value read out, have the same form: nil, bool, int64, uint64, float64, string, failure, list or
// mapping.
type (
	failure string
	list    struct {
		Typed bool
		Items []any
	}
	mapping struct {
		Typed, Struct bool
		Entries       map[string]any
	}
	absent struct{}
)

// decodeRecord is a plain reader of the record format that checks each of its rules.
func decodeRecord(t testing.TB, record []byte) []any {
	t.Helper()
	word := binary.LittleEndian.Uint32
	if len(record) < 16 || string(record[:4]) != "CGR1" {
		t.Fatalf("not a record: %q", record[:min(16, len(record))])
	}
	d := decoder{t: t, count: int(word(record[4:]))}
	roots := int(word(record[12:]))
	heap := record[16+16*d.count:]
	if len(heap) != int(word(record[8:])) || !utf8.Valid(heap) {
		t.Fatalf("heap has %d bytes, header says %d, UTF-8 %v", len(heap), word(record[8:]), utf8.Valid(heap))
	}
	d.cells, d.heap = record[16:16+16*d.count], string(heap)
	out := make([]any, roots)
	for i := range out {
		out[i] = d.value(i)
	}
	return out
}

type decoder struct {
	t     testing.TB
	cells []byte
	heap  string
	count int
}

func (d *decoder) value(index int) any {
	d.t.Helper()
	c := d.cells[16*index : 16*index+16]
	flags, n, payload := c[1], int(binary.LittleEndian.Uint32(c[4:])), binary.LittleEndian.Uint64(c[8:])
	if typed := c[2] != 0 || c[3] != 0; typed != (c[0] == tagStruct) {
		d.t.Fatalf("cell %d: tag %d with type %v", index, c[0], c[2:4])
	}
	if c[0] < tagString && (flags != 0 && (c[0] != tagNull || flags != flagBytes) || n != 0) {
		d.t.Fatalf("cell %d: tag %d with flags %d, length %d", index, c[0], flags, n)
	}
	switch c[0] {
	case tagAbsent:
		return absent{}
	case tagNull:
		return nil
	case tagBool:
		if payload > 1 {
			d.t.Fatalf("cell %d: bool %d", index, payload)
		}
		return payload == 1
	case tagInt:
		return int64(payload)
	case tagUint:
		return payload
	case tagDouble:
		return math.Float64frombits(payload)
	case tagString:
		return d.heap[payload:][:n]
	case tagError:
		return failure(d.heap[payload:][:n])
	}
	children := n
	if c[0] != tagList {
		children *= 2
	}
	first := int(payload)
	if first <= index || first+children > d.count {
		d.t.Fatalf("cell %d of %d: children %d..%d", index, d.count, first, first+children)
	}
	if c[0] == tagList {
		out := list{Typed: flags&flagTyped != 0, Items: []any{}}
		for i := range n {
			out.Items = append(out.Items, d.value(first+i))
		}
		return out
	}
	if c[0] != tagMap && c[0] != tagStruct {
		d.t.Fatalf("cell %d: tag %d", index, c[0])
	}
	out := mapping{Typed: flags&flagTyped != 0, Struct: c[0] == tagStruct, Entries: map[string]any{}}
	last := ""
	for i := range n {
		key, ok := d.value(first + 2*i).(string)
		if _, twice := out.Entries[key]; !ok || twice {
			d.t.Fatalf("cell %d: key %q, string %v, twice %v", index, key, ok, twice)
		}
		if flags&flagSorted != 0 && i > 0 && key <= last {
			d.t.Fatalf("cell %d: keys %q, %q are not sorted", index, last, key)
		}
		last = key
		out.Entries[key] = d.value(first + 2*i + 1)
	}
	return out
}

// fromCEL reads a CEL value completely.
func fromCEL(v ref.Val) any {
	typed := strings.Contains(reflect.TypeOf(v).String(), "reflectSchemalessTyped")
	switch v := v.(type) {
	case types.Null:
		return nil
	case types.Bool:
		return bool(v)
	case types.Int:
		return int64(v)
	case types.Uint:
		return uint64(v)
	case types.Double:
		return float64(v)
	case types.String:
		return validUTF8(string(v))
	case *types.Err:
		return failure(validUTF8(v.String()))
	case traits.Mapper:
		out := mapping{Typed: typed, Entries: map[string]any{}}
		out.Struct = strings.HasSuffix(reflect.TypeOf(v).String(), "reflectSchemalessTypedStruct")
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			out.Entries[validUTF8(string(key.(types.String)))] = fromCEL(v.Get(key))
		}
		return out
	case traits.Lister:
		out := list{Typed: typed, Items: []any{}}
		for i := range int64(v.Size().(types.Int)) {
			out.Items = append(out.Items, fromCEL(v.Get(types.Int(i))))
		}
		return out
	}
	return fmt.Sprintf("unexpected %T", v)
}

// validUTF8 replaces each byte that is not UTF-8.
func validUTF8(s string) string { return string([]rune(s)) }

// difference describes the first difference between two decoded values, or is empty.
func difference(path string, got, want any) string {
	switch w := want.(type) {
	case list:
		g, ok := got.(list)
		if !ok || g.Typed != w.Typed || len(g.Items) != len(w.Items) {
			break
		}
		for i := range w.Items {
			if d := difference(fmt.Sprintf("%s[%d]", path, i), g.Items[i], w.Items[i]); d != "" {
				return d
			}
		}
		return ""
	case mapping:
		g, ok := got.(mapping)
		if !ok || g.Typed != w.Typed || g.Struct != w.Struct || len(g.Entries) != len(w.Entries) {
			break
		}
		for k := range w.Entries {
			gv, ok := g.Entries[k]
			if !ok {
				return fmt.Sprintf("%s.%s is missing", path, k)
			}
			if d := difference(path+"."+k, gv, w.Entries[k]); d != "" {
				return d
			}
		}
		return ""
	case float64:
		if g, ok := got.(float64); ok && math.Float64bits(g) == math.Float64bits(w) || ok && g != g && w != w {
			return ""
		}
	default:
		if reflect.DeepEqual(got, want) {
			return ""
		}
	}
	return fmt.Sprintf("%s: got %#v, want %#v", path, got, want)
}
