package harness

import (
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// State is a world that changes by hand, and all that a plugin sees of it: informers, clients, discovery. Every change is seen when Apply
// returns, so that nothing depends on time. One goroutine at a time may change it; requests may run meanwhile.
type State struct {
	world *World
	// lock guards what requests and sources read whenever they like: stored, mapper, objects.
	lock sync.RWMutex
	// stored is what the API server has, by resource and namespace/name.
	stored map[schema.GroupVersionResource]map[string]runtime.Object
	// informers are made when they are first asked for, which sources do whenever they like.
	informers     map[schema.GroupVersionResource]*handInformer
	informersLock sync.Mutex
	// kinds are the custom kinds that have ever been served, served those that are now.
	kinds []Kind
	// mapper knows the kinds that are served now.
	mapper meta.RESTMapper
	// objects have the equivalent resources as they are now.
	objects admission.ObjectInterfaces
	version int
	// static are the manifests that were taken last, nil if none are configured; manifests are those of the plugin.
	static    *Static
	manifests *manifests
	// reading, if it is set, is told of each object that a request reads from the API server.
	reading func()
}

// Change is a step of a State.
type Change struct {
	// Apply is created or replaced, Delete deleted: policies, bindings, webhook configurations, namespaces, params.
	Apply, Delete runtime.Object
	// Unseen changes are made in the API server, but the informers have not heard of them.
	Unseen bool
	// Kinds replaces the custom kinds that are served, if it is not nil.
	Kinds []Kind
	// Static replaces the manifests, if it is not nil; only worlds that begin with some can have others.
	Static *Static
}

// NewState makes the state that a world begins with.
func NewState(world *World) (*State, error) {
	s := &State{world: world, stored: map[schema.GroupVersionResource]map[string]runtime.Object{}, informers: map[schema.GroupVersionResource]*handInformer{}}
	if world.Static != nil {
		s.static, s.manifests = world.Static, newManifests(world.Static)
	}
	s.serve(world.Kinds)
	s.equate(world.Kinds)
	typed, custom := world.objects()
	for _, object := range slices.Concat(typed, custom) {
		if err := s.Apply(Change{Apply: object}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Apply makes a change.
func (s *State) Apply(change Change) error {
	if change.Static != nil {
		if err := s.manifests.set(change.Static); err != nil {
			return err
		}
		if !change.Static.Broken {
			s.static = change.Static
		}
	}
	for _, single := range []Change{{Kinds: change.Kinds}, {Apply: change.Apply, Unseen: change.Unseen}, {Delete: change.Delete, Unseen: change.Unseen}} {
		for _, part := range s.Parts(single) {
			if err := part.Apply(); err != nil {
				return err
			}
		}
	}
	return nil
}

// serve replaces the custom kinds that discovery knows. Objects in a new version of a kind are those of its other versions.
func (s *State) serve(kinds []Kind) {
	for _, kind := range kinds {
		if slices.Contains(s.kinds, kind) {
			continue
		}
		for _, known := range s.kinds {
			if known.Kind.GroupKind() != kind.Kind.GroupKind() {
				continue
			}
			for key, object := range s.stored[known.Resource] {
				copied := object.(*unstructured.Unstructured).DeepCopy()
				copied.SetGroupVersionKind(kind.Kind)
				s.store(kind.Resource, key, copied)
				_ = s.informer(kind.Resource).put(copied) // it was accepted once
			}
			break
		}
		s.kinds = append(s.kinds, kind)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.mapper = (&World{Kinds: kinds}).mapper()
}

// equate makes the served versions of a kind equivalent resources.
func (s *State) equate(kinds []Kind) {
	var widgets []string
	for _, kind := range kinds {
		if kind.Kind.Kind == WidgetKind {
			widgets = append(widgets, kind.Kind.Version)
		}
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.objects = Objects(widgets...)
}

// Objects are the object interfaces that a request gets which comes now.
func (s *State) Objects() admission.ObjectInterfaces {
	s.lock.RLock()
	defer s.lock.RUnlock()
	return s.objects
}

func (s *State) informer(resource schema.GroupVersionResource) *handInformer {
	s.informersLock.Lock()
	defer s.informersLock.Unlock()
	if s.informers[resource] == nil {
		s.informers[resource] = newHandInformer()
	}
	return s.informers[resource]
}

// list gives the objects that the informer of a resource knows, in no order.
func list[T runtime.Object](s *State, resource schema.GroupVersionResource) (objects []T) {
	for _, object := range s.informer(resource).store.List() {
		objects = append(objects, object.(T))
	}
	return objects
}

var (
	policiesResource   = v1.SchemeGroupVersion.WithResource("validatingadmissionpolicies")
	bindingsResource   = v1.SchemeGroupVersion.WithResource("validatingadmissionpolicybindings")
	webhooksResource   = v1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations")
	namespacesResource = corev1.SchemeGroupVersion.WithResource("namespaces")
)

// RESTMapping implements meta.RESTMapper as of now.
func (m stateMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m.state.lock.RLock()
	defer m.state.lock.RUnlock()
	return m.state.mapper.RESTMapping(kind, versions...)
}

type stateMapper struct {
	meta.RESTMapper // nil: only RESTMapping is called
	state           *State
}

func (s *State) client() kubernetes.Interface     { return stateClient{state: s} }
func (s *State) dynamicClient() dynamic.Interface { return stateDynamic{s} }
func (s *State) restMapper() meta.RESTMapper      { return stateMapper{state: s} }

// matcher is upstream's, of policies and bindings to requests.
func (s *State) matcher() generic.PolicyMatcher {
	return generic.NewPolicyMatcher(matching.NewMatcher(corelisters.NewNamespaceLister(s.informer(namespacesResource).store), s.client()))
}

// factory gives the state's informers.
func (s *State) factory() informers.SharedInformerFactory {
	return s.factoryWith(s.informer(webhooksResource))
}

// factoryWith gives the state's informers with another one of webhooks.
func (s *State) factoryWith(webhooks *handInformer) informers.SharedInformerFactory {
	factory := informers.NewSharedInformerFactory(s.client(), 0)
	for resource, object := range map[schema.GroupVersionResource]runtime.Object{
		policiesResource: &v1.ValidatingAdmissionPolicy{}, bindingsResource: &v1.ValidatingAdmissionPolicyBinding{}, namespacesResource: &corev1.Namespace{},
		webhooksResource: &v1.ValidatingWebhookConfiguration{},
	} {
		informer := s.informer(resource)
		if resource == webhooksResource {
			informer = webhooks
		}
		factory.InformerFor(object, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return informer })
	}
	return stateFactory{SharedInformerFactory: factory, params: s.params}
}

// mapFactory gives params in the order of Go maps, and nothing else.
func (s *State) mapFactory() informers.SharedInformerFactory {
	return stateFactory{params: func(resource schema.GroupVersionResource) informers.GenericInformer { return s.unsorted(resource) }}
}

type stateFactory struct {
	informers.SharedInformerFactory
	params func(schema.GroupVersionResource) informers.GenericInformer
}

// Start implements informers.SharedInformerFactory.
func (stateFactory) Start(<-chan struct{}) {}

// ForResource implements informers.SharedInformerFactory.
func (f stateFactory) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	return f.params(resource), nil
}

// params are the params of a resource, in order.
func (s *State) params(resource schema.GroupVersionResource) informers.GenericInformer {
	params := s.unsorted(resource)
	params.lister = sortedLister{params.lister}
	return params
}

// unsorted are the same in the order of Go maps.
func (s *State) unsorted(resource schema.GroupVersionResource) handLister {
	informer := s.informer(asParams(resource))
	return handLister{handInformer: informer, lister: cache.NewGenericLister(informer.store, resource.GroupResource())}
}
