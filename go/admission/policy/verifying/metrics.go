package verifying

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/admission"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/klog/v2"
)

// result is what became of a comparison.
type result string

const (
	same      result = "same"
	different result = "different"
	// notReady: one of the plugins did not know its policies yet.
	notReady result = "not_ready"
	// skipped: as many comparisons as there may be were running, or the request's context had ended.
	skipped result = "skipped"
	// failed: celgate's plugin panicked or took too long.
	failed result = "failed"
)

var (
	comparisons = metrics.NewCounterVec(&metrics.CounterOpts{
		Name:           "celgate_verify_requests_total",
		Help:           "Requests by how celgate's answer compares with upstream's: same, different, not_ready, skipped (too many at once, or the client was gone), failed (panic or too slow).",
		StabilityLevel: metrics.ALPHA,
	}, []string{"result"})
	seconds = metrics.NewHistogramVec(&metrics.HistogramOpts{
		Name:           "celgate_verify_seconds",
		Help:           "Time that each engine took for the requests that were compared.",
		Buckets:        metrics.ExponentialBuckets(0.000004, 4, 10),
		StabilityLevel: metrics.ALPHA,
	}, []string{"engine"})
)

var registerMetrics = sync.OnceFunc(func() {
	legacyregistry.MustRegister(comparisons, seconds)
	for _, r := range []result{same, different, notReady, skipped, failed} {
		comparisons.WithLabelValues(string(r))
	}
})

func count(r result) { comparisons.WithLabelValues(string(r)).Inc() }

func observe(theirs, ours time.Duration) {
	seconds.WithLabelValues("upstream").Observe(theirs.Seconds())
	seconds.WithLabelValues("celgate").Observe(ours.Seconds())
}

// logDifference says what differs, and nothing of the object: neither its name nor any text that an expression made.
func logDifference(request admission.Attributes, theirs, ours *observed, differences []string) {
	klog.ErrorS(nil, "celgate decides otherwise than upstream", "differs", differences, "resource", request.GetResource(), "subresource", request.GetSubresource(),
		"operation", request.GetOperation(), "namespace", request.GetNamespace(), "upstream", theirs.verdict(), "celgate", ours.verdict(),
		"upstreamWarnings", len(theirs.warnings.Texts()), "celgateWarnings", len(ours.warnings.Texts()))
}

// logFailure says why there is no answer: an error of Go's runtime or of the context in its words, of anything else the type alone.
func logFailure(request admission.Attributes, reason any) {
	text := fmt.Sprintf("%T", reason)
	switch reason := reason.(type) {
	case runtime.Error:
		text = reason.Error()
	case error:
		if errors.Is(reason, context.DeadlineExceeded) {
			text = reason.Error()
		}
	}
	klog.ErrorS(nil, "celgate did not decide", "resource", request.GetResource(), "subresource", request.GetSubresource(), "operation", request.GetOperation(),
		"namespace", request.GetNamespace(), "reason", text)
}
