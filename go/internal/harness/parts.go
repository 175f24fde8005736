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
		for _, seen := range s.sights(change.Apply, fmt.Sprint(s.version), change.Unseen) {
			parts = append(parts, s.putParts(seen, change.Unseen)...)
		}
	}
	if change.Delete != nil {
		for _, seen := range s.sights(change.Delete, "", change.Unseen) {
			parts = append(parts, Part{Refresh: !change.Unseen, Apply: func() error {
				s.store(seen.resource, seen.key, nil)
				if change.Unseen {
					return nil
				}
				return seen.informer.remove(seen.key)
			}})
		}
	}
	return parts
}

// putParts are the parts of creating or replacing an object. One that is new can be read from the API server before its informer tells of it,
// and requests may do both: read it by its name and list it by its labels.
func (s *State) putParts(seen sight, unseen bool) []Part {
	store := func() error { s.store(seen.resource, seen.key, seen.object); return nil }
	inform := func() error { return seen.informer.put(seen.object) }
	if unseen {
		return []Part{{Apply: store}}
	}
	if _, known, _ := seen.informer.store.GetByKey(seen.key); known { // a store in memory has no errors
		return []Part{{Refresh: true, Apply: func() error { _ = store(); return inform() }}}
	}
	return []Part{{Apply: store}, {Refresh: true, Apply: inform}}
}

// sight is an object as one informer sees it.
type sight struct {
	resource schema.GroupVersionResource
	key      string
	object   runtime.Object
	informer *handInformer
}

// sights are an object as each informer sees it, in a version: custom ones are in all versions of their kind, and namespaces are known to requests
// in one way and as params in another. One without a name has none.
func (s *State) sights(object runtime.Object, version string, unseen bool) (all []sight) {
	object = object.DeepCopyObject()
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil
	}
	accessor.SetResourceVersion(version)
	key := accessor.GetName()
	if accessor.GetNamespace() != "" {
		key = accessor.GetNamespace() + "/" + key
	}
	kind := paramKind(object)
	custom, ok := object.(*unstructured.Unstructured)
	if !ok {
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		copied := informed(object)
		all = append(all, sight{resource, key, copied, s.informer(resource)})
		if params := asParams(resource); params != resource && !unseen {
			all = append(all, sight{resource, key, copied, s.informer(params)})
		}
		return all
	}
	for _, known := range s.kinds {
		if known.Kind.GroupKind() != kind.GroupKind() {
			continue
		}
		copied := custom.DeepCopy()
		copied.SetGroupVersionKind(known.Kind)
		all = append(all, sight{known.Resource, key, copied, s.informer(known.Resource)})
	}
	return all
}

// asParams is where the params of a resource are. A real informer shows a namespace to its listers first, and to those who watch it later.
func asParams(resource schema.GroupVersionResource) schema.GroupVersionResource {
	if resource == namespacesResource {
		resource.Resource = "namespaces as params"
	}
	return resource
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
