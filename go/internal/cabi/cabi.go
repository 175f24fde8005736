//go:build cgo

package cabi

/*
#cgo CFLAGS: -I${SRCDIR}/../../../include
#include "celgate.h"
#cgo noescape celgate_plan_evaluate
#cgo nocallback celgate_plan_evaluate
#cgo noescape celgate_scratch_reset
#cgo nocallback celgate_scratch_reset
#cgo noescape celgate_scratch_result
#cgo nocallback celgate_scratch_result
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// abiVersion is the ABI that this package is written against.
const abiVersion = 4

// mismatch says why the linked library cannot be used; nothing is called in it then.
var mismatch = checkABI(int(C.CELGATE_ABI_VERSION), int(C.celgate_abi_version()), [...]int{
	OK: C.CELGATE_STATUS_OK, NeedsInput: C.CELGATE_STATUS_NEEDS_INPUT, Yield: C.CELGATE_STATUS_YIELD,
	BufferTooSmall: C.CELGATE_STATUS_BUFFER_TOO_SMALL, Invalid: C.CELGATE_STATUS_INVALID, Panic: C.CELGATE_STATUS_PANIC,
})

// checkABI compares this package with the header that it was compiled with and the library that it was linked with.
func checkABI(header, library int, statuses [6]int) error {
	if header != abiVersion {
		return fmt.Errorf("celgate: the engine cannot be used: this package is written for ABI %d, its header declares %d", abiVersion, header)
	}
	if library != abiVersion {
		return fmt.Errorf("celgate: the engine cannot be used: this package is written for ABI %d, the linked library implements %d", abiVersion, library)
	}
	for mirrored, declared := range statuses {
		if mirrored != declared {
			return fmt.Errorf("celgate: the engine cannot be used: status %d is %d in its header", mirrored, declared)
		}
	}
	return nil
}

// Available is nil when this build has the engine, and it is the one that this package is written for.
func Available() error { return mismatch }

// Policy is a compiled ValidatingAdmissionPolicy.
type Policy struct {
	ptr *C.celgate_policy
	_   alone
}

// Binding is a ValidatingAdmissionPolicyBinding with its selectors parsed.
type Binding struct {
	ptr *C.celgate_binding
	_   alone
}

// Params is the params of one paramKind at one moment.
type Params struct {
	ptr *C.celgate_params
	_   alone
}

// Webhook is an entry of a ValidatingWebhookConfiguration with its match conditions compiled.
type Webhook struct {
	ptr *C.celgate_webhook
	_   alone
}

// Engine is a snapshot of policies and bindings, or of webhooks.
type Engine struct {
	ptr *C.celgate_engine
	_   alone
}

// NewPolicy compiles the JSON of a v1 ValidatingAdmissionPolicy. Expressions that do not compile are no error here.
func NewPolicy(json []byte) (*Policy, error) {
	var ptr *C.celgate_policy
	err := withText("policy", func(text *C.uint8_t, size C.size_t, length *C.size_t) C.celgate_status {
		return C.celgate_policy_new(pointer(json), C.size_t(len(json)), &ptr, text, size, length)
	})
	if err != nil {
		return nil, err
	}
	policy := &Policy{ptr: ptr}
	own(policy, func(ptr *C.celgate_policy) { C.celgate_policy_free(ptr) }, ptr)
	return policy, nil
}

// Evaluations is how often policies of this name were evaluated in this process, once per request and distinct param.
func (p *Policy) Evaluations() uint64 {
	evaluations := uint64(C.celgate_policy_evaluations(p.ptr))
	runtime.KeepAlive(p)
	return evaluations
}

// NewBinding reads the JSON of a v1 ValidatingAdmissionPolicyBinding. Selectors that do not parse are no error here.
func NewBinding(json []byte) (*Binding, error) {
	var ptr *C.celgate_binding
	err := withText("binding", func(text *C.uint8_t, size C.size_t, length *C.size_t) C.celgate_status {
		return C.celgate_binding_new(pointer(json), C.size_t(len(json)), &ptr, text, size, length)
	})
	if err != nil {
		return nil, err
	}
	binding := &Binding{ptr: ptr}
	own(binding, func(ptr *C.celgate_binding) { C.celgate_binding_free(ptr) }, ptr)
	return binding, nil
}

// NewWebhook compiles the JSON of a v1 ValidatingWebhook. Match conditions and selectors that do not compile are no error here.
func NewWebhook(json []byte) (*Webhook, error) {
	var ptr *C.celgate_webhook
	err := withText("webhook", func(text *C.uint8_t, size C.size_t, length *C.size_t) C.celgate_status {
		return C.celgate_webhook_new(pointer(json), C.size_t(len(json)), &ptr, text, size, length)
	})
	if err != nil {
		return nil, err
	}
	webhook := &Webhook{ptr: ptr}
	own(webhook, func(ptr *C.celgate_webhook) { C.celgate_webhook_free(ptr) }, ptr)
	return webhook, nil
}

// NewParams applies a batch of changes to previous, which may be nil. What did not change is shared.
func NewParams(previous *Params, batch []byte) (*Params, error) {
	var ptr, from *C.celgate_params
	if previous != nil {
		from = previous.ptr
	}
	err := withText("params", func(text *C.uint8_t, size C.size_t, length *C.size_t) C.celgate_status {
		return C.celgate_params_new(from, pointer(batch), C.size_t(len(batch)), &ptr, text, size, length)
	})
	runtime.KeepAlive(previous)
	if err != nil {
		return nil, err
	}
	params := &Params{ptr: ptr}
	own(params, func(ptr *C.celgate_params) { C.celgate_params_free(ptr) }, ptr)
	return params, nil
}

// NewEngine makes a snapshot of policies. Hooks are in decision order, and so are the bindings of each hook.
func NewEngine(hooks []Hook, bindings []*Binding) (*Engine, error) {
	var texts []byte
	rawHooks := make([]C.celgate_hook, len(hooks))
	for i, hook := range hooks {
		raw := C.celgate_hook{
			policy:        hook.Policy.ptr,
			first_binding: C.uint32_t(hook.FirstBinding),
			bindings:      C.uint32_t(hook.Bindings),
			params:        C.uint32_t(hook.Params),
			error_offset:  C.uint32_t(len(texts)),
			error_len:     C.uint32_t(len(hook.Error)),
		}
		if hook.NamespacedParams {
			raw.flags = C.CELGATE_HOOK_NAMESPACED_PARAMS
		}
		texts = append(texts, hook.Error...)
		rawHooks[i] = raw
	}
	rawBindings := make([]*C.celgate_binding, len(bindings))
	for i, binding := range bindings {
		rawBindings[i] = binding.ptr
	}
	var ptr *C.celgate_engine
	err := withText("engine", func(text *C.uint8_t, size C.size_t, length *C.size_t) C.celgate_status {
		return C.celgate_engine_new(unsafe.SliceData(rawHooks), C.size_t(len(rawHooks)), unsafe.SliceData(rawBindings),
			C.size_t(len(rawBindings)), pointer(texts), C.size_t(len(texts)), &ptr, text, size, length)
	})
	stressGC()
	runtime.KeepAlive(hooks)
	runtime.KeepAlive(bindings)
	return newEngine(ptr, err)
}

// NewWebhookEngine makes a snapshot of webhooks, in the order in which upstream looks at them.
func NewWebhookEngine(webhooks []*Webhook) (*Engine, error) {
	raw := make([]*C.celgate_webhook, len(webhooks))
	for i, webhook := range webhooks {
		raw[i] = webhook.ptr
	}
	var ptr *C.celgate_engine
	err := withText("engine", func(text *C.uint8_t, size C.size_t, length *C.size_t) C.celgate_status {
		return C.celgate_engine_of_webhooks(unsafe.SliceData(raw), C.size_t(len(raw)), &ptr, text, size, length)
	})
	stressGC()
	runtime.KeepAlive(webhooks)
	return newEngine(ptr, err)
}

func newEngine(ptr *C.celgate_engine, err error) (*Engine, error) {
	if err != nil {
		return nil, err
	}
	engine := &Engine{ptr: ptr}
	own(engine, func(ptr *C.celgate_engine) { C.celgate_engine_free(ptr) }, ptr)
	return engine, nil
}

// pointer is the address to hand to the core; an empty slice has none that may be read.
func pointer(b []byte) *C.uint8_t {
	return (*C.uint8_t)(unsafe.SliceData(b))
}

// withText runs a call that explains a failure in a text.
func withText(what string, call func(text *C.uint8_t, size C.size_t, length *C.size_t) C.celgate_status) error {
	if mismatch != nil {
		return mismatch
	}
	var text [4096]byte
	var length C.size_t
	status := Status(call((*C.uint8_t)(&text[0]), C.size_t(len(text)), &length))
	if status == OK {
		return nil
	}
	return &Error{Call: what, Status: status, Text: string(text[:min(int(length), len(text))])}
}
