package validating

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/celgate/celgate/go/internal/cabi"
	"github.com/celgate/celgate/go/internal/wire"
)

// paramSet is the params of one paramKind: its informer, and what the engine has been fed from it. It is the hooks' ParamInformer.
type paramSet struct {
	informers.GenericInformer
	kind       schema.GroupVersionKind
	scope      meta.RESTScope
	client     dynamic.Interface
	restMapper meta.RESTMapper

	// current is what evaluations use, nil as long as the set has not synced.
	current atomic.Pointer[cabi.Params]
	// ready is closed when current has been published for the first time.
	ready chan struct{}

	cancel       context.CancelFunc
	registration cache.ResourceEventHandlerRegistration

	lock    sync.Mutex
	pending []paramChange
	wake    chan struct{}

	// publishing is held while changes are applied and published.
	publishing sync.Mutex
	// broken is why the engine has no params of this set. Only publish uses it.
	broken error
}

// paramChange is one event: the param as it is now, nil when it is gone.
type paramChange struct {
	namespace, name string
	object          runtime.Object
}

// wait gives the params once they have synced, nil if that takes too long or the engine has not taken them.
func (s *paramSet) wait(timeout time.Duration) *cabi.Params {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-s.ready:
	case <-timer.C:
	}
	return s.current.Load()
}

// flush publishes at once what has changed.
func (s *paramSet) flush() {
	if s.wait(inputTimeout) != nil {
		s.publish()
	}
}

// namespaced says whether the params live in namespaces.
func (s *paramSet) namespaced() bool { return s.scope.Name() == meta.RESTScopeNameNamespace }

// start feeds the set from its informer until ctx ends.
func (s *paramSet) start(ctx context.Context) error {
	registration, err := s.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { s.changed(object, false) },
		UpdateFunc: func(old, object any) {
			if old != object { // a resync gives the same object
				s.changed(object, false)
			}
		},
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = tombstone.Obj
			}
			s.changed(object, true)
		},
	})
	if err != nil {
		return err
	}
	s.registration = registration
	go s.run(ctx)
	return nil
}

// stop ends the feeding. A shared informer goes on; one of our own ends.
func (s *paramSet) stop() {
	s.cancel()
	if err := s.Informer().RemoveEventHandler(s.registration); err != nil {
		utilruntime.HandleError(fmt.Errorf("failed to remove param event handler: %w", err))
	}
}

func (s *paramSet) changed(object any, deleted bool) {
	param, ok := object.(runtime.Object)
	if !ok {
		utilruntime.HandleError(fmt.Errorf("param of %v is a %T", s.kind, object))
		return
	}
	accessor, err := meta.Accessor(param)
	if err != nil {
		utilruntime.HandleError(fmt.Errorf("param of %v: %w", s.kind, err))
		return
	}
	change := paramChange{namespace: accessor.GetNamespace(), name: accessor.GetName(), object: param}
	if deleted {
		change.object = nil
	}
	s.lock.Lock()
	s.pending = append(s.pending, change)
	s.lock.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run publishes the initial list in one batch and then the events as they come, those that came together in one batch.
func (s *paramSet) run(ctx context.Context) {
	select {
	case <-s.registration.HasSyncedChecker().Done():
	case <-ctx.Done():
		return
	}
	s.publish()
	close(s.ready)
	for {
		select {
		case <-s.wake:
			s.publish()
		case <-ctx.Done():
			return
		}
	}
}

// publish applies the pending changes. A set that the engine does not take must not be used in its older state:
// it is made anew from the informer's store, and counts as not synced as long as that fails too.
func (s *paramSet) publish() {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	s.lock.Lock()
	changes := s.pending
	s.pending = nil
	s.lock.Unlock()

	previous := s.current.Load()
	if previous != nil && len(changes) == 0 {
		return
	}
	var params *cabi.Params
	err := s.broken
	if err == nil {
		params, err = s.apply(previous, changes)
	}
	if err != nil {
		params, err = s.apply(nil, s.stored())
	}
	if err != nil {
		utilruntime.HandleError(fmt.Errorf("params of %v: %w", s.kind, err))
		params = nil
	}
	s.broken = err
	s.current.Store(params)
}

func (s *paramSet) apply(previous *cabi.Params, changes []paramChange) (*cabi.Params, error) {
	var batch wire.Batch
	var record []byte
	for _, change := range changes {
		if change.object == nil {
			batch.Delete(change.namespace, change.name)
			continue
		}
		var err error
		if record, err = s.encode(record[:0], change.object); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", change.namespace, change.name, err)
		}
		batch.Put(change.namespace, change.name, record)
	}
	return cabi.NewParams(previous, batch.Bytes())
}

// stored is all params, as changes of an empty set.
func (s *paramSet) stored() []paramChange {
	var changes []paramChange
	for _, object := range s.Informer().GetStore().List() {
		param, ok := object.(runtime.Object)
		if !ok {
			continue
		}
		if accessor, err := meta.Accessor(param); err == nil {
			changes = append(changes, paramChange{namespace: accessor.GetNamespace(), name: accessor.GetName(), object: param})
		}
	}
	return changes
}

// encode appends a param's record to dst. Typed objects come without apiVersion and kind, which are those of the policy's paramKind.
func (s *paramSet) encode(dst []byte, param runtime.Object) ([]byte, error) {
	return wire.EncodeParam(dst, param, s.kind.GroupVersion().String(), s.kind.Kind)
}
