package wire

import (
	"encoding/binary"
	"reflect"
	"strings"
	"unsafe"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// field is one JSON field of a struct, those of inlined structs included. It is kept small: encoding reads all fields of a struct's
// plan, most of which are empty in the object.
type field struct {
	// An optional field is empty if the word at offset word of the struct has no bit of mask set; mask is 0 if there is no such word.
	mask   uint64
	word   uint32
	offset uint32
	node   *node
	// unusual is set for fields that need more than a look at their memory.
	unusual *unusualField
	// short is the name if it has at most 16 bytes.
	short   [16]byte
	name    uint32
	nameLen uint16
	op      op
	// maybeEmpty is set for optional fields that mask does not decide.
	maybeEmpty bool
}

// unusualField is a field with an omitZero function or without a fixed place in the struct.
type unusualField struct {
	typ      reflect.Type
	omitZero func(reflect.Value) bool
	// slow is set if the field has no fixed place, for instance behind an embedded pointer.
	slow *value.FieldCacheEntry
}

// place is where a JSON field lies in a struct, as far as the struct's own declaration tells.
type place struct {
	offset    uintptr
	typ       reflect.Type
	omitEmpty bool
	omitZero  func(reflect.Value) bool
	// indirect fields lie behind an embedded pointer.
	indirect bool
}

func (b *builder) planStruct(n *node, t reflect.Type) {
	places := map[string]place{}
	findPlaces(t, 0, false, places)
	probe := reflect.New(t)
	for _, f := range value.TypeReflectEntryOf(t).OrderedFields() {
		p := places[f.JsonName]
		out := field{name: nameID(f.JsonName), nameLen: uint16(len(f.JsonName)), offset: uint32(p.offset)}
		copy(out.short[:], f.JsonName)
		if p.omitEmpty {
			out.omitIfEmpty(t, p)
		}
		if p.omitZero != nil {
			out.unusual = &unusualField{typ: p.typ, omitZero: p.omitZero}
		}
		// Upstream's own path is the truth: where it does not lead to the place found here, go its way at each encoding.
		at := f.GetFrom(probe.Elem())
		if p.indirect || at.Type() != p.typ || !at.CanAddr() || at.UnsafeAddr() != probe.Pointer()+p.offset {
			out.mask, out.maybeEmpty = 0, false
			out.unusual = &unusualField{typ: at.Type(), slow: f}
		}
		out.node = b.plan(at.Type())
		n.fields = append(n.fields, out)
		n.names = append(n.names, f.JsonName)
	}
}

// omitIfEmpty chooses how to see that the field is empty.
func (f *field) omitIfEmpty(t reflect.Type, p place) {
	start, size := p.offset, p.typ.Size()
	switch p.typ.Kind() {
	case reflect.String, reflect.Slice:
		// The length is the second word.
		start, size = start+unsafe.Sizeof(uintptr(0)), unsafe.Sizeof(uintptr(0))
	case reflect.Interface:
		size = unsafe.Sizeof(uintptr(0))
	case reflect.Map:
		// Only nil maps have no bit set.
		f.maybeEmpty = true
	case reflect.Bool, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int, reflect.Pointer,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint, reflect.Uintptr:
	case reflect.Float32, reflect.Float64, reflect.Array:
		f.maybeEmpty = true
		return
	default:
		return
	}
	word := start &^ 7
	if word+8 > t.Size() {
		f.maybeEmpty = true
		return
	}
	var bits [8]byte
	for i := range size {
		bits[start-word+i] = 0xFF
	}
	f.mask, f.word = binary.NativeEndian.Uint64(bits[:]), uint32(word)
}

// findPlaces lists a struct's JSON fields by the rules of structured-merge-diff's buildStructCacheEntry: inlined structs are
// flattened, the last field of a name wins.
func findPlaces(t reflect.Type, offset uintptr, indirect bool, places map[string]place) {
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !f.Anonymous {
			continue
		}
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" {
			inner, behind := f.Type, indirect
			if inner.Kind() == reflect.Pointer {
				inner, behind = inner.Elem(), true
			}
			if inner.Kind() == reflect.Struct {
				findPlaces(inner, offset+f.Offset, behind, places)
			}
			continue
		}
		if name == "" {
			name = f.Name
		}
		p := place{offset: offset + f.Offset, typ: f.Type, indirect: indirect}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "omitempty":
				p.omitEmpty = true
			case "omitzero":
				p.omitZero = value.OmitZeroFunc(f.Type)
			}
		}
		places[name] = p
	}
}

// isEmpty tells whether upstream leaves out a field with omitempty, by structured-merge-diff's isEmpty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return v.IsZero()
	case reflect.Float32, reflect.Float64:
		return v.Float() == 0
	case reflect.Interface, reflect.Pointer:
		return v.IsNil()
	}
	return false
}
