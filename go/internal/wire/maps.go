package wire

import (
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// mapValue is the cell of a map with string keys, given as its pointer.
func (e *Encoder) mapValue(n *node, m unsafe.Pointer, at int, depth uint16, flags uint8) cell {
	if m == nil {
		return nullCell
	}
	if len(asMap[string](&m)) == 0 {
		return emptyContainer(tagMap, flags|flagSorted, at)
	}
	e.push(n, m, 0, at, depth, flags)
	return nullCell
}

// mapEntries writes a map's keys and values, in whatever order Go has them. Each case reads the map as one whose values have the
// same layout.
func (e *Encoder) mapEntries(it *item) {
	first := len(e.cells)
	if p := it.projection; p != nil && !p.listed && (it.node.op == opMapString || it.node.op == opMapQuantity) {
		e.projectedMap(it, p)
		return
	}
	switch it.node.op {
	case opMapString:
		for k, v := range asMap[string](&it.ptr) {
			e.cells = append(e.cells, e.stringCell(k), e.stringCell(v))
		}
	case opMapBytes:
		for k, v := range asMap[sliceHeader](&it.ptr) {
			e.cells = append(e.cells, e.stringCell(k), e.bytes(&v))
		}
	case opMapList:
		for k, v := range asMap[sliceHeader](&it.ptr) {
			key := e.stringCell(k)
			e.cells = append(e.cells, key, e.list(it.node.elem, v.ptr, v.len, len(e.cells)+1, it.depth+1, it.flags))
		}
	case opMapPointer:
		for k, v := range asMap[unsafe.Pointer](&it.ptr) {
			key, c := e.stringCell(k), nullCell
			if v != nil {
				c = e.value(it.node.elem.elem, v, len(e.cells)+1, it.depth+1, it.flags)
			}
			e.cells = append(e.cells, key, c)
		}
	case opMapAny:
		for k, v := range asMap[any](&it.ptr) {
			key := e.stringCell(k)
			e.cells = append(e.cells, key, e.dynamic(v, len(e.cells)+1, it.depth+1, it.flags))
		}
	case opMapQuantity:
		for k, v := range asMap[resource.Quantity](&it.ptr) {
			e.cells = append(e.cells, e.stringCell(k), e.quantity(&v))
		}
	default:
		e.otherMap(it)
	}
	n := (len(e.cells) - first) / 2
	flags := it.flags
	if n == 1 {
		flags |= flagSorted
	}
	e.close(it, tagMap, flags, n, first)
}

// projectedMap writes the entries that are read. Looking a key up needs only the layout, too: all types of strings have one hash.
func (e *Encoder) projectedMap(it *item, p *Projection) {
	first := len(e.cells)
	if it.node.op == opMapString {
		m := asMap[string](&it.ptr)
		e.projectedEntries(p, func(name string) bool {
			v, found := m[name]
			if found {
				e.cells = append(e.cells, e.stringCell(name), e.stringCell(v))
			}
			return found
		}, func() (string, bool) { return anyKey(m) })
	} else {
		m := asMap[resource.Quantity](&it.ptr)
		e.projectedEntries(p, func(name string) bool {
			v, found := m[name]
			if found {
				e.cells = append(e.cells, e.stringCell(name), e.quantity(&v))
			}
			return found
		}, func() (string, bool) { return anyKey(m) })
	}
	e.close(it, tagMap, it.flags|flagSorted, (len(e.cells)-first)/2, first)
}

func anyKey[V any](m map[string]V) (string, bool) {
	for key := range m {
		return key, true
	}
	return "", false
}

// mapScratch is what reading a map of some other type by reflection needs, kept from one map of the type to the next.
type mapScratch struct {
	m     unsafe.Pointer
	typed reflect.Value
	iter  reflect.MapIter
	key   reflect.Value
	// elems has copies of the values, which containers among them are read from later.
	elems reflect.Value
	used  int
}

func (s *mapScratch) release() {
	for i := range s.used {
		s.elems.Index(i).SetZero()
	}
	s.used, s.m = 0, nil
	s.iter.Reset(reflect.Value{})
	s.key.SetZero()
}

// next is room for one more value.
func (s *mapScratch) next() reflect.Value {
	if s.used == s.elems.Len() {
		// The containers put off keep the old values alive.
		s.elems = reflect.MakeSlice(s.elems.Type(), 2*s.used+8, 2*s.used+8)
		s.used = 0
	}
	s.used++
	return s.elems.Index(s.used - 1)
}

func (e *Encoder) otherMap(it *item) {
	s := e.scratch[it.node]
	if s == nil {
		t := it.node.typ
		s = &mapScratch{key: reflect.New(t.Key()).Elem(), elems: reflect.MakeSlice(reflect.SliceOf(t.Elem()), 8, 8)}
		s.typed = reflect.NewAt(t, unsafe.Pointer(&s.m)).Elem()
		if e.scratch == nil {
			e.scratch = map[*node]*mapScratch{}
		}
		e.scratch[it.node] = s
	}
	s.m = it.ptr
	s.iter.Reset(s.typed)
	for s.iter.Next() {
		s.key.SetIterKey(&s.iter)
		v := s.next()
		v.SetIterValue(&s.iter)
		key := e.stringCell(s.key.String())
		e.cells = append(e.cells, key, e.value(it.node.elem, v.Addr().UnsafePointer(), len(e.cells)+1, it.depth+1, it.flags))
	}
}
