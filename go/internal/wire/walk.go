package wire

import (
	"encoding/base64"
	"reflect"
	"slices"
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
	e.todo = append(e.todo, item{node: n, projection: e.child, ptr: p, n: uint32(length), at: uint32(at), depth: depth, flags: flags})
}

// drain writes the children of all containers put off.
func (e *Encoder) drain() {
	for len(e.todo) > 0 {
		last := len(e.todo) - 1
		it := e.todo[last]
		e.todo[last].ptr = nil
		e.child = nil
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

// nameCell is the key cell of a struct's i-th field; a record's heap holds each name once.
func (e *Encoder) nameCell(n *node, f *field, i int) cell {
	slot := &e.names[f.name]
	if slot.generation != e.generation {
		*slot = nameSlot{e.generation, e.writeName(n, f, i)}
	}
	return cell{uint64(tagString) | uint64(f.nameLen)<<32, uint64(slot.offset)}
}

func (e *Encoder) writeName(n *node, f *field, i int) uint32 {
	at := len(e.heap)
	if f.nameLen <= 16 && cap(e.heap)-at >= 16 {
		// Copying 16 bytes, whatever the length, is one instruction.
		*(*[16]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(e.heap)), at)) = f.short
		e.heap = e.heap[:at+int(f.nameLen)]
	} else {
		e.heap = append(e.heap, n.names[i]...)
	}
	return uint32(at)
}

// reserve makes room for n more cells and returns them; the caller sets the final length. Nothing else appends to e.cells while the
// children of one container are written.
func (e *Encoder) reserve(n int) []cell {
	first := len(e.cells)
	if cap(e.cells)-first < n {
		e.cells = slices.Grow(e.cells, n)
	}
	return e.cells[first : first+n]
}

// structFields writes a struct's keys and values; plans have them in the order of their names.
func (e *Encoder) structFields(it *item) {
	first, n := len(e.cells), it.node
	if missing := int(nameCount.Load()) - len(e.names); missing > 0 {
		e.names = append(e.names, make([]nameSlot, missing)...)
	}
	k := 0
	if it.projection == nil || it.projection.listed {
		out := e.reserve(2 * len(n.fields))
		for i := range n.fields {
			k = e.structField(it, out, k, first, i)
		}
	} else {
		read := it.projection.of(n)
		out := e.reserve(2 * max(len(read), 1))
		for _, f := range read {
			e.child = f.projection
			k = e.structField(it, out, k, first, f.index)
		}
		if it.projection.nonempty {
			e.child = nothing
			for i := 0; k == 0 && i < len(n.fields); i++ {
				k = e.structField(it, out, k, first, i)
			}
		}
	}
	e.cells = e.cells[:first+k]
	tag := uint8(tagStruct)
	if it.flags&flagTyped == 0 {
		tag = tagMap
	}
	e.close(it, tag, it.flags|flagSorted, k/2, first)
	if tag == tagStruct {
		e.cells[it.at].head |= uint64(n.number) << 16
	}
}

// structField writes key and value of a struct's i-th field to out[k] and out[k+1], unless it is left out, and returns the next k. The
// children of the container begin at position first.
func (e *Encoder) structField(it *item, out []cell, k, first, i int) int {
	f := &it.node.fields[i]
	if f.mask != 0 && *(*uint64)(unsafe.Add(it.ptr, f.word))&f.mask == 0 {
		return k
	}
	p := unsafe.Add(it.ptr, f.offset)
	if f.unusual != nil {
		if p = f.unusual.locate(it.node.typ, it.ptr, p); p == nil {
			return k
		}
	}
	if f.maybeEmpty && f.isEmptyAt(p) {
		return k
	}
	c := nullCell
	switch f.op {
	case opString:
		c = e.stringCell(*(*string)(p))
	case opPointer:
		if q := *(*unsafe.Pointer)(p); q != nil {
			c = e.value(f.node.elem, q, first+k+1, it.depth+1, it.flags)
		}
	case opBool:
		c = boolCell(*(*bool)(p))
	case opList:
		s := (*sliceHeader)(p)
		c = e.list(f.node, s.ptr, s.len, first+k+1, it.depth+1, it.flags)
	case opStruct:
		e.push(f.node, p, 0, first+k+1, it.depth+1, it.flags)
	default:
		c = e.value(f.node, p, first+k+1, it.depth+1, it.flags)
	}
	out[k] = e.nameCell(it.node, f, i)
	out[k+1] = c
	return k + 2
}

// isEmptyAt is isEmpty of the field at p.
func (f *field) isEmptyAt(p unsafe.Pointer) bool {
	if f.node.typ.Kind() == reflect.Map {
		return len(asMap[string]((*unsafe.Pointer)(p))) == 0
	}
	return isEmpty(reflect.NewAt(f.node.typ, p).Elem())
}

// locate finds an unusual field of the struct at base, or nil if it is omitted.
func (f *unusualField) locate(t reflect.Type, base, p unsafe.Pointer) unsafe.Pointer {
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
	out := e.reserve(n)
	if it.projection != nil {
		if !it.projection.listed {
			e.closeUnread(it, out)
			return
		}
		e.child = it.projection.elements
	}
	for i := range out {
		p := unsafe.Add(it.ptr, uintptr(i)*size)
		if elem.op == opString {
			out[i] = e.stringCell(*(*string)(p))
		} else {
			out[i] = e.value(elem, p, first+i, it.depth+1, it.flags)
		}
	}
	e.cells = e.cells[:first+n]
	e.close(it, tagList, it.flags, n, first)
}

// closeUnread ends a list of which only the length is read.
func (e *Encoder) closeUnread(it *item, out []cell) {
	first := len(e.cells)
	for i := range out {
		out[i] = nullCell
	}
	e.cells = e.cells[:first+len(out)]
	e.close(it, tagList, it.flags, len(out), first)
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
		return nilBytesCell
	}
	start := len(e.heap)
	e.heap = base64.StdEncoding.AppendEncode(e.heap, unsafe.Slice((*byte)(s.ptr), s.len))
	return e.textCell(start, flagBytes)
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
