package wire

import (
	"fmt"
	"math"
	"reflect"
	"time"
	"unsafe"
)

// plain is the cell of a value as cel-go's default type adapter reads it: the content of unstructured objects, and what
// conversions return. It is stored at position at.
func (e *Encoder) plain(v any, at int, depth uint16) cell {
	switch v := v.(type) {
	case nil:
		return nullCell
	case string:
		return e.stringCell(v)
	case bool:
		return boolCell(v)
	case int64:
		return intCell(v)
	case float64:
		return doubleCell(v)
	case map[string]any:
		if len(v) == 0 {
			return emptyContainer(tagMap, flagSorted, at)
		}
		e.push(plainMapNode, mapPointer(v), 0, at, depth, 0)
		return nullCell
	case []any:
		return e.plainSlice(v, at, depth)
	}
	return e.plainOther(v, at, depth)
}

func (e *Encoder) plainSlice(v []any, at int, depth uint16) cell {
	if len(v) == 0 {
		return emptyContainer(tagList, 0, at)
	}
	e.push(plainListNode, unsafe.Pointer(unsafe.SliceData(v)), len(v), at, depth, 0)
	return nullCell
}

func (e *Encoder) plainMap(it *item) {
	first := len(e.cells)
	if p := it.projection; p != nil && !p.listed {
		m := asMap[any](&it.ptr)
		e.projectedEntries(p, func(name string) bool {
			v, found := m[name]
			if found {
				key := e.stringCell(name)
				e.cells = append(e.cells, key, e.plain(v, len(e.cells)+1, it.depth+1))
			}
			return found
		}, func() (string, bool) { return anyKey(m) })
		e.close(it, tagMap, flagSorted, (len(e.cells)-first)/2, first)
		return
	}
	for k, v := range asMap[any](&it.ptr) {
		key := e.stringCell(k)
		e.cells = append(e.cells, key, e.plain(v, len(e.cells)+1, it.depth+1))
	}
	n, flags := (len(e.cells)-first)/2, uint8(0)
	if n == 1 {
		flags = flagSorted
	}
	e.close(it, tagMap, flags, n, first)
}

func (e *Encoder) plainList(it *item) {
	first := len(e.cells)
	if it.projection != nil {
		if !it.projection.listed {
			e.closeUnread(it, e.reserve(int(it.n)))
			return
		}
		e.child = it.projection.elements
	}
	for _, v := range unsafe.Slice((*any)(it.ptr), int(it.n)) {
		e.cells = append(e.cells, e.plain(v, len(e.cells), it.depth+1))
	}
	e.close(it, tagList, 0, int(it.n), first)
}

// plainOther handles what no decoder puts into unstructured content, but Go code may.
func (e *Encoder) plainOther(v any, at int, depth uint16) cell {
	r := reflect.ValueOf(v)
	if _, ok := v.(time.Duration); ok {
		return e.errorCell(unsupported(v))
	}
	switch r.Kind() {
	case reflect.Pointer:
		if k := r.Type().Elem().Kind(); !r.IsNil() && (k <= reflect.Float64 || k == reflect.String) {
			return e.plain(r.Elem().Interface(), at, depth)
		}
	case reflect.String:
		return e.stringCell(r.String())
	case reflect.Bool:
		return boolCell(r.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return intCell(r.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return cell{tagUint, r.Uint()}
	case reflect.Float32, reflect.Float64:
		return cell{tagDouble, math.Float64bits(r.Float())}
	case reflect.Slice, reflect.Array:
		if r.Type().Elem().Kind() == reflect.Uint8 {
			break
		}
		list := make([]any, r.Len())
		for i := range list {
			list[i] = r.Index(i).Interface()
		}
		return e.plainSlice(list, at, depth)
	case reflect.Map:
		if r.Type().Key().Kind() != reflect.String {
			break
		}
		m := make(map[string]any, r.Len())
		for i := r.MapRange(); i.Next(); {
			m[i.Key().String()] = i.Value().Interface()
		}
		return e.plain(m, at, depth)
	}
	return e.errorCell(unsupported(v))
}

func unsupported(v any) string { return fmt.Sprintf("unsupported conversion to ref.Val: (%T)%v", v, v) }
