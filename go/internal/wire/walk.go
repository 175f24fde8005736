package wire

import (
	"encoding/base64"
	"reflect"
	"unsafe"
)

// sliceHeader and emptyInterface are how Go lays out slices and values of interface types without methods.
type sliceHeader struct {
	ptr unsafe.Pointer
	len int
	cap int
}

type emptyInterface struct {
	typ  unsafe.Pointer
	data unsafe.Pointer
}

// mapPointer is a map as Go represents it: one pointer.
func mapPointer[M ~map[K]V, K comparable, V any](m M) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&m))
}

// asMap reads the pointer of a map as a map of another type with the same layout of keys and values. Such a map may be ranged over:
// iteration uses only that layout.
func asMap[V any](p *unsafe.Pointer) map[string]V {
	return *(*map[string]V)(unsafe.Pointer(p))
}

// push puts off the children of the container at position at.
func (e *Encoder) push(n *node, p unsafe.Pointer, length, at int, depth uint16, flags uint8) {
	e.todo = append(e.todo, item{node: n, ptr: p, n: uint32(length), at: uint32(at), depth: depth, flags: flags})
}

// drain writes the children of all containers put off.
func (e *Encoder) drain() {
	for len(e.todo) > 0 {
		last := len(e.todo) - 1
		it := e.todo[last]
		e.todo[last].ptr = nil
		e.todo = e.todo[:last]
		if it.depth >= maxDepth {
			e.cells[it.at] = e.errorCell(tooDeep)
			continue
		}
		switch it.node.op {
		case opStruct:
			e.structFields(&it)
		case opList:
			e.listElements(&it)
		case opPlainMap:
			e.plainMap(&it)
		case opPlainList:
			e.plainList(&it)
		case opTape:
			e.tapeChildren(&it)
		default:
			e.mapEntries(&it)
		}
	}
}

// close completes the cell of a container whose children are all cells from position first on.
func (e *Encoder) close(it *item, tag, flags uint8, n, first int) {
	e.cells[it.at] = cell{head(tag, flags, n), uint64(first - 1)}
}

// emptyContainer is a container without children at position at.
func emptyContainer(tag, flags uint8, at int) cell {
	return cell{head(tag, flags, 0), uint64(at)}
}

func (e *Encoder) stringCell(s string) cell {
	return e.flaggedString(s, 0)
}

func (e *Encoder) flaggedString(s string, flags uint8) cell {
	at := len(e.heap)
	if len(s) > 0 && s[0]&0xC0 == 0x80 {
		e.suspect = true
	}
	e.heap = append(e.heap, s...)
	return cell{head(tagString, flags, len(s)), uint64(at)}
}

// textCell is a string cell whose text is all of the heap from at on.
func (e *Encoder) textCell(at int, flags uint8) cell {
	return cell{head(tagString, flags, len(e.heap)-at), uint64(at)}
}

func (e *Encoder) errorCell(text string) cell {
	c := e.stringCell(text)
	c.head = head(tagError, 0, len(text))
	return c
}

// nameCell is the key cell of a field; a record's heap holds each name once.
func (e *Encoder) nameCell(f *field) cell {
	if int(f.name) >= len(e.names) {
		e.names = append(e.names, make([]nameSlot, int(nameCount.Load())-len(e.names))...)
	}
	slot := &e.names[f.name]
	if slot.generation != e.generation {
		*slot = nameSlot{e.generation, uint32(len(e.heap))}
		e.heap = append(e.heap, f.text...)
	}
	return cell{uint64(tagString) | uint64(f.nameLen)<<32, uint64(slot.offset)}
}

// structFields writes a struct's keys and values; plans have them in the order of their names.
func (e *Encoder) structFields(it *item) {
	first := len(e.cells)
	fields := it.node.fields
	for i := range fields {
		f := &fields[i]
		p := unsafe.Add(it.ptr, f.offset)
		if f.unusual {
			if p = f.locate(it.node.typ, it.ptr, p); p == nil {
				continue
			}
		}
		if f.omitEmpty && f.isEmptyAt(p) {
			continue
		}
		name := e.nameCell(f)
		var c cell
		switch f.op {
		case opString:
			c = e.stringCell(*(*string)(p))
		case opPointer:
			if q := *(*unsafe.Pointer)(p); q == nil {
				c = nullCell
			} else {
				c = e.value(f.node.elem, q, len(e.cells)+1, it.depth+1, it.flags)
			}
		default:
			c = e.value(f.node, p, len(e.cells)+1, it.depth+1, it.flags)
		}
		e.cells = append(e.cells, name, c)
	}
	tag := uint8(tagStruct)
	if it.flags&flagTyped == 0 {
		tag = tagMap
	}
	e.close(it, tag, it.flags|flagSorted, (len(e.cells)-first)/2, first)
}

// isEmptyAt is isEmpty of the field at p.
func (f *field) isEmptyAt(p unsafe.Pointer) bool {
	switch f.op {
	case opString:
		return len(*(*string)(p)) == 0
	case opPointer:
		return *(*unsafe.Pointer)(p) == nil
	case opList, opBytes:
		return (*sliceHeader)(p).len == 0
	case opMapString, opMapBytes, opMapList, opMapPointer, opMapAny, opMapQuantity, opMapOther:
		return len(asMap[string]((*unsafe.Pointer)(p))) == 0
	case opBool, opInt8, opUint8:
		return *(*uint8)(p) == 0
	case opInt16, opUint16:
		return *(*uint16)(p) == 0
	case opInt32, opUint32:
		return *(*uint32)(p) == 0
	case opInt64, opUint64:
		return *(*uint64)(p) == 0
	case opFloat32:
		return *(*float32)(p) == 0
	case opFloat64:
		return *(*float64)(p) == 0
	case opStruct, opQuantity, opTime, opMicroTime, opDuration, opIntOrString, opFieldsV1, opRawExtension:
		return false
	}
	return isEmpty(reflect.NewAt(f.typ, p).Elem())
}

// locate finds an unusual field of the struct at base, or nil if it is omitted.
func (f *field) locate(t reflect.Type, base, p unsafe.Pointer) unsafe.Pointer {
	if f.slow != nil {
		v := f.slow.GetFrom(reflect.NewAt(t, base).Elem())
		if f.slow.CanOmit(v) {
			return nil
		}
		copied := reflect.New(f.typ)
		copied.Elem().Set(v)
		return copied.UnsafePointer()
	}
	if f.typ == timeType {
		if timeAt(p).IsZero() {
			return nil
		}
		return p
	}
	if f.omitZero(reflect.NewAt(f.typ, p).Elem()) {
		return nil
	}
	return p
}

func (e *Encoder) listElements(it *item) {
	first, n := len(e.cells), int(it.n)
	elem, size := it.node.elem, it.node.elem.size
	if elem.op == opString {
		for i := range n {
			s := (*string)(unsafe.Add(it.ptr, uintptr(i)*size))
			e.cells = append(e.cells, e.stringCell(*s))
		}
	} else {
		for i := range n {
			p := unsafe.Add(it.ptr, uintptr(i)*size)
			e.cells = append(e.cells, e.value(elem, p, len(e.cells), it.depth+1, it.flags))
		}
	}
	e.close(it, tagList, it.flags, n, first)
}

// value is the cell of the value at p, which will be stored at position at.
func (e *Encoder) value(n *node, p unsafe.Pointer, at int, depth uint16, flags uint8) cell {
	switch n.op {
	case opString:
		return e.stringCell(*(*string)(p))
	case opBool:
		return boolCell(*(*bool)(p))
	case opInt32:
		return intCell(int64(*(*int32)(p)))
	case opInt64:
		return intCell(*(*int64)(p))
	case opStruct:
		e.push(n, p, 0, at, depth, flags)
		return nullCell
	case opPointer:
		q := *(*unsafe.Pointer)(p)
		if q == nil {
			return nullCell
		}
		return e.value(n.elem, q, at, depth, flags)
	case opList:
		s := (*sliceHeader)(p)
		return e.list(n, s.ptr, s.len, at, depth, flags)
	case opMapString, opMapBytes, opMapList, opMapPointer, opMapAny, opMapQuantity, opMapOther:
		return e.mapValue(n, *(*unsafe.Pointer)(p), at, depth, flags)
	case opBytes:
		return e.bytes((*sliceHeader)(p))
	case opQuantity, opTime, opMicroTime, opDuration, opIntOrString:
		return e.scalar(n.op, p)
	case opFieldsV1, opRawExtension, opConverter:
		return e.converted(n, p, at, depth)
	case opInterface:
		return e.dynamic(interfaceAt(n.typ, p), at, depth, flags)
	case opUnsupported:
		return e.errorCell(n.text)
	}
	return e.number(n.op, p)
}

func (e *Encoder) list(n *node, first unsafe.Pointer, length, at int, depth uint16, flags uint8) cell {
	if first == nil {
		return nullCell
	}
	if length == 0 {
		return emptyContainer(tagList, flags, at)
	}
	e.push(n, first, length, at, depth, flags)
	return nullCell
}

func (e *Encoder) bytes(s *sliceHeader) cell {
	if s.ptr == nil {
		return nullCell
	}
	start := len(e.heap)
	e.heap = base64.StdEncoding.AppendEncode(e.heap, unsafe.Slice((*byte)(s.ptr), s.len))
	return e.textCell(start, 0)
}

// interfaceAt reads a value of an interface type.
func interfaceAt(t reflect.Type, p unsafe.Pointer) any {
	if t.NumMethod() == 0 {
		return *(*any)(p)
	}
	v := reflect.NewAt(t, p).Elem()
	if v.IsNil() {
		return nil
	}
	return v.Elem().Interface()
}

// dynamic is the cell of a value whose type is only known now.
func (e *Encoder) dynamic(v any, at int, depth uint16, flags uint8) cell {
	if v == nil {
		return nullCell
	}
	n := planOf(reflect.TypeOf(v))
	data := (*emptyInterface)(unsafe.Pointer(&v)).data
	switch {
	case n.op == opPointer:
		if data == nil {
			return nullCell
		}
		return e.value(n.elem, data, at, depth, flags)
	case n.typ.Kind() == reflect.Map && n.op != opConverter && n.op != opUnsupported:
		return e.mapValue(n, data, at, depth, flags)
	case n.pointerShaped:
		copied := reflect.New(n.typ)
		copied.Elem().Set(reflect.ValueOf(v))
		return e.value(n, copied.UnsafePointer(), at, depth, flags)
	}
	return e.value(n, data, at, depth, flags)
}
