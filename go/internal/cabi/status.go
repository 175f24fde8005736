package cabi

import "fmt"

// Status is what a call ended with; values are the header's.
type Status int32

const (
	OK             Status = 0
	NeedsInput     Status = 1
	Yield          Status = 2
	BufferTooSmall Status = 3
	Invalid        Status = 4
	Panic          Status = 5
)

func (s Status) String() string {
	switch s {
	case OK:
		return "ok"
	case NeedsInput:
		return "needs input"
	case Yield:
		return "yield"
	case BufferTooSmall:
		return "buffer too small"
	case Invalid:
		return "invalid"
	case Panic:
		return "panic in the core"
	default:
		return fmt.Sprintf("unknown status %d", int32(s))
	}
}

// Error is a failed call: its status and what the core said.
type Error struct {
	Call   string
	Status Status
	Text   string
}

func (e *Error) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("celgate: %s: %s", e.Call, e.Status)
	}
	return fmt.Sprintf("celgate: %s: %s: %s", e.Call, e.Status, e.Text)
}

// None is the index that means "none": a hook without params, a report entry without a binding.
const None = ^uint32(0)

// Hook is one policy with its bindings, an argument of NewEngine.
type Hook struct {
	Policy *Policy
	// FirstBinding and Bindings are the hook's range in the array of bindings.
	FirstBinding, Bindings uint32
	// Params is the number of the policy's param set, or None.
	Params uint32
	// Error is the policy's configuration error, "" when there is none.
	Error string
	// NamespacedParams says that the paramKind is namespaced.
	NamespacedParams bool
}
