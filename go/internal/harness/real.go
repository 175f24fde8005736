package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"
)

// settleTime is how long both plugins have to see a change, and upstream's to come to celgate's order.
const settleTime = 20 * time.Second

// Apply makes a change in the cluster's API server. Changes of the kinds that are served, and unseen ones, cannot be made here.
func (c *Cluster) Apply(change Change) error {
	if change.Static != nil {
		return c.manifests.set(change.Static)
	}
	if change.Delete != nil {
		return c.each(change.Delete, func(tracker clienttesting.ObjectTracker, resource schema.GroupVersionResource, object metav1.Object) error {
			err := tracker.Delete(resource, object.GetNamespace(), object.GetName())
			if apierrors.IsNotFound(err) {
				return nil
			}
			return err
		})
	}
	if change.Apply == nil {
		return nil
	}
	c.version++
	return c.each(change.Apply, func(tracker clienttesting.ObjectTracker, resource schema.GroupVersionResource, object metav1.Object) error {
		object.SetResourceVersion(fmt.Sprint(c.version))
		err := tracker.Create(resource, object.(runtime.Object), object.GetNamespace())
		if apierrors.IsAlreadyExists(err) {
			err = tracker.Update(resource, object.(runtime.Object), object.GetNamespace())
		}
		return err
	})
}

// each gives an object as each client has it: typed ones are in the dynamic client, too.
func (c *Cluster) each(object runtime.Object, do func(clienttesting.ObjectTracker, schema.GroupVersionResource, metav1.Object) error) error {
	copied, err := asUnstructured(object)
	if err != nil {
		return err
	}
	resource, _ := meta.UnsafeGuessKindToResource(copied.GroupVersionKind())
	if _, custom := object.(*unstructured.Unstructured); custom {
		return do(c.dynamic, resource, copied)
	}
	typed, err := meta.Accessor(object.DeepCopyObject())
	if err != nil {
		return err
	}
	return errors.Join(do(c.Client.Tracker(), resource, typed), do(c.dynamic, resource, copied))
}

// CompareReal plays a script with both plugins as they are, with informers and timers of their own, and waits after each change until they
// agree. Upstream's order is that of Go maps, so that it may take some tries.
func CompareReal(ctx context.Context, script *Script) (*Difference, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	script.World.setVersions()
	pair, err := StartPair(ctx, script.World)
	if err != nil {
		return nil, err
	}
	for i := range script.Steps {
		step := &script.Steps[i]
		for _, change := range step.Changes {
			for _, cluster := range []*Cluster{pair.Upstream, pair.Celgate} {
				if err := cluster.Apply(change); err != nil {
					return nil, err
				}
			}
		}
		difference := "not tried"
		for deadline := time.Now().Add(settleTime); difference != "" && time.Now().Before(deadline) && ctx.Err() == nil; {
			if _, difference = pair.Do(ctx, step.Request.Copy()); difference != "" {
				time.Sleep(50 * time.Millisecond)
			}
		}
		if difference != "" {
			return &Difference{Step: i, What: "real sources", Text: difference}, nil
		}
	}
	return nil, nil
}
