// Package policystatus keeps status.typeChecking of ValidatingAdmissionPolicies up to date. In a cluster kube-controller-manager does
// this (k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus); a server that runs alone has none.
package policystatus

import (
	"context"
	"fmt"

	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	apply "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/admissionregistration/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// FieldManager owns the fields that the controller sets; it is the name of upstream's controller.
const FieldManager = "validatingadmissionpolicy-status"

// TypeChecker finds what is wrong with a policy's expressions; nothing is nil.
type TypeChecker interface {
	Check(policy *v1.ValidatingAdmissionPolicy) []v1.ExpressionWarning
}

// controller checks policies whose spec changed.
type controller struct {
	client   kubernetes.Interface
	policies listers.ValidatingAdmissionPolicyLister
	queue    workqueue.TypedRateLimitingInterface[string]
	checker  TypeChecker
}

// Run checks policies as they change, one at a time, until ctx ends.
func Run(ctx context.Context, client kubernetes.Interface, checker TypeChecker) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Admissionregistration().V1().ValidatingAdmissionPolicies()
	c := &controller{
		client: client, policies: informer.Lister(), checker: checker,
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: FieldManager}),
	}
	if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, policy any) { c.enqueue(policy) },
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	stop := context.AfterFunc(ctx, c.queue.ShutDown)
	defer stop()
	for c.next(ctx) {
	}
	return nil
}

func (c *controller) enqueue(object any) {
	if policy, ok := object.(*v1.ValidatingAdmissionPolicy); ok {
		c.queue.Add(policy.Name)
	}
}

// next takes one policy from the queue; false when the queue is shut down.
func (c *controller) next(ctx context.Context) bool {
	name, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(name)
	if err := c.reconcile(ctx, name); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, "Policy could not be type checked", "policy", name)
		c.queue.AddRateLimited(name)
		return true
	}
	c.queue.Forget(name)
	return true
}

// reconcile checks a policy unless the status is about its spec already. Conditions are not the controller's.
func (c *controller) reconcile(ctx context.Context, name string) error {
	policy, err := c.policies.Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if policy.Generation <= policy.Status.ObservedGeneration {
		return nil
	}
	// Without warnings it is there and empty: that says that the policy was checked.
	checked := apply.TypeChecking()
	for _, warning := range c.checker.Check(policy) {
		checked.WithExpressionWarnings(apply.ExpressionWarning().WithFieldRef(warning.FieldRef).WithWarning(warning.Warning))
	}
	status := apply.ValidatingAdmissionPolicyStatus().WithObservedGeneration(policy.Generation).WithTypeChecking(checked)
	_, err = c.client.AdmissionregistrationV1().ValidatingAdmissionPolicies().ApplyStatus(ctx,
		apply.ValidatingAdmissionPolicy(name).WithStatus(status), metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
	if err != nil {
		return fmt.Errorf("status of policy %s: %w", name, err)
	}
	return nil
}
