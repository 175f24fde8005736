package wire

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// number is the cell of the less common number types.
func (e *Encoder) number(o op, p unsafe.Pointer) cell {
	switch o {
	case opInt8:
		return intCell(int64(*(*int8)(p)))
	case opInt16:
		return intCell(int64(*(*int16)(p)))
	case opUint8:
		return intCell(int64(*(*uint8)(p)))
	case opUint16:
		return intCell(int64(*(*uint16)(p)))
	case opUint32:
		return intCell(int64(*(*uint32)(p)))
	case opUint64:
		v := *(*uint64)(p)
		if v > math.MaxInt64 {
			return e.errorCell(fmt.Sprintf("unsigned value %d does not fit into int64 (overflow)", v))
		}
		return intCell(int64(v))
	case opFloat32:
		return doubleCell(float64(*(*float32)(p)))
	case opFloat64:
		return doubleCell(*(*float64)(p))
	}
	return e.errorCell("unsupported Go type for CEL")
}

// scalar is the cell of a type that converts itself to a string or number.
func (e *Encoder) scalar(o op, p unsafe.Pointer) cell {
	switch o {
	case opQuantity:
		return e.quantity((*resource.Quantity)(p))
	case opTime:
		return e.time(*timeAt(p), time.RFC3339)
	case opMicroTime:
		return e.time((*metav1.MicroTime)(p).Time, metav1.RFC3339Micro)
	case opDuration:
		start := len(e.heap)
		e.heap = append(e.heap, (*metav1.Duration)(p).Duration.String()...)
		return e.textCell(start, 0)
	}
	v := (*intstr.IntOrString)(p)
	switch v.Type {
	case intstr.Int:
		return intCell(int64(v.IntVal))
	case intstr.String:
		return e.stringCell(v.StrVal)
	}
	return e.errorCell("failed to convert to unstructured: impossible IntOrString.Type")
}

func timeAt(p unsafe.Pointer) *time.Time { return &(*metav1.Time)(p).Time }

// time is the cell of a point in time; a zero one is null. Its nanoseconds, which the text does not have, follow the text in the heap.
func (e *Encoder) time(t time.Time, layout string) cell {
	if t.IsZero() {
		return nullCell
	}
	start := len(e.heap)
	e.heap = t.UTC().AppendFormat(e.heap, layout)
	c := e.textCell(start, flagTime)
	e.heap = append(e.heap, "000000000"...)
	for i, n := len(e.heap)-1, t.Nanosecond(); n != 0; i-- {
		e.heap[i] += byte(n % 10)
		n /= 10
	}
	return c
}

// quantityText is where a Quantity keeps the text it was parsed from or last formatted as, if it does.
var quantityText, quantityHasText = func() (uintptr, bool) {
	f, ok := reflect.TypeFor[resource.Quantity]().FieldByName("s")
	return f.Offset, ok && f.Type.Kind() == reflect.String
}()

var binarySuffixes = [...]string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}

// quantity is the cell of what q.String() returns, without its side effect of storing the text in q.
func (e *Encoder) quantity(q *resource.Quantity) cell {
	if !quantityHasText {
		copied := q.DeepCopy()
		return e.flaggedString(copied.String(), flagQuantity)
	}
	if s := *(*string)(unsafe.Add(unsafe.Pointer(q), quantityText)); s != "" {
		return e.flaggedString(s, flagQuantity)
	}
	start := len(e.heap)
	// CanonicalizeBytes allocates for binary suffixes, so the usual memory sizes are formatted here.
	if v, ok := q.AsInt64(); ok && q.Format == resource.BinarySI && (v >= 1024 || v <= -1024) && v != math.MinInt64 {
		times := 0
		for v%1024 == 0 {
			v /= 1024
			times++
		}
		e.heap = strconv.AppendInt(e.heap, v, 10)
		e.heap = append(e.heap, binarySuffixes[times]...)
		return e.textCell(start, flagQuantity)
	}
	number, suffix := q.CanonicalizeBytes(e.digits[:0])
	e.heap = append(append(e.heap, number...), suffix...)
	return e.textCell(start, flagQuantity)
}

// converted is the cell of a type with a conversion of its own whose result may be anything. The result is plain, as upstream hands
// it to the default type adapter.
func (e *Encoder) converted(n *node, p unsafe.Pointer, at int, depth uint16) cell {
	switch n.op {
	case opFieldsV1:
		raw := (*metav1.FieldsV1)(p).GetRawBytes()
		if len(raw) == 0 {
			return nullCell
		}
		if c, ok := e.parse(raw, at, depth); ok {
			return c
		}
	case opRawExtension:
		ext := (*runtime.RawExtension)(p)
		if ext.Raw == nil {
			switch ext.Object.(type) {
			case nil:
				return nullCell
			case *metav1.CreateOptions, *metav1.UpdateOptions, *metav1.PatchOptions, *metav1.DeleteOptions:
				// The options of nearly all requests; their JSON says the same as a plain walk of them.
				return e.dynamic(ext.Object, at, depth, 0)
			}
		} else if c, ok := e.parse(ext.Raw, at, depth); ok {
			return c
		}
	}
	// Upstream converts a copy too, so a method that writes to its receiver does not write to the object.
	copied := reflect.New(n.typ)
	copied.Elem().Set(reflect.NewAt(n.typ, p).Elem())
	v, err := n.entry.ToUnstructured(copied.Elem())
	if err != nil {
		return e.errorCell("failed to convert to unstructured: " + err.Error())
	}
	return e.plain(v, at, depth)
}
