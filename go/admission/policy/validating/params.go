package validating

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// paramResync is the resync period of param informers of custom resources, as upstream's.
const paramResync = 10 * time.Minute

// paramRegistry keeps the param sets of the kinds that policies name. A set is made when a bound policy first needs it and kept
// until no policy at all names its kind: unbinding a policy for a moment must not lose its params (kubernetes/kubernetes#130887).
type paramRegistry struct {
	factory    informers.SharedInformerFactory
	client     dynamic.Interface
	restMapper meta.RESTMapper

	lock sync.Mutex
	sets map[schema.GroupVersionKind]*paramSet
	// lookedFor is how often discovery was asked anew for a kind that is not known.
	lookedFor map[schema.GroupVersionKind]int
}

// maxLooks bounds lookedFor. The server asks discovery anew every 30 seconds anyway; a look is taken at each refresh, which is every second.
const maxLooks = 30

func newParamRegistry(factory informers.SharedInformerFactory, client dynamic.Interface, restMapper meta.RESTMapper) *paramRegistry {
	return &paramRegistry{factory: factory, client: client, restMapper: restMapper, sets: map[schema.GroupVersionKind]*paramSet{}, lookedFor: map[schema.GroupVersionKind]int{}}
}

// mapping finds the resource of a kind. A kind that is not known may have come after discovery was last asked, so that it is asked anew:
// a policy that is created together with its paramKind must not deny until somebody else does (kubernetes/kubernetes#124237).
func (r *paramRegistry) mapping(kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapping, err := r.restMapper.RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) && r.lookedFor[kind] < maxLooks {
		r.lookedFor[kind]++
		meta.MaybeResetRESTMapper(r.restMapper)
		mapping, err = r.restMapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	if err == nil {
		delete(r.lookedFor, kind)
	}
	return mapping, err
}

// get gives the set of a kind, starting to watch it if need be. ctx is that of the process: informers end with it.
func (r *paramRegistry) get(ctx context.Context, kind schema.GroupVersionKind) (*paramSet, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if set, ok := r.sets[kind]; ok {
		return set, nil
	}
	mapping, err := r.mapping(kind)
	if err != nil {
		return nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", kind)
	}
	setContext, cancel := context.WithCancel(ctx)
	set := &paramSet{
		kind:       kind,
		scope:      mapping.Scope,
		client:     r.client,
		restMapper: r.restMapper,
		cancel:     cancel,
		ready:      make(chan struct{}),
		wake:       make(chan struct{}, 1),
	}
	if shared, err := r.factory.ForResource(mapping.Resource); err == nil {
		set.GenericInformer = shared
		// Never stopped before the process: the factory would not start it again, nor any other informer that it starts here.
		r.factory.Start(ctx.Done())
	} else {
		set.GenericInformer = dynamicinformer.NewFilteredDynamicInformer(r.client, mapping.Resource, corev1.NamespaceAll, paramResync,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}, nil)
		go set.Informer().RunWithContext(setContext)
	}
	if err := set.start(setContext); err != nil {
		cancel()
		return nil, fmt.Errorf("failed to watch params of '%v': %w", kind, err)
	}
	klog.Infof("informer started for %v", kind)
	r.sets[kind] = set
	return set, nil
}

// retain drops the sets of all other kinds.
func (r *paramRegistry) retain(named map[schema.GroupVersionKind]struct{}) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for kind, set := range r.sets {
		if _, ok := named[kind]; !ok {
			set.stop()
			delete(r.sets, kind)
		}
	}
	for kind := range r.lookedFor {
		if _, ok := named[kind]; !ok {
			delete(r.lookedFor, kind)
		}
	}
}

// flush publishes at once what has changed in all sets.
func (r *paramRegistry) flush() {
	r.lock.Lock()
	sets := slices.Collect(maps.Values(r.sets))
	r.lock.Unlock()
	for _, set := range sets {
		set.flush()
	}
}
