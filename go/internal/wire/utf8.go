package wire

import (
	"encoding/binary"
	"unicode/utf8"
)

func isASCII(b []byte) bool {
	const high = 0x8080808080808080
	for ; len(b) >= 16; b = b[16:] {
		if (binary.NativeEndian.Uint64(b)|binary.NativeEndian.Uint64(b[8:]))&high != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// repairUTF8 writes U+FFFD for each byte of the record's strings that is not UTF-8. It looks at single strings only if something is
// not ASCII; looking at the heap as a whole would not show two broken strings that are valid one after the other.
func (e *Encoder) repairUTF8() {
	if isASCII(e.heap) {
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
