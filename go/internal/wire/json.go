package wire

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"
)

// jsonParser keeps the buffers of parse. A container's children are complete before the container's own siblings are, so they are
// first collected on a tape, children before parents, and copied to the record from there.
type jsonParser struct {
	// tape has the children of all closed containers, work those of the open ones.
	tape  []cell
	work  []cell
	stack []jsonFrame
}

// jsonFrame is an open array or object.
type jsonFrame struct {
	start  int
	object bool
}

func (j *jsonParser) reset() {
	j.tape, j.work, j.stack = j.tape[:0], j.work[:0], j.stack[:0]
}

// maxJSONDepth and maxUnsortedKeys bound what parse does itself.
const (
	maxJSONDepth    = 1000
	maxUnsortedKeys = 24
)

// parse is the cell of a JSON object or array, read as structured-merge-diff does: whole numbers within int64 are ints, all others
// doubles. It reports false, having written nothing, for anything out of the ordinary: syntax errors, scalars, invalid UTF-8, great
// depth, duplicate keys. Upstream's own code then gives the answer.
func (e *Encoder) parse(raw []byte, at int, depth uint16) (cell, bool) {
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' || !utf8.Valid(raw) {
		return cell{}, false
	}
	j := &e.json
	heap, tape := len(e.heap), len(j.tape)
	j.work, j.stack = j.work[:0], j.stack[:0]
	root, ok := e.parseDocument(raw)
	if !ok {
		e.heap, j.tape = e.heap[:heap], j.tape[:tape]
		return cell{}, false
	}
	return e.placeTape(root, at, depth), true
}

// placeTape is a cell of the tape moved to position at of the record.
func (e *Encoder) placeTape(c cell, at int, depth uint16) cell {
	if !c.isContainer() {
		return c
	}
	if c.length() == 0 {
		c.payload = uint64(at)
		return c
	}
	e.todo = append(e.todo, item{node: tapeNode, at: uint32(at), tape: uint32(c.payload), depth: depth})
	return c
}

func (e *Encoder) tapeChildren(it *item) {
	c := e.cells[it.at]
	n := c.length()
	if c.tag() == tagMap {
		n *= 2
	}
	first := len(e.cells)
	for _, child := range e.json.tape[it.tape : int(it.tape)+n] {
		e.cells = append(e.cells, e.placeTape(child, len(e.cells), it.depth+1))
	}
	e.cells[it.at].payload = uint64(first - 1)
}

// parseDocument parses a whole JSON text that begins with a bracket.
func (e *Encoder) parseDocument(raw []byte) (cell, bool) {
	j := &e.json
	i, ok := 0, false
	for {
		// A value is expected at i.
		i = skipSpace(raw, i)
		if i == len(raw) {
			return cell{}, false
		}
		var c cell
		switch b := raw[i]; b {
		case '{', '[':
			object := b == '{'
			i = skipSpace(raw, i+1)
			if i == len(raw) || len(j.stack) == maxJSONDepth {
				return cell{}, false
			}
			j.stack = append(j.stack, jsonFrame{len(j.work), object})
			if raw[i] != b+2 { // '}' and ']' follow their opening brackets by two
				if object {
					if i, ok = e.parseKey(raw, i); !ok {
						return cell{}, false
					}
				}
				continue
			}
			i++
			if c, ok = e.closeFrame(); !ok {
				return cell{}, false
			}
		case '"':
			start := len(e.heap)
			if i, ok = e.parseString(raw, i); !ok {
				return cell{}, false
			}
			c = e.textCell(start, 0)
		default:
			if c, i, ok = parseLiteral(raw, i); !ok {
				return cell{}, false
			}
		}
		// A value is complete; close what it completes.
		for {
			if len(j.stack) == 0 {
				return c, skipSpace(raw, i) == len(raw)
			}
			j.work = append(j.work, c)
			i = skipSpace(raw, i)
			if i == len(raw) {
				return cell{}, false
			}
			object := j.stack[len(j.stack)-1].object
			if raw[i] == ',' {
				i++
				if object {
					if i, ok = e.parseKey(raw, skipSpace(raw, i)); !ok {
						return cell{}, false
					}
				}
				break
			}
			if object && raw[i] != '}' || !object && raw[i] != ']' {
				return cell{}, false
			}
			i++
			if c, ok = e.closeFrame(); !ok {
				return cell{}, false
			}
		}
	}
}

// closeFrame moves the children of the innermost open container to the tape.
func (e *Encoder) closeFrame() (cell, bool) {
	j := &e.json
	f := j.stack[len(j.stack)-1]
	j.stack = j.stack[:len(j.stack)-1]
	children := j.work[f.start:]
	at := uint64(len(j.tape))
	j.tape = append(j.tape, children...)
	j.work = j.work[:f.start]
	if !f.object {
		return cell{head(tagList, 0, len(children)), at}, true
	}
	sorted, distinct := e.keyOrder(children)
	var flags uint8
	if sorted {
		flags = flagSorted
	}
	return cell{head(tagMap, flags, len(children)/2), at}, distinct
}

// keyOrder tells whether an object's keys are in order, and whether they are known to be distinct.
func (e *Encoder) keyOrder(entries []cell) (sorted, distinct bool) {
	sorted = true
	for i := 2; i < len(entries) && sorted; i += 2 {
		sorted = bytes.Compare(e.text(entries[i-2]), e.text(entries[i])) < 0
	}
	if sorted {
		return true, true
	}
	if len(entries) > 2*maxUnsortedKeys {
		return false, false
	}
	for i := 2; i < len(entries); i += 2 {
		for k := 0; k < i; k += 2 {
			if bytes.Equal(e.text(entries[i]), e.text(entries[k])) {
				return false, false
			}
		}
	}
	return false, true
}

func (e *Encoder) text(c cell) []byte {
	return e.heap[c.payload : c.payload+uint64(c.length())]
}

// parseKey parses a key and its colon.
func (e *Encoder) parseKey(raw []byte, i int) (int, bool) {
	if i == len(raw) || raw[i] != '"' {
		return 0, false
	}
	start := len(e.heap)
	i, ok := e.parseString(raw, i)
	if !ok {
		return 0, false
	}
	e.json.work = append(e.json.work, e.textCell(start, 0))
	i = skipSpace(raw, i)
	if i == len(raw) || raw[i] != ':' {
		return 0, false
	}
	return i + 1, true
}

// parseString appends the string that starts with the quote at i to the heap and returns the position after it.
func (e *Encoder) parseString(raw []byte, i int) (int, bool) {
	i++
	from := i
	for i < len(raw) {
		switch b := raw[i]; {
		case b == '"':
			e.heap = append(e.heap, raw[from:i]...)
			return i + 1, true
		case b == '\\':
			e.heap = append(e.heap, raw[from:i]...)
			next, ok := e.parseEscape(raw, i+1)
			if !ok {
				return 0, false
			}
			i, from = next, next
		case b < ' ':
			return 0, false
		default:
			i++
		}
	}
	return 0, false
}

// parseEscape appends the character whose escape follows the backslash before i.
func (e *Encoder) parseEscape(raw []byte, i int) (int, bool) {
	if i == len(raw) {
		return 0, false
	}
	b := raw[i]
	switch b {
	case '"', '\\', '/':
	case 'b':
		b = '\b'
	case 'f':
		b = '\f'
	case 'n':
		b = '\n'
	case 'r':
		b = '\r'
	case 't':
		b = '\t'
	case 'u':
		r, ok := hex4(raw, i+1)
		if !ok {
			return 0, false
		}
		i += 5
		if utf16.IsSurrogate(r) {
			low, ok := lowSurrogate(raw, i)
			if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
				i, r = i+6, pair
			} else {
				r = utf8.RuneError
			}
		}
		e.heap = utf8.AppendRune(e.heap, r)
		return i, true
	default:
		return 0, false
	}
	e.heap = append(e.heap, b)
	return i + 1, true
}

func lowSurrogate(raw []byte, i int) (rune, bool) {
	if i+1 < len(raw) && raw[i] == '\\' && raw[i+1] == 'u' {
		return hex4(raw, i+2)
	}
	return 0, false
}

func hex4(raw []byte, i int) (rune, bool) {
	if i+4 > len(raw) {
		return 0, false
	}
	var r rune
	for _, b := range raw[i : i+4] {
		switch {
		case '0' <= b && b <= '9':
			b -= '0'
		case 'a' <= b && b <= 'f':
			b -= 'a' - 10
		case 'A' <= b && b <= 'F':
			b -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(b)
	}
	return r, true
}

// parseLiteral parses null, a bool or a number.
func parseLiteral(raw []byte, i int) (cell, int, bool) {
	rest := raw[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("null")):
		return nullCell, i + 4, true
	case bytes.HasPrefix(rest, []byte("true")):
		return boolCell(true), i + 4, true
	case bytes.HasPrefix(rest, []byte("false")):
		return boolCell(false), i + 5, true
	}
	n := numberLength(rest)
	if n == 0 {
		return cell{}, 0, false
	}
	text := unsafe.String(&rest[0], n)
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return intCell(v), i + n, true
	}
	v, err := strconv.ParseFloat(text, 64)
	return doubleCell(v), i + n, err == nil
}

// numberLength is the length of the JSON number at the start of b, or 0 if there is none.
func numberLength(b []byte) int {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	whole := digits(b[i:])
	if whole == 0 || whole > 1 && b[i] == '0' {
		return 0
	}
	i += whole
	if i < len(b) && b[i] == '.' {
		n := digits(b[i+1:])
		if n == 0 {
			return 0
		}
		i += 1 + n
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		k := i + 1
		if k < len(b) && (b[k] == '+' || b[k] == '-') {
			k++
		}
		n := digits(b[k:])
		if n == 0 {
			return 0
		}
		i = k + n
	}
	return i
}

func digits(b []byte) int {
	for i, c := range b {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(b)
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}
