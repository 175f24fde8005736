package core

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// Key is the kind of a request: what a plan depends on besides the snapshot.
type Key struct {
	Resource    schema.GroupVersionResource
	Kind        schema.GroupVersionKind
	Subresource string
	Operation   admission.Operation
	Namespaced  bool
	// Mapper gives the request's equivalent resources: a pointer, or nil. Kinds of API servers in one process have each their own.
	Mapper runtime.EquivalentResourceMapper
}

// KeyOf gives a request's key; cacheable is false if its mapper has no identity that a map could hold.
func KeyOf(a admission.Attributes, o admission.ObjectInterfaces) (key Key, cacheable bool) {
	key = Key{
		Resource:    a.GetResource(),
		Kind:        a.GetKind(),
		Subresource: a.GetSubresource(),
		Operation:   a.GetOperation(),
		Namespaced:  a.GetNamespace() != "",
	}
	if o == nil {
		return key, true
	}
	key.Mapper = o.GetEquivalentResourceMapper()
	return key, key.Mapper == nil || reflect.TypeOf(key.Mapper).Kind() == reflect.Pointer
}

// hash looks at a few bytes of a key, which tell resources apart well enough; equality decides.
func (k *Key) hash() uint32 {
	const multiplier = 0x9E3779B1
	hash := sample(k.Resource.Resource)
	hash = hash*multiplier ^ sample(k.Kind.Kind)
	hash = hash*multiplier ^ sample(k.Resource.Group)
	hash = hash*multiplier ^ sample(k.Subresource)
	hash = hash*multiplier ^ sample(string(k.Operation))
	hash = hash*multiplier ^ sample(k.Resource.Version)
	if k.Namespaced {
		hash++
	}
	hash *= multiplier
	return hash ^ hash>>16
}

func sample(text string) uint32 {
	if text == "" {
		return 0
	}
	return uint32(text[0]) | uint32(text[len(text)/2])<<8 | uint32(text[len(text)-1])<<16 | uint32(len(text))<<24
}

// kindRef, resourceRef, equivalentRef and keyRef are a key as the core reads it (docs/abi.md, "Plan").
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

type keyRef struct {
	Resource    resourceRef     `json:"resource"`
	Kind        kindRef         `json:"kind"`
	Subresource string          `json:"subresource"`
	Operation   string          `json:"operation"`
	Namespaced  bool            `json:"namespaced"`
	Equivalents []equivalentRef `json:"equivalents"`
}

// ref gives the key as the core wants it, with the equivalent resources in their mapper's order.
func (k *Key) ref() keyRef {
	ref := keyRef{
		Resource:    resourceRef(k.Resource),
		Kind:        kindRef(k.Kind),
		Subresource: k.Subresource,
		Operation:   string(k.Operation),
		Namespaced:  k.Namespaced,
		Equivalents: []equivalentRef{},
	}
	if k.Mapper == nil {
		return ref
	}
	for _, resource := range k.Mapper.EquivalentResourcesFor(k.Resource, k.Subresource) {
		equivalent := equivalentRef{Resource: resourceRef(resource)}
		if kind := k.Mapper.KindFor(resource, k.Subresource); !kind.Empty() {
			known := kindRef(kind)
			equivalent.Kind = &known
		}
		ref.Equivalents = append(ref.Equivalents, equivalent)
	}
	return ref
}
