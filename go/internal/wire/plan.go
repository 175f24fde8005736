package wire

import (
	"math"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

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
	// number tells structs of different types apart; 0 if there are too many.
	number uint16
	entry  *value.TypeReflectCacheEntry
	text   string
}

// Plans of all types seen so far. Readers take no lock; builders copy the map.
var (
	plans     atomic.Pointer[map[reflect.Type]*node]
	plansLock sync.Mutex
	// nameIDs numbers the names of all fields of all plans.
	nameIDs = map[string]uint32{}
	// structCount is how many structs have plans.
	structCount int
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
		if structCount++; structCount <= math.MaxUint16 {
			n.number = uint16(structCount)
		}
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
