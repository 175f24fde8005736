package wire

import "unicode/utf8"

// repairUTF8 writes U+FFFD for each byte of the record's strings that is not UTF-8. Whole valid heaps, that is all of them in
// practice, are only looked at.
func (e *Encoder) repairUTF8() {
	if !e.suspect && utf8.Valid(e.heap) {
		return
	}
	for i := 1; i < len(e.cells); i++ {
		c := &e.cells[i]
		if t := c.tag(); t != tagString && t != tagError {
			continue
		}
		from, to := c.payload, c.payload+uint64(c.length())
		if utf8.Valid(e.heap[from:to]) {
			continue
		}
		start := len(e.heap)
		for at := from; at < to; {
			r, size := utf8.DecodeRune(e.heap[at:to])
			e.heap = utf8.AppendRune(e.heap, r)
			at += uint64(size)
		}
		// The old text stays in the heap, which has to be UTF-8 as a whole.
		for at := from; at < to; at++ {
			e.heap[at] = ' '
		}
		c.head = head(c.tag(), uint8(c.head>>8), len(e.heap)-start)
		c.payload = uint64(start)
	}
}
