package wire

import (
	"encoding/binary"
	"fmt"
)

// EntryKind is the kind of a report entry; values are those of docs/abi.md, "The report".
type EntryKind uint32

const (
	// EntryDecision is a denial, or an error that failurePolicy Ignore admits.
	EntryDecision EntryKind = 1
	// EntryAnnotation is an audit annotation to publish.
	EntryAnnotation EntryKind = 2
	// EntryAnnotationError is an audit annotation that failed under failurePolicy Fail.
	EntryAnnotationError EntryKind = 3
	// EntryConfigurationError is a configuration error under failurePolicy Fail.
	EntryConfigurationError EntryKind = 4
	// EntryMatchConditions tells about match conditions that excluded the policy or failed.
	EntryMatchConditions EntryKind = 5
	// EntryNamespaceError ends the dispatch: the request's namespace could not be looked up.
	EntryNamespaceError EntryKind = 6
	// EntryCall says that a webhook is to be called.
	EntryCall EntryKind = 7
	// EntryNotConverted ends the dispatch: the objects could not be converted for a webhook.
	EntryNotConverted EntryKind = 8
)

// NoBinding is the binding of an entry that has none.
const NoBinding = ^uint32(0)

// Entry is one event of a decided request. Fields that its kind does not have are zero.
type Entry struct {
	Kind EntryKind
	// Hook and Binding are indexes into the engine's hooks and bindings.
	Hook, Binding uint32

	// Expression is the index of a decision's validation.
	Expression uint32
	// Deny says that a decision denies, otherwise it is an admitted error.
	Deny bool
	// Failed says that a decision is an error, otherwise a validation that was not true.
	Failed bool
	// Reason is a decision's status reason, "" for the default.
	Reason string
	// Key is an audit annotation's key.
	Key string
	// Text is the message of a decision or error, or an audit annotation's value.
	Text string

	// Excluded says that match conditions excluded the policy without an error being the cause.
	Excluded bool
	// Ignored says that match conditions failed, which failurePolicy Ignore takes for not matching.
	Ignored bool
	// EvaluationErrors is the number of match conditions that failed.
	EvaluationErrors uint32
	// Match is the number of the match under which a webhook is called.
	Match uint32
	// Observed says that upstream observes the evaluation time of these match conditions.
	Observed bool
}

// Report reads a report entry by entry. Its texts are copies.
type Report struct {
	data []byte
	// at is where the next number or text begins.
	at  int
	err error
}

// NewReport reads data, which must not change meanwhile.
func NewReport(data []byte) Report { return Report{data: data} }

// Next reads the next entry into entry; false means that there is none, because the report ended or, see Err, is malformed.
func (r *Report) Next(entry *Entry) bool {
	if r.err != nil || r.at >= len(r.data) {
		return false
	}
	head := r.numbers(3)
	*entry = Entry{Kind: EntryKind(number(head, 0)), Hook: number(head, 1), Binding: number(head, 2)}
	switch entry.Kind {
	case EntryDecision:
		entry.Expression = r.u32()
		entry.Deny = r.oneOf(0, 1) == 1
		entry.Failed = r.oneOf(1, 2) == 1
		entry.Reason = r.text()
		entry.Text = r.text()
	case EntryAnnotation, EntryAnnotationError:
		entry.Key = r.text()
		entry.Text = r.text()
	case EntryConfigurationError:
		entry.Text = r.text()
	case EntryMatchConditions:
		// Of a request that many webhooks exclude, the report is nothing but these.
		told := r.numbers(3)
		outcome, observed := number(told, 0), number(told, 2)
		r.within(outcome, 0, 2)
		r.within(observed, 0, 1)
		entry.Excluded, entry.Ignored = outcome == 0, outcome == 2
		entry.EvaluationErrors = number(told, 1)
		entry.Observed = observed == 1
	case EntryNamespaceError:
	case EntryCall, EntryNotConverted:
		entry.Match = r.u32()
	default:
		r.fail("unknown kind %d", uint32(entry.Kind))
	}
	return r.err == nil
}

// Err is why the report could not be read to its end, or nil.
func (r *Report) Err() error { return r.err }

// numberBytes is the size of a number.
const numberBytes = 4

// behindTheEnd is what numbers behind the end are read as.
var behindTheEnd [3 * numberBytes]byte

// numbers reads some numbers, at most 3.
func (r *Report) numbers(count int) []byte {
	size := count * numberBytes
	if len(r.data)-r.at < size {
		r.fail("truncated")
		return behindTheEnd[:size]
	}
	read := r.data[r.at : r.at+size]
	r.at += size
	return read
}

// number is one of several that were read.
func number(read []byte, index int) uint32 {
	return binary.LittleEndian.Uint32(read[index*numberBytes:])
}

func (r *Report) u32() uint32 { return number(r.numbers(1), 0) }

// within says of a number that it must lie between low and high.
func (r *Report) within(value, low, high uint32) {
	if r.err == nil && (value < low || value > high) {
		r.fail("%d is not between %d and %d", value, low, high)
	}
}

// oneOf reads a number that must lie between low and high.
func (r *Report) oneOf(low, high uint32) uint32 {
	value := r.u32()
	r.within(value, low, high)
	return value
}

func (r *Report) text() string {
	length := r.u32()
	if uint64(length) > uint64(len(r.data)-r.at) {
		r.fail("truncated")
		return ""
	}
	start := r.at
	r.at += int(length)
	return string(r.data[start:r.at])
}

// fail keeps the first error; what follows it is not read.
func (r *Report) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("malformed report: "+format, args...)
	}
	r.at = len(r.data)
}
