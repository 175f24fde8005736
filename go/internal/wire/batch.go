package wire

import "encoding/binary"

// Operations of a param batch (docs/abi.md, "Param batches").
const (
	batchPut    = 0
	batchDelete = 1
)

// Batch collects changes of one param set, in the order in which they happened. The zero value is an empty batch.
type Batch struct {
	data  []byte
	count uint32
}

// Put adds or replaces a param; record is its param record.
func (b *Batch) Put(namespace, name string, record []byte) {
	b.change(batchPut, namespace, name)
	b.data = binary.LittleEndian.AppendUint32(b.data, uint32(len(record)))
	b.data = append(b.data, record...)
}

// Delete removes a param; it need not be in the set.
func (b *Batch) Delete(namespace, name string) {
	b.change(batchDelete, namespace, name)
}

// Len is the number of changes.
func (b *Batch) Len() int { return int(b.count) }

// Bytes is the encoded batch, valid until the next change or Reset.
func (b *Batch) Bytes() []byte {
	b.start()
	binary.LittleEndian.PutUint32(b.data, b.count)
	return b.data
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	b.data, b.count = b.data[:0], 0
}

func (b *Batch) change(operation uint32, namespace, name string) {
	b.start()
	b.count++
	b.data = binary.LittleEndian.AppendUint32(b.data, operation)
	b.data = appendText(b.data, namespace)
	b.data = appendText(b.data, name)
}

// start leaves room for the count.
func (b *Batch) start() {
	if len(b.data) == 0 {
		b.data = append(b.data, 0, 0, 0, 0)
	}
}

// appendText appends a text: its length and its bytes.
func appendText(data []byte, text string) []byte {
	data = binary.LittleEndian.AppendUint32(data, uint32(len(text)))
	return append(data, text...)
}
