package wire

import (
	"math"
	"sync"
	"unsafe"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Roots of a request record, in the order of docs/record-format.md.
const (
	RootRequest = iota
	RootNamespace
	RootObjectLabels
	RootOldObjectLabels
	RootNamespaceLabels
	rootVersions
)

// RequestRoots is how many roots a request record has with the given number of object versions.
func RequestRoots(versions int) int { return rootVersions + 2*versions }

// RootObject is the root of object in the i-th version that the plan asked for.
func RootObject(i int) int { return rootVersions + 2*i }

// RootOldObject is the root of oldObject in the i-th version that the plan asked for.
func RootOldObject(i int) int { return rootVersions + 2*i + 1 }

// maxPooled is the size in bytes above which a buffer is not kept for the next record.
const maxPooled = 1 << 20

// Encoder builds one record at a time. Get one, set its roots, take Bytes, and Put it back. It is not safe for concurrent use; the
// objects given to it may be shared with other readers.
type Encoder struct {
	// cells holds the header in element 0, so the cell with index i is element i+1.
	cells []cell
	heap  []byte
	todo  []item
	// child is what is read of the value that is written now, as far as it is a container.
	child *Projection
	roots int
	out   []byte

	// names has, for each field name that any plan knows, where this record's heap holds it.
	names      []nameSlot
	generation uint32

	json    jsonParser
	digits  [64]byte
	scratch map[*node]*mapScratch

	request         admissionv1.AdmissionRequest
	requestPointers requestPointers
}

// item is a container whose children are still to be written.
type item struct {
	node       *node
	projection *Projection
	// ptr is the struct, the first element of the list, or the map itself.
	ptr unsafe.Pointer
	// at is the container's position in Encoder.cells.
	at uint32
	// n is the number of elements of a list.
	n uint32
	// tape is where parsed JSON has the children.
	tape  uint32
	depth uint16
	flags uint8
}

// nameSlot is valid if its generation is the encoder's.
type nameSlot struct {
	generation uint32
	offset     uint32
}

var pool = sync.Pool{New: func() any { return new(Encoder) }}

// Get returns an encoder for a record with the given number of roots, all absent.
func Get(roots int) *Encoder {
	e := pool.Get().(*Encoder)
	e.Reset(roots)
	return e
}

// Put gives the encoder back; the bytes it returned are no longer valid.
func (e *Encoder) Put() {
	if cap(e.cells) > maxPooled/16 || cap(e.heap) > maxPooled {
		return
	}
	e.release()
	pool.Put(e)
}

// Reset starts a new record with the given number of roots, all absent. It invalidates earlier bytes.
func (e *Encoder) Reset(roots int) {
	e.release()
	e.cells = append(e.cells[:0], make([]cell, 1+roots)...)
	e.heap = e.heap[:0]
	e.roots = roots
	e.out = nil
	e.generation++
	if e.generation == 0 {
		clear(e.names)
		e.generation = 1
	}
}

// release lets go of everything that belongs to the objects encoded last.
func (e *Encoder) release() {
	e.todo, e.child = e.todo[:0], nil
	e.json.reset()
	e.clearRequest()
	for _, s := range e.scratch {
		s.release()
	}
}

// SetNull makes a root null.
func (e *Encoder) SetNull(root int) { e.cells[root+1] = nullCell }

// SetError makes a root an error with the given text.
func (e *Encoder) SetError(root int, text string) { e.cells[root+1] = e.errorCell(text) }

// SetLabels makes a root a map of labels; a nil map is an empty one.
func (e *Encoder) SetLabels(root int, labels map[string]string) {
	if len(labels) == 0 {
		e.cells[root+1] = emptyContainer(tagMap, flagTyped|flagSorted, root+1)
		return
	}
	e.push(labelsNode, mapPointer(labels), 0, root+1, 1, flagTyped)
	e.drain()
}

// SetObject makes a root the value that upstream's admission.LazyObject has for an object: nil and nil pointers are null,
// *unstructured.Unstructured is plain, anything else is typed.
func (e *Encoder) SetObject(root int, obj any) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		if u == nil {
			e.SetNull(root)
			return
		}
		e.setRoot(root, e.plain(u.Object, root+1, 1))
		return
	}
	e.setRoot(root, e.dynamic(obj, root+1, 1, flagTyped))
}

// SetPlain makes a root the value that cel-go's default type adapter has for v, as for the content of unstructured objects.
func (e *Encoder) SetPlain(root int, v any) { e.setRoot(root, e.plain(v, root+1, 1)) }

func (e *Encoder) setRoot(root int, c cell) {
	e.cells[root+1] = c
	e.drain()
	e.child = nil
}

// Bytes finishes the record. The bytes are valid until the next Reset or Put; no root can be set after it.
func (e *Encoder) Bytes() []byte {
	if e.out != nil {
		return e.out
	}
	e.repairUTF8()
	if uint64(len(e.cells)) > math.MaxUint32 || uint64(len(e.heap)) > math.MaxUint32 {
		e.tooLarge()
	}
	n, h := len(e.cells), len(e.heap)
	e.cells[0] = cell{
		head:    magic | uint64(n-1)<<32,
		payload: uint64(h) | uint64(e.roots)<<32,
	}
	if total := n + (h+15)/16; cap(e.cells) < total {
		grown := make([]cell, n, total+total/4)
		copy(grown, e.cells)
		e.cells = grown
	}
	if hostIsBigEndian {
		swapCells(e.cells)
	}
	buf := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(e.cells))), 16*cap(e.cells))
	copy(buf[16*n:], e.heap)
	e.out = buf[:16*n+h]
	return e.out
}

// tooLarge replaces a record whose indices do not fit the format by one that has only errors.
func (e *Encoder) tooLarge() {
	roots := e.roots
	e.Reset(roots)
	for i := range roots {
		e.SetError(i, "object is too large to evaluate")
	}
}
