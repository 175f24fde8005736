//go:build cgo

package expression

/*
#cgo CFLAGS: -I${SRCDIR}/../../../../include -DCELGATE_EXPRESSIONS -DCELGATE_MUTANTS
#cgo LDFLAGS: ${SRCDIR}/../../../../target/differential/libcelgate.a -lm
#cgo linux LDFLAGS: -ldl -lpthread
#include "celgate.h"
#cgo noescape celgate_expression_evaluate
#cgo nocallback celgate_expression_evaluate
*/
import "C"

import (
	"encoding/json"
	"fmt"
	"unsafe"
)

// Type is a CEL type: its name and, for lists, maps and other generic types, its parameters.
type Type struct {
	Name       string
	Parameters []Type
}

// MarshalJSON writes the type as docs/abi.md has it.
func (t Type) MarshalJSON() ([]byte, error) {
	if len(t.Parameters) == 0 {
		return json.Marshal(t.Name)
	}
	parts := []any{t.Name}
	for _, parameter := range t.Parameters {
		parts = append(parts, parameter)
	}
	return json.Marshal(parts)
}

// Variable is a variable that expressions may name.
type Variable struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
	// Schema is an OpenAPI schema of a resource; Type is then the name of the type that it declares.
	Schema any `json:"schema,omitempty"`
}

// Resource is what authorizer.requestResource asks about.
type Resource struct {
	Group       string `json:"group"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
}

// Declarations are the variables of an environment; the authorizer is one if RequestResource is set.
type Declarations struct {
	Variables       []Variable `json:"variables"`
	RequestResource *Resource  `json:"requestResource,omitempty"`
	// MinorVersion is the version whose environment it is; nil is that of stored expressions.
	MinorVersion *uint `json:"minorVersion,omitempty"`
	// Tracked counts cost the long way in all expressions.
	Tracked bool `json:"tracked,omitempty"`
}

// Environment is what expressions may name.
type Environment struct{ ptr *C.celgate_environment }

// Expression is a compiled expression.
type Expression struct{ ptr *C.celgate_expression }

// Scratch is the working memory of one evaluation at a time.
type Scratch struct {
	ptr *C.celgate_scratch
	out []byte
}

// NewEnvironment makes an environment; it lives as long as the process.
func NewEnvironment(declarations Declarations) (*Environment, error) {
	content, err := json.Marshal(declarations)
	if err != nil {
		return nil, err
	}
	var ptr *C.celgate_environment
	text, status := withText(func(text *C.uint8_t, size C.size_t, length *C.size_t) C.celgate_status {
		return C.celgate_environment_new(pointer(content), C.size_t(len(content)), &ptr, text, size, length)
	})
	if status != C.CELGATE_STATUS_OK {
		return nil, fmt.Errorf("celgate: environment: status %d: %s", status, text)
	}
	return &Environment{ptr: ptr}, nil
}

// Compile returns the expression and its static type; the error is upstream's text. The expression must be freed.
func (e *Environment) Compile(source string) (expression *Expression, output string, err error) {
	var ptr *C.celgate_expression
	content := unsafe.Slice(unsafe.StringData(source), len(source))
	text, status := withText(func(text *C.uint8_t, size C.size_t, length *C.size_t) C.celgate_status {
		return C.celgate_expression_new(e.ptr, pointer(content), C.size_t(len(content)), &ptr, text, size, length)
	})
	switch status {
	case C.CELGATE_STATUS_OK:
		return &Expression{ptr: ptr}, text, nil
	case C.CELGATE_STATUS_INVALID:
		return nil, "", &CompileError{Text: text}
	}
	return nil, "", fmt.Errorf("celgate: compiling ended with status %d", status)
}

// CompileError says why an expression does not compile.
type CompileError struct{ Text string }

func (e *CompileError) Error() string { return e.Text }

// Projections is what the expression reads of object and oldObject, as JSON (docs/abi.md, "Projections").
func (x *Expression) Projections() (string, error) {
	text, status := withText(func(text *C.uint8_t, size C.size_t, length *C.size_t) C.celgate_status {
		return C.celgate_expression_projections(x.ptr, text, size, length)
	})
	if status != C.CELGATE_STATUS_OK {
		return "", fmt.Errorf("celgate: projections: status %d", status)
	}
	return text, nil
}

// Free frees the expression; it must not be used again.
func (x *Expression) Free() { C.celgate_expression_free(x.ptr) }

// NewScratch makes a scratch; it lives as long as the process.
func NewScratch() *Scratch {
	scratch := &Scratch{out: make([]byte, 4096)}
	if status := C.celgate_scratch_new(&scratch.ptr); status != C.CELGATE_STATUS_OK {
		panic(fmt.Sprintf("celgate: scratch: status %d", status))
	}
	return scratch
}

// Evaluate returns the result as a line of text (docs/abi.md, "Expressions"), valid until the scratch's next use. Questions are
// answered by answer, which returns them encoded; it may be nil where there is no authorizer.
func (x *Expression) Evaluate(scratch *Scratch, record []byte, costLimit uint64, answer func(questions []byte) ([]byte, error)) ([]byte, error) {
	defer C.celgate_scratch_reset(scratch.ptr)
	var answers []byte
	for {
		var length C.size_t
		status := C.celgate_expression_evaluate(x.ptr, scratch.ptr, pointer(record), C.size_t(len(record)), pointer(answers),
			C.size_t(len(answers)), C.uint64_t(costLimit), pointer(scratch.out), C.size_t(len(scratch.out)), &length)
		if status == C.CELGATE_STATUS_BUFFER_TOO_SMALL {
			scratch.out = make([]byte, length)
			status = C.celgate_scratch_result(scratch.ptr, pointer(scratch.out), C.size_t(len(scratch.out)), &length)
		}
		out := scratch.out[:min(int(length), len(scratch.out))]
		switch {
		case status == C.CELGATE_STATUS_OK:
			return out, nil
		case status == C.CELGATE_STATUS_NEEDS_INPUT && answer != nil:
			var err error
			if answers, err = answer(out); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("celgate: evaluating ended with status %d: %s", status, out)
		}
	}
}

// Plant plants the bug of that number, 0 for none, and returns how many there are.
func Plant(number int) int { return int(C.celgate_mutant(C.uint32_t(number))) }

func pointer(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }

// withText runs a call that writes a text, again with a longer buffer if it must.
func withText(call func(text *C.uint8_t, size C.size_t, length *C.size_t) C.celgate_status) (string, C.celgate_status) {
	buffer := make([]byte, 4096)
	for {
		var length C.size_t
		status := call(pointer(buffer), C.size_t(len(buffer)), &length)
		if int(length) <= len(buffer) {
			return string(buffer[:length]), status
		}
		buffer = make([]byte, length)
	}
}
