package harness

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// handInformer is an informer that is changed by hand: a change is in its store, and its handlers have returned, when put or remove returns.
// It has always synced.
type handInformer struct {
	cache.SharedIndexInformer // nil: what is not overridden must not be called

	store    cache.Indexer
	lock     sync.Mutex
	handlers []*handRegistration
}

func newHandInformer() *handInformer {
	return &handInformer{store: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
}

type handRegistration struct{ handler cache.ResourceEventHandler }

// HasSynced implements cache.ResourceEventHandlerRegistration.
func (*handRegistration) HasSynced() bool { return true }

// HasSyncedChecker implements cache.ResourceEventHandlerRegistration.
func (*handRegistration) HasSyncedChecker() cache.DoneChecker { return alreadyDone{} }

type alreadyDone struct{}

var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Name implements cache.DoneChecker.
func (alreadyDone) Name() string { return "changed by hand" }

// Done implements cache.DoneChecker.
func (alreadyDone) Done() <-chan struct{} { return closed }

// AddEventHandler implements cache.SharedInformer.
func (i *handInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.lock.Lock()
	defer i.lock.Unlock()
	registration := &handRegistration{handler}
	i.handlers = append(i.handlers, registration)
	for _, object := range i.store.List() {
		handler.OnAdd(object, true)
	}
	return registration, nil
}

// RemoveEventHandler implements cache.SharedInformer.
func (i *handInformer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	i.lock.Lock()
	defer i.lock.Unlock()
	i.handlers = slices.DeleteFunc(i.handlers, func(known *handRegistration) bool { return known == handle })
	return nil
}

// GetStore implements cache.SharedInformer.
func (i *handInformer) GetStore() cache.Store { return i.store }

// GetIndexer implements cache.SharedIndexInformer.
func (i *handInformer) GetIndexer() cache.Indexer { return i.store }

// HasSynced implements cache.SharedInformer.
func (*handInformer) HasSynced() bool { return true }

// Run implements cache.SharedInformer.
func (*handInformer) Run(<-chan struct{}) {}

// RunWithContext implements cache.SharedInformer.
func (*handInformer) RunWithContext(context.Context) {}

// put adds or replaces an object.
func (i *handInformer) put(object runtime.Object) error {
	i.lock.Lock()
	defer i.lock.Unlock()
	old, found, err := i.store.Get(object)
	if err != nil {
		return err
	}
	if err := i.store.Add(object); err != nil {
		return err
	}
	for _, registration := range i.handlers {
		if found {
			registration.handler.OnUpdate(old, object)
		} else {
			registration.handler.OnAdd(object, false)
		}
	}
	return nil
}

// remove deletes an object; nothing happens if it is not there.
func (i *handInformer) remove(key string) error {
	i.lock.Lock()
	defer i.lock.Unlock()
	old, found, err := i.store.GetByKey(key)
	if err != nil || !found {
		return err
	}
	if err := i.store.Delete(old); err != nil {
		return err
	}
	for _, registration := range i.handlers {
		registration.handler.OnDelete(old)
	}
	return nil
}

// touch tells the handlers of a change that is none.
func (i *handInformer) touch() {
	i.lock.Lock()
	defer i.lock.Unlock()
	for _, registration := range i.handlers {
		registration.handler.OnUpdate(nil, nil)
	}
}

// handLister is a handInformer for params, with what lists them.
type handLister struct {
	*handInformer
	lister cache.GenericLister
}

// Informer implements informers.GenericInformer.
func (l handLister) Informer() cache.SharedIndexInformer { return l.handInformer }

// Lister implements informers.GenericInformer.
func (l handLister) Lister() cache.GenericLister { return l.lister }
