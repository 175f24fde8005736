package validating

import (
	"sync"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

var (
	skipped = metrics.NewCounter(&metrics.CounterOpts{
		Name:           "celgate_webhooks_skipped_total",
		Help:           "Webhooks that match conditions kept from being called.",
		StabilityLevel: metrics.ALPHA,
	})
	coreFailures = metrics.NewCounter(&metrics.CounterOpts{
		Name:           "celgate_webhook_core_failures_total",
		Help:           "Requests for which the core could not match webhooks because of a bug; upstream's matching decided.",
		StabilityLevel: metrics.ALPHA,
	})
	matchingSeconds = metrics.NewHistogram(&metrics.HistogramOpts{
		Name:           "celgate_webhook_matching_seconds",
		Help:           "Time to find out which webhooks a request calls, of requests that any could match.",
		Buckets:        metrics.ExponentialBuckets(0.000001, 4, 10),
		StabilityLevel: metrics.ALPHA,
	})
	callSeconds = metrics.NewHistogram(&metrics.HistogramOpts{
		Name:           "celgate_webhook_call_seconds",
		Help:           "Time that a request waits for its webhooks, which are called at once.",
		Buckets:        metrics.ExponentialBuckets(0.001, 2, 15),
		StabilityLevel: metrics.ALPHA,
	})
)

// registerMetrics registers the process's metrics, once.
var registerMetrics = sync.OnceFunc(func() {
	legacyregistry.MustRegister(skipped, coreFailures, matchingSeconds, callSeconds)
})
