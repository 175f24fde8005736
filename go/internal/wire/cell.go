package wire

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// magic is the first word of a record: "CGR1".
const magic = 0x3152_4743

// maxDepth is how deep values may be nested in a record; the JSON decoders of encoding/json and structured-merge-diff have the same bound.
const maxDepth = 10000

const tooDeep = "exceeded max depth of 10000"

// Tags, the first byte of a cell.
const (
	tagAbsent = iota
	tagNull
	tagBool
	tagInt
	tagUint
	tagDouble
	tagString
	tagList
	tagMap
	tagStruct
	tagError
)

// Flags, the second byte of a cell.
const (
	flagTyped    = 1
	flagQuantity = 2
	flagTime     = 4
	flagSorted   = 8
	flagBytes    = 16
)

// cell is 16 bytes of a record. head has the tag in its lowest byte, then flags, the number of a struct's Go type and a 32-bit length; both words are
// written little-endian.
type cell struct {
	head    uint64
	payload uint64
}

var nullCell = cell{head: tagNull}

// nilBytesCell is a nil []byte.
var nilBytesCell = cell{head: head(tagNull, flagBytes, 0)}

func boolCell(v bool) cell {
	if v {
		return cell{tagBool, 1}
	}
	return cell{tagBool, 0}
}

func intCell(v int64) cell { return cell{tagInt, uint64(v)} }

func doubleCell(v float64) cell { return cell{tagDouble, math.Float64bits(v)} }

// head makes a cell's first word of its tag, flags and length.
func head(tag, flags uint8, n int) uint64 {
	return uint64(tag) | uint64(flags)<<8 | uint64(uint32(n))<<32
}

func (c cell) tag() uint8  { return uint8(c.head) }
func (c cell) length() int { return int(c.head >> 32) }

func (c cell) isContainer() bool {
	return c.tag() == tagList || c.tag() == tagMap || c.tag() == tagStruct
}

// hostIsBigEndian tells whether finished cells need their bytes swapped.
var hostIsBigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

func swapCells(cells []cell) {
	for i := range cells {
		cells[i].head = bits.ReverseBytes64(cells[i].head)
		cells[i].payload = bits.ReverseBytes64(cells[i].payload)
	}
}
