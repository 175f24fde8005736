package expression

// #include "celgate.h"
import "C"

import "fmt"

// ObjectError says why a JSON text is no policy or binding.
type ObjectError struct{ Text string }

func (e *ObjectError) Error() string { return e.Text }

// ReadObject reads a policy or binding of any version, and returns as JSON what was read (docs/abi.md, "Objects").
func ReadObject(json []byte) ([]byte, error) {
	text, status := withText(func(text *C.uint8_t, size C.size_t, length *C.size_t) C.celgate_status {
		return C.celgate_object_read(pointer(json), C.size_t(len(json)), text, size, length)
	})
	switch status {
	case C.CELGATE_STATUS_OK:
		return []byte(text), nil
	case C.CELGATE_STATUS_INVALID:
		return nil, &ObjectError{Text: text}
	}
	return nil, fmt.Errorf("celgate: reading an object ended with status %d", status)
}
