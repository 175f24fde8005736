//go:build cgo

package cabi

// #include "celgate.h"
import "C"

// TypeCheck checks a policy's expressions against the types that it is about; input and warnings are JSON (docs/abi.md, "Type checking").
func TypeCheck(input []byte) (warnings []byte, err error) {
	if mismatch != nil {
		return nil, mismatch
	}
	buffer := make([]byte, 16<<10)
	for {
		var length C.size_t
		status := Status(C.celgate_type_check(pointer(input), C.size_t(len(input)), pointer(buffer), C.size_t(len(buffer)), &length))
		switch status {
		case OK:
			return buffer[:length], nil
		case BufferTooSmall:
			buffer = make([]byte, length)
		default:
			return nil, &Error{Call: "type check", Status: status, Text: string(buffer[:min(int(length), len(buffer))])}
		}
	}
}
