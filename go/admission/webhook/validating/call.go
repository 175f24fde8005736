package validating

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"

	v1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/admission"
	admissionmetrics "k8s.io/apiserver/pkg/admission/metrics"
	webhookerrors "k8s.io/apiserver/pkg/admission/plugin/webhook/errors"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	webhookrequest "k8s.io/apiserver/pkg/admission/plugin/webhook/request"
	endpointsrequest "k8s.io/apiserver/pkg/endpoints/request"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/component-base/tracing"
	"k8s.io/klog/v2"
)

const (
	// ValidatingAuditAnnotationPrefix begins the keys of audit annotations about these webhooks.
	ValidatingAuditAnnotationPrefix = "validating.webhook.admission.k8s.io/"
	// ValidatingAuditAnnotationFailedOpenKeyPrefix begins the key of the annotation that a webhook's failure was ignored.
	ValidatingAuditAnnotationFailedOpenKeyPrefix = "failed-open." + ValidatingAuditAnnotationPrefix
)

// slowCall is how long a call takes that a trace is logged of.
const slowCall = 500 * time.Millisecond

// call calls all webhooks at once, and gives the error that was there first (upstream's validatingDispatcher.Dispatch).
func (p *Plugin) call(ctx context.Context, m *matching) error {
	if ctx.Err() != nil {
		return apierrors.NewTimeoutError("request did not complete within requested timeout", 0)
	}
	start := time.Now()
	var refusals refusals
	var group sync.WaitGroup
	for i, invocation := range m.calls {
		c := &call{
			plugin: p, ctx: ctx, index: i, invocation: invocation, attributes: m.versions.converted[invocation.Kind], refusals: &refusals, name: "unknown",
		}
		group.Go(c.run)
	}
	group.Wait()
	callSeconds.Observe(time.Since(start).Seconds())
	return refusals.first()
}

// refusals are errors in the order in which they came.
type refusals struct {
	lock sync.Mutex
	errs []error
}

func (r *refusals) add(err error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.errs = append(r.errs, err)
}

// first gives the error that decides; the others are only logged.
func (r *refusals) first() error {
	if len(r.errs) == 0 {
		return nil
	}
	for _, other := range r.errs[1:] {
		utilruntime.HandleError(other)
	}
	return r.errs[0]
}

// call is one webhook's.
type call struct {
	plugin *Plugin
	ctx    context.Context
	// index is the webhook's among those called.
	index      int
	invocation *generic.WebhookInvocation
	attributes *admission.VersionedAttributes
	refusals   *refusals

	// name is the webhook's once it is known.
	name string
	// failsOpen says that a failed call admits the request.
	failsOpen bool
}

// run calls the webhook and takes over what it says. A panic on the way is a failed call.
func (c *call) run() {
	// Crash handlers may be set to panic again; the request has had its answer then.
	defer func() { _ = recover() }()
	defer utilruntime.HandleCrash(func(reason any) {
		if c.failsOpen {
			klog.Warningf("Panic while calling webhook %q, failing open: %v", c.name, reason)
			c.failedOpen()
			return
		}
		c.refusals.add(apierrors.NewInternalError(fmt.Errorf("ValidatingAdmissionWebhook/%v has panicked: %v", c.name, reason)))
	})
	hook, ok := c.invocation.Webhook.GetValidatingWebhook()
	if !ok {
		utilruntime.HandleError(fmt.Errorf("webhook %q is no validating webhook", c.invocation.Webhook.GetUID()))
		return
	}
	c.name = hook.Name
	c.failsOpen = hook.FailurePolicy != nil && *hook.FailurePolicy == v1.Ignore
	start := time.Now()
	err := c.ask(hook)
	elapsed := time.Since(start)
	var failure *webhookutil.ErrCallingWebhook
	var refusal *webhookutil.ErrWebhookRejection
	// Upstream looks at the errors' own types, not at what they wrap.
	switch typed := err.(type) {
	case nil:
		c.observe(elapsed, false, 200)
		return
	case *webhookutil.ErrCallingWebhook:
		failure = typed
	case *webhookutil.ErrWebhookRejection:
		refusal = typed
	}
	switch {
	case failure != nil:
		c.failed(failure, elapsed)
	case refusal != nil:
		code := int(refusal.Status.ErrStatus.Code)
		c.rejected(admissionmetrics.WebhookRejectionNoError, code)
		c.observe(elapsed, true, code)
		c.refuse(refusal.Status)
	default:
		c.rejected(admissionmetrics.WebhookRejectionAPIServerInternalError, 0)
		c.observe(elapsed, true, 0)
		c.refuse(err)
	}
}

// failed is about a webhook that gave no answer: failurePolicy decides.
func (c *call) failed(failure *webhookutil.ErrCallingWebhook, elapsed time.Duration) {
	code := int(failure.Status.ErrStatus.Code)
	canceled := errors.Is(failure.Reason, context.Canceled)
	if !c.failsOpen && !canceled {
		c.rejected(admissionmetrics.WebhookRejectionCallingWebhookError, code)
	}
	c.observe(elapsed, !c.failsOpen, code)
	switch {
	case !c.failsOpen:
		klog.Warningf("Failed calling webhook %q, failing closed: %v", c.name, failure)
		c.refusals.add(apierrors.NewInternalError(failure))
		return
	case canceled:
		klog.Warningf("Context canceled when calling webhook %q", c.name)
	default:
		klog.Warningf("Failed calling webhook %q, failing open: %v", c.name, failure)
		c.failedOpen()
	}
	utilruntime.HandleError(failure)
}

func (c *call) refuse(err error) {
	klog.Warningf("Rejected by webhook %q: %v", c.name, err)
	c.refusals.add(err)
}

// failedOpen notes that a failure was ignored.
func (c *call) failedOpen() {
	admissionmetrics.Metrics.ObserveWebhookFailOpen(c.ctx, c.name, conditionsType)
	c.annotate(fmt.Sprintf("%sround_0_index_%d", ValidatingAuditAnnotationFailedOpenKeyPrefix, c.index), c.name)
}

func (c *call) annotate(key, value string) {
	if err := c.attributes.Attributes.AddAnnotation(key, value); err != nil {
		klog.Warningf("Failed to set audit annotation %s to %s for webhook %q: %v", key, value, c.name, err)
	}
}

func (c *call) rejected(kind admissionmetrics.WebhookRejectionErrorType, code int) {
	admissionmetrics.Metrics.ObserveWebhookRejection(c.ctx, c.name, conditionsType, string(c.attributes.Attributes.GetOperation()), kind, code)
}

func (c *call) observe(elapsed time.Duration, rejected bool, code int) {
	admissionmetrics.Metrics.ObserveWebhook(c.ctx, c.name, elapsed, rejected, c.attributes.Attributes, conditionsType, code)
}

// ask sends the review and reads the answer (upstream's callHook).
func (c *call) ask(hook *v1.ValidatingWebhook) error {
	fail := func(reason error, status *apierrors.StatusError) error {
		return &webhookutil.ErrCallingWebhook{WebhookName: hook.Name, Reason: reason, Status: status}
	}
	if c.attributes.Attributes.IsDryRun() {
		switch {
		case hook.SideEffects == nil:
			status := apierrors.NewBadRequest("Webhook SideEffects is nil")
			return fail(errors.New(status.ErrStatus.Message), status)
		case *hook.SideEffects != v1.SideEffectClassNone && *hook.SideEffects != v1.SideEffectClassNoneOnDryRun:
			return webhookerrors.NewDryRunUnsupportedErr(hook.Name)
		}
	}
	uid, review, answer, err := webhookrequest.CreateAdmissionObjects(c.attributes, c.invocation)
	if err != nil {
		return fail(fmt.Errorf("could not create admission objects: %w", err), apierrors.NewBadRequest("error creating admission objects"))
	}
	client, err := c.invocation.Webhook.GetRESTClient(c.plugin.clients)
	if err != nil {
		return fail(fmt.Errorf("could not get REST client: %w", err), apierrors.NewInternalError(err))
	}
	ctx, span := tracing.Start(c.ctx, "Call validating webhook",
		attribute.String("configuration", c.invocation.Webhook.GetConfigurationName()),
		attribute.String("webhook", hook.Name),
		attribute.Stringer("resource", c.attributes.GetResource()),
		attribute.String("subresource", c.attributes.GetSubresource()),
		attribute.String("operation", string(c.attributes.GetOperation())),
		attribute.String("UID", string(uid)))
	defer span.End(slowCall)
	if hook.TimeoutSeconds != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(*hook.TimeoutSeconds)*time.Second)
		defer cancel()
	}
	request := client.Post().Body(review)
	if deadline, limited := ctx.Deadline(); limited {
		if left := time.Until(deadline); left > 0 {
			// The webhook is told whole seconds, rounded up.
			request.Timeout((left + time.Second - 1).Truncate(time.Second))
		}
	}
	do := func() { err = request.Do(ctx).Into(answer) }
	if trackers, tracked := endpointsrequest.LatencyTrackersFrom(ctx); tracked {
		trackers.ValidatingWebhookTracker.Track(do)
	} else {
		do()
	}
	if err != nil {
		status, ok := err.(*apierrors.StatusError)
		if !ok {
			status = apierrors.NewServiceUnavailable("error calling webhook")
		}
		return fail(fmt.Errorf("failed to call webhook: %w", err), status)
	}
	span.AddEvent("Request completed")
	result, err := webhookrequest.VerifyAdmissionResponse(uid, false, answer)
	if err != nil {
		return fail(fmt.Errorf("received invalid webhook response: %w", err), apierrors.NewServiceUnavailable("error validating webhook response"))
	}
	for key, value := range result.AuditAnnotations {
		c.annotate(hook.Name+"/"+key, value)
	}
	for _, text := range result.Warnings {
		warning.AddWarning(ctx, "", text)
	}
	if result.Allowed {
		return nil
	}
	return &webhookutil.ErrWebhookRejection{Status: webhookerrors.ToStatusErr(hook.Name, result.Result)}
}
