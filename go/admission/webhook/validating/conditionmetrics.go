package validating

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"k8s.io/apiserver/pkg/admission"
	admissionmetrics "k8s.io/apiserver/pkg/admission/metrics"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/celgate/celgate/go/internal/wire"
)

// The labels that upstream's metrics have for match conditions of these webhooks.
const (
	conditionsKind = "webhook"
	conditionsType = "validating"
)

// conditionVectors are upstream's metrics about match conditions: these very vectors, which upstream's package keeps to itself. Finding a
// counter by its labels, as that package does, costs more than evaluating the conditions. nil if the registry does not give them.
var conditionVectors = sync.OnceValue(func() *vectors {
	// The registry gives what it has under this name, help and these labels.
	const subsystem, common = "admission", "count, identified by name of resource containing the match condition and broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit)."
	labels := []string{"name", "kind", "type", "operation"}
	exclusions := registered(metrics.NewCounterVec(&metrics.CounterOpts{
		Namespace: "apiserver", Subsystem: subsystem, Name: "match_condition_exclusions_total", StabilityLevel: metrics.ALPHA,
		Help: "Admission match condition evaluation exclusions " + common,
	}, labels))
	seconds := registered(metrics.NewHistogramVec(&metrics.HistogramOpts{
		Namespace: "apiserver", Subsystem: subsystem, Name: "match_condition_evaluation_seconds", StabilityLevel: metrics.ALPHA,
		Help: "Admission match condition evaluation time in seconds, identified by name and broken out for each kind containing matchConditions (webhook or policy), operation and type (validate or admit).",
	}, labels))
	if exclusions == nil || seconds == nil {
		return nil
	}
	return &vectors{exclusions: exclusions, seconds: seconds}
})

type vectors struct {
	exclusions *metrics.CounterVec
	seconds    *metrics.HistogramVec
}

// registered gives the collector that is registered in the place of another, nil if there is none.
func registered[C metrics.Registerable](other C) (known C) {
	var already prometheus.AlreadyRegisteredError
	if errors.As(legacyregistry.Register(other), &already) {
		known, _ = already.ExistingCollector.(C)
	}
	return known
}

// conditionMetrics are a snapshot's counters, found once for each webhook and operation.
type conditionMetrics struct {
	found atomic.Pointer[[]boundMetrics]
}

// boundMetrics are the counters of a webhook, by operation.
type boundMetrics [4]atomic.Pointer[boundMetric]

type boundMetric struct {
	exclusions metrics.CounterMetric
	seconds    metrics.ObserverMetric
}

// conditionObserver tells upstream's metrics about the match conditions of one request.
type conditionObserver struct {
	ctx       context.Context
	operation admission.Operation
	elapsed   time.Duration
	seconds   float64
	// bound are nil where upstream's own functions must be used.
	bound []boundMetrics
	// checked says that the counters are known to be those that are registered.
	checked bool
	metrics *conditionMetrics
	hooks   int
	// excluded is how many webhooks were excluded.
	excluded int
}

func newConditionObserver(ctx context.Context, m *conditionMetrics, hooks int, operation admission.Operation, elapsed time.Duration) conditionObserver {
	o := conditionObserver{ctx: ctx, operation: operation, elapsed: elapsed, seconds: elapsed.Seconds(), metrics: m, hooks: hooks}
	// Of a request that is traced, upstream's histograms keep the trace.
	if conditionVectors() == nil || operationIndex(operation) < 0 || trace.SpanContextFromContext(ctx).IsSampled() {
		return o
	}
	if found := m.found.Load(); found != nil {
		o.bound = *found
	} else {
		o.forget()
	}
	return o
}

// finish counts what the request came to.
func (o *conditionObserver) finish() {
	if o.excluded > 0 {
		skipped.Add(float64(o.excluded))
	}
}

// forget begins a new table of counters.
func (o *conditionObserver) forget() {
	fresh := make([]boundMetrics, o.hooks)
	o.metrics.found.Store(&fresh)
	o.bound = fresh
}

func operationIndex(operation admission.Operation) int {
	switch operation {
	case admission.Create:
		return 0
	case admission.Update:
		return 1
	case admission.Delete:
		return 2
	case admission.Connect:
		return 3
	}
	return -1
}

// observe is about match conditions that excluded a webhook or failed.
func (o *conditionObserver) observe(number int, hook webhook.WebhookAccessor, entry *wire.Entry) {
	for range entry.EvaluationErrors {
		admissionmetrics.Metrics.ObserveMatchConditionEvalError(o.ctx, hook.GetName(), conditionsKind, conditionsType, string(o.operation))
	}
	excluded := entry.Excluded || entry.Ignored
	if excluded {
		o.excluded++
	}
	if o.bound == nil {
		name, operation := hook.GetName(), string(o.operation)
		if entry.Observed {
			admissionmetrics.Metrics.ObserveMatchConditionEvaluationTime(o.ctx, o.elapsed, name, conditionsKind, conditionsType, operation)
		}
		if excluded {
			admissionmetrics.Metrics.ObserveMatchConditionExclusion(o.ctx, name, conditionsKind, hook.GetType(), operation)
		}
		return
	}
	bound := o.of(number, hook)
	if entry.Observed {
		bound.seconds.Observe(o.seconds)
	}
	if excluded {
		bound.exclusions.Inc()
	}
}

// of gives a webhook's counters. Metrics can be reset, which makes others of them: the first that a request needs is looked up to see.
func (o *conditionObserver) of(number int, hook webhook.WebhookAccessor) *boundMetric {
	place := &o.bound[number][operationIndex(o.operation)]
	known := place.Load()
	if known != nil && !o.checked {
		o.checked = true
		if o.exclusions(hook) != known.exclusions {
			o.forget()
			place, known = &o.bound[number][operationIndex(o.operation)], nil
		}
	}
	if known == nil {
		known = o.lookUp(hook)
		place.Store(known)
		o.checked = true
	}
	return known
}

func (o *conditionObserver) lookUp(hook webhook.WebhookAccessor) *boundMetric {
	seconds := conditionVectors().seconds.WithLabelValues(hook.GetName(), conditionsKind, conditionsType, string(o.operation))
	return &boundMetric{exclusions: o.exclusions(hook), seconds: seconds}
}

func (o *conditionObserver) exclusions(hook webhook.WebhookAccessor) metrics.CounterMetric {
	return conditionVectors().exclusions.WithLabelValues(hook.GetName(), conditionsKind, hook.GetType(), string(o.operation))
}
