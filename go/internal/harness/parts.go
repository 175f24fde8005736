package harness

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// Part is what one place sees of a change: an informer, discovery, the table of equivalent resources.
type Part struct {
	Apply func() error
	// Refresh says that engines take it over only when they are refreshed.
	Refresh bool
	// Discovery says that the part changes what requests ask for more than once: one that runs meanwhile can meet both.
	Discovery bool
}

// Parts are the parts of a change of one thing, to be applied in turn. They hold for the state as it is now.
func (s *State) Parts(change Change) []Part {
	var parts []Part
	if change.Kinds != nil {
		parts = append(parts,
			Part{Refresh: true, Discovery: true, Apply: func() error { s.serve(change.Kinds); return nil }},
			Part{Apply: func() error { s.equate(change.Kinds); return nil }})
	}
	if change.Apply != nil {
		s.version++
		parts = append(parts, s.each(change.Apply, fmt.Sprint(s.version), change.Unseen, func(resource schema.GroupVersionResource, object runtime.Object, informer *handInformer) error {
			key, err := cache.MetaNamespaceKeyFunc(object)
			if err != nil {
				return err
			}
			return s.put(resource, key, object, !change.Unseen, informer)
		})...)
	}
	if change.Delete != nil {
		parts = append(parts, s.each(change.Delete, "", change.Unseen, func(resource schema.GroupVersionResource, object runtime.Object, informer *handInformer) error {
			key, err := cache.MetaNamespaceKeyFunc(object)
			if err != nil {
				return err
			}
			s.store(resource, key, nil)
			if change.Unseen {
				return nil
			}
			return informer.remove(key)
		})...)
	}
	return parts
}

// each makes a part of each informer that sees an object, which do gets a copy for, in a version: custom ones are in all versions of their kind, and
// namespaces are known to requests in one way and as params in another.
func (s *State) each(object runtime.Object, version string, unseen bool, do func(schema.GroupVersionResource, runtime.Object, *handInformer) error) []Part {
	object = object.DeepCopyObject()
	if accessor, err := meta.Accessor(object); err == nil { // without metadata an object has no name, which do will say
		accessor.SetResourceVersion(version)
	}
	part := func(resource schema.GroupVersionResource, copied runtime.Object, informer *handInformer) Part {
		return Part{Refresh: !unseen, Apply: func() error { return do(resource, copied, informer) }}
	}
	kind := paramKind(object)
	custom, ok := object.(*unstructured.Unstructured)
	if !ok {
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		copied := informed(object)
		parts := []Part{part(resource, copied, s.informer(resource))}
		if params := asParams(resource); params != resource && !unseen {
			parts = append(parts, part(resource, copied, s.informer(params)))
		}
		return parts
	}
	var parts []Part
	for _, known := range s.kinds {
		if known.Kind.GroupKind() != kind.GroupKind() {
			continue
		}
		copied := custom.DeepCopy()
		copied.SetGroupVersionKind(known.Kind)
		parts = append(parts, part(known.Resource, copied, s.informer(known.Resource)))
	}
	return parts
}

// asParams is where the params of a resource are. A real informer shows a namespace to its listers first, and to those who watch it later.
func asParams(resource schema.GroupVersionResource) schema.GroupVersionResource {
	if resource == namespacesResource {
		resource.Resource = "namespaces as params"
	}
	return resource
}

func (s *State) put(resource schema.GroupVersionResource, key string, object runtime.Object, seen bool, informer *handInformer) error {
	s.store(resource, key, object)
	if !seen {
		return nil
	}
	return informer.put(object)
}

// store puts an object into the API server, or takes it away if it is nil.
func (s *State) store(resource schema.GroupVersionResource, key string, object runtime.Object) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if object == nil {
		delete(s.stored[resource], key)
		return
	}
	if s.stored[resource] == nil {
		s.stored[resource] = map[string]runtime.Object{}
	}
	s.stored[resource][key] = object
}

// get reads an object from the API server, nil if there is none.
func (s *State) get(resource schema.GroupVersionResource, key string) runtime.Object {
	s.lock.RLock()
	defer s.lock.RUnlock()
	return s.stored[resource][key]
}

// Informed says whether an informer knows an object of this kind and name.
func (s *State) Informed(object runtime.Object) bool {
	key, err := cache.MetaNamespaceKeyFunc(object)
	if err != nil {
		return false
	}
	kind := paramKind(object)
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	resources := []schema.GroupVersionResource{resource}
	for _, known := range s.kinds {
		if known.Kind.GroupKind() == kind.GroupKind() {
			resources = append(resources, known.Resource)
		}
	}
	for _, resource := range resources {
		if _, found, err := s.informer(resource).store.GetByKey(key); err != nil || found {
			return true
		}
	}
	return false
}
