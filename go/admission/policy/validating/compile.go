package validating

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celgate/celgate/go/internal/cabi"
)

// compilePolicy compiles a policy. It fails only if the engine can make nothing at all of the policy, not even what it matches.
func compilePolicy(policy *Policy) (*Evaluator, error) {
	compiled, err := newPolicy(policy)
	if err == nil {
		return &Evaluator{policy: compiled}, nil
	}
	// The policy must not be dropped: what is left of it matches the same requests, and each of them gets the error.
	husk := &Policy{TypeMeta: policy.TypeMeta, ObjectMeta: metav1.ObjectMeta{Name: policy.Name}}
	husk.Spec.FailurePolicy = policy.Spec.FailurePolicy
	husk.Spec.MatchConstraints = policy.Spec.MatchConstraints
	compiled, huskErr := newPolicy(husk)
	if huskErr != nil {
		return nil, fmt.Errorf("failed to compile policy %q: %w", policy.Name, huskErr)
	}
	return &Evaluator{policy: compiled, err: fmt.Errorf("failed to compile policy: %w", err)}, nil
}

func newPolicy(policy *Policy) (*cabi.Policy, error) {
	data, err := json.Marshal(&Policy{TypeMeta: policy.TypeMeta, ObjectMeta: leanMeta(policy), Spec: policy.Spec})
	if err != nil {
		return nil, err
	}
	return cabi.NewPolicy(data)
}

// leanMeta is what the core wants to know of an object's metadata, which can be larger than all else of it.
func leanMeta(object metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: object.GetName(), Annotations: object.GetAnnotations()}
}

// newBinding parses a binding.
func newBinding(binding *PolicyBinding) (*cabi.Binding, error) {
	data, err := json.Marshal(&PolicyBinding{TypeMeta: binding.TypeMeta, ObjectMeta: leanMeta(binding), Spec: binding.Spec})
	if err != nil {
		return nil, err
	}
	return cabi.NewBinding(data)
}

// versioned is a stored object, as far as telling versions of it apart goes.
type versioned interface {
	comparable
	metav1.Object
}

// compiled caches what is made from stored objects, by name. It is not safe for concurrent use.
type compiled[O versioned, H any] struct {
	entries map[string]compiledEntry[O, H]
	round   uint64
}

type compiledEntry[O versioned, H any] struct {
	object O
	made   H
	round  uint64
}

// get gives what was made from this version of the object, making it if need be.
func (c *compiled[O, H]) get(object O, create func(O) (H, error)) (H, error) {
	entry, found := c.entries[object.GetName()]
	if !found || !sameVersion(entry.object, object) {
		made, err := create(object)
		if err != nil {
			return made, err
		}
		entry.made = made
	}
	entry.object, entry.round = object, c.round
	if c.entries == nil {
		c.entries = map[string]compiledEntry[O, H]{}
	}
	c.entries[object.GetName()] = entry
	return entry.made, nil
}

// fill makes what is missing for these objects, with all processors. What fails is left to get.
func (c *compiled[O, H]) fill(objects []O, create func(O) (H, error)) {
	missing := slices.DeleteFunc(slices.Clone(objects), func(object O) bool {
		entry, found := c.entries[object.GetName()]
		return found && sameVersion(entry.object, object)
	})
	if len(missing) < 2 {
		return
	}
	made := make([]H, len(missing))
	errs := make([]error, len(missing))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(missing)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(missing)); i = next.Add(1) - 1 {
				made[i], errs[i] = create(missing[i])
			}
		})
	}
	workers.Wait()
	if c.entries == nil {
		c.entries = make(map[string]compiledEntry[O, H], len(missing))
	}
	for i, object := range missing {
		if errs[i] == nil {
			c.entries[object.GetName()] = compiledEntry[O, H]{object: object, made: made[i], round: c.round}
		}
	}
}

// sweep forgets what was not asked for since the previous sweep.
func (c *compiled[O, H]) sweep() {
	for name, entry := range c.entries {
		if entry.round != c.round {
			delete(c.entries, name)
		}
	}
	c.round++
}

// sameVersion says whether two objects of one name are the same version of the same object.
func sameVersion[O versioned](a, b O) bool {
	return a == b || a.GetResourceVersion() != "" && a.GetResourceVersion() == b.GetResourceVersion() && a.GetUID() == b.GetUID()
}
