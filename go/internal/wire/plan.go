package wire

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// op says how a node's value is read from memory.
type op uint8

const (
	opBool op = iota
	opInt8
	opInt16
	opInt32
	opInt64
	opUint8
	opUint16
	opUint32
	opUint64
	opFloat32
	opFloat64
	opString
	opBytes
	opPointer
	opStruct
	opList
	// Maps whose keys are strings, by how their values lie in memory; opMapOther goes through reflect.
	opMapString
	opMapBytes
	opMapList
	opMapPointer
	opMapAny
	opMapQuantity
	opMapOther
	opInterface
	opQuantity
	opTime
	opMicroTime
	opDuration
	opIntOrString
	opFieldsV1
	opRawExtension
	// opConverter is any other type that converts itself (json.Marshaler and the like).
	opConverter
	// opUnsupported is always the error in node.text.
	opUnsupported
	// Containers that have no Go type of their own.
	opPlainMap
	opPlainList
	opTape
)

// node is the plan for one Go type.
type node struct {
	op   op
	typ  reflect.Type
	size uintptr
	elem *node
	// fields of a struct, sorted by name, and their names.
	fields []field
	names  []string
	// pointerShaped types are stored in an interface's data word itself.
	pointerShaped bool
	entry         *value.TypeReflectCacheEntry
	text          string
}

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

// Plans of all types seen so far. Readers take no lock; builders copy the map.
var (
	plans     atomic.Pointer[map[reflect.Type]*node]
	plansLock sync.Mutex
	// nameIDs numbers the names of all fields of all plans.
	nameIDs = map[string]uint32{}
	// nameCount is len(nameIDs), readable without the lock.
	nameCount atomic.Uint32
)

var (
	labelsNode      = planOf(reflect.TypeFor[map[string]string]())
	requestNode     = planWithout(reflect.TypeFor[admissionRequest](), "kind", "resource")
	plainMapNode    = &node{op: opPlainMap}
	plainListNode   = &node{op: opPlainList}
	tapeNode        = &node{op: opTape}
	timeType        = reflect.TypeFor[metav1.Time]()
	knownConverters = map[reflect.Type]op{
		reflect.TypeFor[resource.Quantity]():    opQuantity,
		timeType:                                opTime,
		reflect.TypeFor[metav1.MicroTime]():     opMicroTime,
		reflect.TypeFor[metav1.Duration]():      opDuration,
		reflect.TypeFor[intstr.IntOrString]():   opIntOrString,
		reflect.TypeFor[metav1.FieldsV1]():      opFieldsV1,
		reflect.TypeFor[runtime.RawExtension](): opRawExtension,
	}
)

// planOf returns the plan of a type, compiling it if it is the first of its type.
func planOf(t reflect.Type) *node {
	if m := plans.Load(); m != nil {
		if n, ok := (*m)[t]; ok {
			return n
		}
	}
	plansLock.Lock()
	defer plansLock.Unlock()
	b := builder{known: plans.Load(), added: map[reflect.Type]*node{}}
	n := b.plan(t)
	b.publish()
	return n
}

// planWithout is the plan of a struct without some of its fields.
func planWithout(t reflect.Type, names ...string) *node {
	n := *planOf(t)
	all, texts := n.fields, n.names
	n.fields, n.names = nil, nil
	for i, text := range texts {
		if !slices.Contains(names, text) {
			n.fields, n.names = append(n.fields, all[i]), append(n.names, text)
		}
	}
	return &n
}

// builder compiles a type and all types it refers to; they may refer to each other.
type builder struct {
	known *map[reflect.Type]*node
	added map[reflect.Type]*node
}

func (b *builder) publish() {
	all := map[reflect.Type]*node{}
	if b.known != nil {
		for t, n := range *b.known {
			all[t] = n
		}
	}
	for t, n := range b.added {
		// Types may contain themselves, so the ops of all nodes are known only now.
		for i := range n.fields {
			n.fields[i].op = n.fields[i].node.op
		}
		all[t] = n
	}
	plans.Store(&all)
}

func (b *builder) plan(t reflect.Type) *node {
	if b.known != nil {
		if n, ok := (*b.known)[t]; ok {
			return n
		}
	}
	if n, ok := b.added[t]; ok {
		return n
	}
	n := &node{typ: t, size: t.Size(), pointerShaped: isPointerShaped(t)}
	b.added[t] = n
	// Pointers come first: upstream looks for nil before it looks for a conversion, and a pointer's conversion is its element's.
	if t.Kind() == reflect.Pointer {
		n.op = opPointer
		n.elem = b.plan(t.Elem())
		return n
	}
	if known, ok := knownConverters[t]; ok {
		n.op = known
		n.entry = value.TypeReflectEntryOf(t)
		return n
	}
	if entry := value.TypeReflectEntryOf(t); entry.CanConvertToUnstructured() && t.Kind() != reflect.Interface {
		n.op, n.entry = opConverter, entry
		return n
	}
	b.planKind(n, t)
	return n
}

func (b *builder) planKind(n *node, t reflect.Type) {
	switch t.Kind() {
	case reflect.Bool:
		n.op = opBool
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int:
		n.op = map[uintptr]op{1: opInt8, 2: opInt16, 4: opInt32, 8: opInt64}[t.Size()]
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		n.op = map[uintptr]op{1: opUint8, 2: opUint16, 4: opUint32, 8: opUint64}[t.Size()]
	case reflect.Float32:
		n.op = opFloat32
	case reflect.Float64:
		n.op = opFloat64
	case reflect.String:
		n.op = opString
	case reflect.Interface:
		n.op = opInterface
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			n.op = opBytes
			return
		}
		n.op = opList
		n.elem = b.plan(t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			n.op, n.text = opUnsupported, "unsupported map key type: "+t.Key().String()
			return
		}
		n.op = opMapOther
		n.elem = b.plan(t.Elem())
		n.op = mapOp(t, n.elem)
	case reflect.Struct:
		n.op = opStruct
		b.planStruct(n, t)
	default:
		n.op, n.text = opUnsupported, "unsupported Go type for CEL: "+t.String()
	}
}

func mapOp(t reflect.Type, elem *node) op {
	switch elem.op {
	case opString:
		return opMapString
	case opBytes:
		return opMapBytes
	case opList:
		return opMapList
	case opPointer:
		return opMapPointer
	case opQuantity:
		return opMapQuantity
	case opInterface:
		if t.Elem().NumMethod() == 0 {
			return opMapAny
		}
	}
	return opMapOther
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

// nameID numbers a field name. The caller holds plansLock.
func nameID(name string) uint32 {
	id, ok := nameIDs[name]
	if !ok {
		id = uint32(len(nameIDs))
		nameIDs[name] = id
		nameCount.Store(uint32(len(nameIDs)))
	}
	return id
}

func isPointerShaped(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Struct:
		return t.NumField() == 1 && isPointerShaped(t.Field(0).Type)
	case reflect.Array:
		return t.Len() == 1 && isPointerShaped(t.Elem())
	}
	return false
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
