//go:build cgo

package cabi

// #include "celgate.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Plan is the part of an engine that can match one kind of request.
type Plan struct {
	ptr *C.celgate_plan
	_   alone
}

// NewPlan makes the plan for one kind of request; key and info are JSON (docs/abi.md, "Plan").
func (e *Engine) NewPlan(key []byte) (plan *Plan, info []byte, err error) {
	buffer := make([]byte, 4096)
	for {
		var ptr *C.celgate_plan
		var length C.size_t
		status := Status(C.celgate_plan_new(e.ptr, pointer(key), C.size_t(len(key)), &ptr, pointer(buffer), C.size_t(len(buffer)), &length))
		runtime.KeepAlive(e)
		switch status {
		case OK:
			plan := &Plan{ptr: ptr}
			own(plan, func(ptr *C.celgate_plan) { C.celgate_plan_free(ptr) }, ptr)
			return plan, buffer[:length], nil
		case BufferTooSmall:
			buffer = make([]byte, length)
		default:
			return nil, nil, &Error{Call: "plan", Status: status, Text: string(buffer[:min(int(length), len(buffer))])}
		}
	}
}

// Scratch is one request's working memory, reused from request to request and used by one call at a time.
type Scratch struct {
	ptr         *C.celgate_scratch
	out         []byte
	params      []*C.celgate_params
	evaluations uint64
}

// NewScratch makes a scratch.
func NewScratch() *Scratch {
	var ptr *C.celgate_scratch
	if status := Status(C.celgate_scratch_new(&ptr)); status != OK {
		panic((&Error{Call: "scratch", Status: status}).Error())
	}
	scratch := &Scratch{ptr: ptr, out: make([]byte, 4096)}
	own(scratch, func(ptr *C.celgate_scratch) { C.celgate_scratch_free(ptr) }, ptr)
	return scratch
}

// Reset ends the scratch's request, decided or abandoned.
func (s *Scratch) Reset() {
	C.celgate_scratch_reset(s.ptr)
	runtime.KeepAlive(s)
}

// Evaluations is the number of policies that the last call evaluated, counted once per distinct param.
func (s *Scratch) Evaluations() uint64 { return s.evaluations }

// Evaluate decides one request, or goes on with answers. request is the same in every call for one request; params[i] is the current
// param set of number i, nil when it has not synced. out is the report, the questions or the reason, valid until the scratch's next use.
func (p *Plan) Evaluate(scratch *Scratch, request []byte, params []*Params, answers []byte) (out []byte, status Status) {
	scratch.params = scratch.params[:0]
	for _, set := range params {
		var ptr *C.celgate_params
		if set != nil {
			ptr = set.ptr
		}
		scratch.params = append(scratch.params, ptr)
	}
	stressGC()
	var result C.celgate_result
	status = Status(C.celgate_plan_evaluate(p.ptr, scratch.ptr, pointer(request), C.size_t(len(request)),
		unsafe.SliceData(scratch.params), C.size_t(len(scratch.params)), pointer(answers), C.size_t(len(answers)),
		pointer(scratch.out), C.size_t(len(scratch.out)), &result))
	length := int(result.len)
	scratch.evaluations = uint64(result.evaluations)
	if status == BufferTooSmall {
		scratch.out = make([]byte, length)
		var written C.size_t
		status = Status(C.celgate_scratch_result(scratch.ptr, pointer(scratch.out), C.size_t(len(scratch.out)), &written))
		length = int(written)
	}
	runtime.KeepAlive(p)
	runtime.KeepAlive(scratch)
	runtime.KeepAlive(params)
	return scratch.out[:min(length, len(scratch.out))], status
}
