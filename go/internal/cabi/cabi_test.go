//go:build cgo

package cabi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

const policyJSON = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"limit"},
"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["widgets"]}]},
"validations":[{"expression":"object.replicas <= 5","messageExpression":"'got ' + string(object.replicas)"}]}}`

const bindingJSON = `{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"here"},
"spec":{"policyName":"limit","validationActions":["Deny"]}}`

const keyJSON = `{"resource":{"group":"example.com","version":"v1","resource":"widgets"},"subresource":"","operation":"CREATE","namespaced":false,
"kind":{"group":"example.com","version":"v1","kind":"Widget"},"equivalents":[]}`

// request is a record (docs/record-format.md) of a request that creates {"replicas": replicas}.
func request(replicas int64) []byte {
	const key = "replicas"
	cell := func(b []byte, tag byte, size uint32, payload uint64) []byte {
		b = append(b, tag, 0, 0, 0)
		b = binary.LittleEndian.AppendUint32(b, size)
		return binary.LittleEndian.AppendUint64(b, payload)
	}
	b := []byte("CGR1")
	b = binary.LittleEndian.AppendUint32(b, 9)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(key)))
	b = binary.LittleEndian.AppendUint32(b, 7)
	b = cell(b, 8, 0, 7)
	for range 4 {
		b = cell(b, 1, 0, 0)
	}
	b = cell(b, 8, 1, 7)
	b = cell(b, 1, 0, 0)
	b = cell(b, 6, uint32(len(key)), 0)
	b = cell(b, 3, 0, uint64(replicas))
	return append(b, key...)
}

func newPlan(t testing.TB) *Plan {
	t.Helper()
	policy, err := NewPolicy([]byte(policyJSON))
	if err != nil {
		t.Fatal(err)
	}
	binding, err := NewBinding([]byte(bindingJSON))
	if err != nil {
		t.Fatal(err)
	}
	engine, err := NewEngine([]Hook{{Policy: policy, Bindings: 1, Params: None}}, []*Binding{binding})
	if err != nil {
		t.Fatal(err)
	}
	plan, info, err := engine.NewPlan([]byte(keyJSON))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(info, []byte(`"empty":false`)) {
		t.Fatalf("the plan is empty: %s", info)
	}
	return plan
}

func TestEvaluate(t *testing.T) {
	plan, scratch := newPlan(t), NewScratch()
	if out, status := plan.Evaluate(scratch, request(5), nil, nil); status != OK || len(out) != 0 || scratch.Evaluations() != 1 {
		t.Errorf("5 replicas: %s, %q, %d evaluations", status, out, scratch.Evaluations())
	}
	scratch.Reset()
	if out, status := plan.Evaluate(scratch, request(6), nil, nil); status != OK || !bytes.Contains(out, []byte("got 6")) {
		t.Errorf("6 replicas: %s, %q", status, out)
	}
}

func TestALongReportIsFetched(t *testing.T) {
	plan, scratch := newPlan(t), NewScratch()
	scratch.out = make([]byte, 3)
	if out, status := plan.Evaluate(scratch, request(6), nil, nil); status != OK || !bytes.Contains(out, []byte("got 6")) {
		t.Errorf("6 replicas: %s, %q", status, out)
	}
}

func TestMalformedInputIsAnError(t *testing.T) {
	for name, make := range map[string]func() error{
		"policy that is not JSON":    func() error { _, err := NewPolicy([]byte("{")); return err },
		"policy of another shape":    func() error { _, err := NewPolicy([]byte(`{"spec":{"validations":7}}`)); return err },
		"binding that is not JSON":   func() error { _, err := NewBinding([]byte("[")); return err },
		"params that end early":      func() error { _, err := NewParams(nil, []byte{1, 0, 0, 0}); return err },
		"hook without its bindings":  func() error { return hookError(t) },
		"plan key that is not a key": func() error { return planError(t) },
		"types that are no list":     func() error { _, err := TypeCheck([]byte(`{"policy":{},"types":7}`)); return err },
	} {
		var failed *Error
		if err := make(); !errors.As(err, &failed) || failed.Status != Invalid || failed.Text == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	plan, scratch := newPlan(t), NewScratch()
	good := request(6)
	for cut := range good {
		if out, status := plan.Evaluate(scratch, good[:cut], nil, nil); status != Invalid || len(out) == 0 {
			t.Fatalf("a record of %d of %d bytes: %s, %q", cut, len(good), status, out)
		}
		scratch.Reset()
	}
	if out, status := plan.Evaluate(scratch, good, nil, nil); status != OK || !bytes.Contains(out, []byte("got 6")) {
		t.Errorf("the engine is not usable after malformed records: %s, %q", status, out)
	}
}

func TestTypeCheck(t *testing.T) {
	const kind = `{"kind":{"group":"example.com","version":"v1","kind":"Widget"},"schema":{"type":"object"}}`
	for _, count := range []int{0, 1, 500} {
		// The last is longer than the first buffer.
		validations := strings.Repeat(`,{"expression":"object.nothing"}`, count)
		warnings, err := TypeCheck([]byte(`{"policy":{"spec":{"validations":[{"expression":"object.kind == ''"}` + validations + `]}},"types":[` + kind + `]}`))
		if err != nil || bytes.Count(warnings, []byte("undefined field 'nothing'")) != count {
			t.Errorf("%d expressions: %v, %.200s", count, err, warnings)
		}
	}
}

func hookError(t *testing.T) error {
	policy, err := NewPolicy([]byte(policyJSON))
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewEngine([]Hook{{Policy: policy, Bindings: 1, Params: None}}, nil)
	return err
}

func planError(t *testing.T) error {
	engine, err := NewEngine(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = engine.NewPlan([]byte("{}"))
	return err
}

// A library of another ABI is never called: everything that would makes an error, and a plugin cannot be made (it asks Available).
func TestAnotherABIIsAnError(t *testing.T) {
	statuses := [6]int{0, 1, 2, 3, 4, 5}
	for want, err := range map[string]error{
		"linked library implements 99": checkABI(abiVersion, 99, statuses),
		"header declares 7":            checkABI(7, abiVersion, statuses),
		"status 5 is 6":                checkABI(abiVersion, abiVersion, [6]int{0, 1, 2, 3, 4, 6}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	defer func(was error) { mismatch = was }(mismatch)
	mismatch = checkABI(abiVersion, 99, statuses)
	if Available() == nil {
		t.Error("the engine is available")
	}
	if _, err := NewPolicy([]byte(policyJSON)); err == nil {
		t.Error("a policy was made")
	}
}

func TestNothingIsAllocatedOnTheWayToAllowed(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	plan, scratch, allowed := newPlan(t), NewScratch(), request(5)
	if n := testing.AllocsPerRun(1000, func() {
		plan.Evaluate(scratch, allowed, nil, nil)
		scratch.Reset()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Goroutines evaluate while others replace engines; all handles go back in the end.
func TestReplaceUnderLoad(t *testing.T) {
	before := settledHandles(t, -1)
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 50 {
				plan, scratch := newPlan(t), NewScratch()
				for n := range int64(10) {
					out, status := plan.Evaluate(scratch, request(n), nil, nil)
					if denied := len(out) > 0; status != OK || denied != (n > 5) {
						t.Errorf("worker %d, round %d: %d replicas: %s, %q", worker, i, n, status, out)
					}
					scratch.Reset()
				}
			}
		})
	}
	group.Wait()
	if after := settledHandles(t, before); after > before {
		t.Errorf("%d handles before, %d after", before, after)
	}
}

// settledHandles collects until no more than want handles are live, or the number no longer falls.
func settledHandles(t *testing.T, want int64) int64 {
	t.Helper()
	last := Live()
	for range 50 {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
		if now := Live(); now <= want {
			return now
		} else if now < last {
			last = now
		}
	}
	return Live()
}

func BenchmarkEvaluate(b *testing.B) {
	plan, scratch, allowed := newPlan(b), NewScratch(), request(5)
	b.ReportAllocs()
	for b.Loop() {
		plan.Evaluate(scratch, allowed, nil, nil)
		scratch.Reset()
	}
}

func ExampleError() {
	_, err := NewPolicy([]byte("{"))
	fmt.Println(strings.HasPrefix(err.Error(), "celgate: policy: invalid: "))
	// Output: true
}

// A handle is given back though small values that were made beside it live on.
func TestHandlesAreCollectedAlone(t *testing.T) {
	before := settledHandles(t, 0)
	var neighbours []*int64
	for range 100 {
		if _, err := NewPolicy([]byte(`{"metadata":{"name":"p"},"spec":{}}`)); err != nil {
			t.Fatal(err)
		}
		neighbours = append(neighbours, new(int64))
	}
	if after := settledHandles(t, before); after > before {
		t.Errorf("%d handles before, %d after", before, after)
	}
	runtime.KeepAlive(neighbours)
}
