package validating

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"

	"github.com/celgate/celgate/go/internal/cabi"
	"github.com/celgate/celgate/go/internal/wire"
)

// planKey is what a plan depends on besides the snapshot.
type planKey struct {
	resource    schema.GroupVersionResource
	kind        schema.GroupVersionKind
	subresource string
	operation   admission.Operation
	namespaced  bool
	// mapper gives the request's equivalent resources: a pointer, or nil. Kinds of API servers in one process have each their own.
	mapper runtime.EquivalentResourceMapper
}

// plan is the part of a snapshot that can match one kind of request.
type plan struct {
	// handle is nil if nothing can match.
	handle *cabi.Plan
	// view is the snapshot whose policies it is about: the one it was looked up in, or its static part.
	view *snapshot
	// numbers are those of the plan's engine, which may be that of an earlier snapshot.
	numbers
	// versions are the kinds into which the core wants object and oldObject converted, in its order.
	versions []schema.GroupVersionKind
	// params are the numbers of the param sets that matter.
	params []uint32
	needs  needs
	// object and oldObject are the parts of these that the planned policies can read.
	object, oldObject *wire.Projection

	// used says whether a request has asked for the plan in this snapshot, idle in how many snapshots before it none has.
	used atomic.Bool
	idle int
}

// needs says which roots of the request record the planned policies can read.
type needs struct {
	Request         bool `json:"request"`
	Object          bool `json:"object"`
	OldObject       bool `json:"oldObject"`
	NamespaceObject bool `json:"namespaceObject"`
	NamespaceLabels bool `json:"namespaceLabels"`
	ObjectLabels    bool `json:"objectLabels"`
}

// keyOf gives a request's key; cacheable is false if its mapper has no identity that a map could hold.
func keyOf(a admission.Attributes, o admission.ObjectInterfaces) (key planKey, cacheable bool) {
	key = planKey{
		resource:    a.GetResource(),
		kind:        a.GetKind(),
		subresource: a.GetSubresource(),
		operation:   a.GetOperation(),
		namespaced:  a.GetNamespace() != "",
	}
	if o == nil {
		return key, true
	}
	key.mapper = o.GetEquivalentResourceMapper()
	return key, key.mapper == nil || reflect.TypeOf(key.mapper).Kind() == reflect.Pointer
}

// plan gives the plan for a request, making it if this is the first of its kind. exempt gives resources that no policy judges, or only static ones.
func (s *snapshot) plan(a admission.Attributes, o admission.ObjectInterfaces, exempt *exemptions) (*plan, error) {
	key, cacheable := keyOf(a, o)
	if !cacheable {
		return s.newPlan(key, exempt)
	}
	found := s.plans.find(&key)
	if found == nil {
		var err error
		if found, err = s.plans.add(&key, func() (*plan, error) { return s.newPlan(key, exempt) }); err != nil {
			return nil, err
		}
	}
	if !found.used.Load() {
		found.used.Store(true)
	}
	return found, nil
}

func (s *snapshot) newPlan(key planKey, exempt *exemptions) (*plan, error) {
	view := s
	switch {
	case exempt.fromAll(key.resource.GroupResource()):
		return &plan{}, nil
	case exempt.fromAPI(key.resource.GroupResource()):
		if s.static != nil { // nil in the static snapshot itself
			view = s.static
		}
	}
	if view.engine == nil {
		return &plan{}, nil
	}
	handle, info, err := makePlan(view.engine, key)
	if err != nil {
		return nil, err
	}
	if info.Empty {
		return &plan{}, nil
	}
	made := &plan{handle: handle, view: view, numbers: view.numbers, params: info.Params, needs: info.Needs}
	if made.object, made.oldObject, err = wire.ParseProjections(info.Projections); err != nil {
		return nil, fmt.Errorf("celgate: plan: projections: %w", err)
	}
	for _, version := range info.Versions {
		made.versions = append(made.versions, schema.GroupVersionKind(version))
	}
	for _, set := range made.params {
		if int(set) >= len(view.sets) {
			return nil, fmt.Errorf("celgate: plan: there is no param set %d", set)
		}
	}
	return made, nil
}

func makePlan(engine *cabi.Engine, key planKey) (handle *cabi.Plan, info planInfo, err error) {
	encoded, err := json.Marshal(encodeKey(key))
	if err != nil {
		return nil, info, err
	}
	handle, data, err := engine.NewPlan(encoded)
	if err != nil {
		return nil, info, err
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return nil, info, fmt.Errorf("celgate: plan: %w", err)
	}
	return handle, info, nil
}

// planInfo is what the core says of a plan (docs/abi.md, "Plan").
type planInfo struct {
	Empty    bool      `json:"empty"`
	Versions []kindRef `json:"versions"`
	Params   []uint32  `json:"params"`
	Needs    needs     `json:"needs"`

	Projections json.RawMessage `json:"projections"`
}

type kindRef struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

type resourceRef struct {
	Group    string `json:"group"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
}

type equivalentRef struct {
	Resource resourceRef `json:"resource"`
	Kind     *kindRef    `json:"kind"`
}

type planKeyRef struct {
	Resource    resourceRef     `json:"resource"`
	Kind        kindRef         `json:"kind"`
	Subresource string          `json:"subresource"`
	Operation   string          `json:"operation"`
	Namespaced  bool            `json:"namespaced"`
	Equivalents []equivalentRef `json:"equivalents"`
}

// encodeKey gives the key as the core wants it, with the equivalent resources in their mapper's order.
func encodeKey(key planKey) planKeyRef {
	ref := planKeyRef{
		Resource:    resourceRef(key.resource),
		Kind:        kindRef(key.kind),
		Subresource: key.subresource,
		Operation:   string(key.operation),
		Namespaced:  key.namespaced,
		Equivalents: []equivalentRef{},
	}
	if key.mapper == nil {
		return ref
	}
	for _, resource := range key.mapper.EquivalentResourcesFor(key.resource, key.subresource) {
		equivalent := equivalentRef{Resource: resourceRef(resource)}
		if kind := key.mapper.KindFor(resource, key.subresource); !kind.Empty() {
			known := kindRef(kind)
			equivalent.Kind = &known
		}
		ref.Equivalents = append(ref.Equivalents, equivalent)
	}
	return ref
}
