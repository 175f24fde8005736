package validating

import (
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/celgate/celgate/go/internal/cabi"
)

// counterShards is the number of copies of the counters that requests spread over; a power of two.
const counterShards = 64

// counterShard is a copy of the counters, on cache lines of its own.
type counterShard struct {
	requests    atomic.Uint64
	evaluations atomic.Uint64
	questions   atomic.Uint64
	yields      atomic.Uint64
	bytes       atomic.Uint64
	_           [88]byte
}

func (s *counterShard) request(size int)          { s.requests.Add(1); s.bytes.Add(uint64(size)) }
func (s *counterShard) evaluated(policies uint64) { s.evaluations.Add(policies) }
func (s *counterShard) asked()                    { s.questions.Add(1) }
func (s *counterShard) yielded()                  { s.yields.Add(1) }

// counterSet is all copies; they are summed when metrics are read.
type counterSet struct {
	metrics.BaseStableCollector

	shards   [counterShards]counterShard
	next     atomic.Uint32
	failures atomic.Uint64

	lock sync.Mutex
	// current is the snapshot published last; its plugin keeps it.
	current weak.Pointer[snapshot]
}

// counters are the process's counters.
var counters = &counterSet{}

// shard gives the copy that a request's working memory uses.
func (c *counterSet) shard() *counterShard { return &c.shards[c.next.Add(1)%counterShards] }

// failed counts a failure of the core.
func (c *counterSet) failed() { c.failures.Add(1) }

// summed are the metrics that are sums of the copies.
var summed = []struct {
	desc *metrics.Desc
	of   func(*counterShard) uint64
}{
	{describe("celgate_evaluations_total", "Policies evaluated, counted once per request and distinct param."), func(s *counterShard) uint64 { return s.evaluations.Load() }},
	{describe("celgate_requests_total", "Requests that policies could match, so that the core was called."), func(s *counterShard) uint64 { return s.requests.Load() }},
	{describe("celgate_input_rounds_total", "Times that the core stopped for answers of the API server: authorization checks, params, namespaces."), func(s *counterShard) uint64 { return s.questions.Load() }},
	{describe("celgate_yields_total", "Times that the core paused a long evaluation."), func(s *counterShard) uint64 { return s.yields.Load() }},
	{describe("celgate_encoded_bytes_total", "Bytes of requests encoded for the core."), func(s *counterShard) uint64 { return s.bytes.Load() }},
}

var (
	failuresDesc = describe("celgate_core_failures_total", "Requests that the core could not decide because of a bug; failurePolicy decided.")
	policiesDesc = describe("celgate_policies", "Policies in force, those with at least one binding.")
	policyDesc   = metrics.NewDesc("celgate_policy_evaluations_total", "Evaluations of a policy in force, those that admitted included, counted once per request and distinct param. "+
		"Policies of one name count together.", []string{"policy"}, nil, metrics.ALPHA, "")
	handlesDesc = describe("celgate_core_handles", "Objects that the core holds: policies, bindings, param sets, snapshots, plans.")

	snapshotSeconds = metrics.NewHistogram(&metrics.HistogramOpts{
		Name:           "celgate_snapshot_build_seconds",
		Help:           "Time to build and publish a snapshot of all policies.",
		Buckets:        metrics.ExponentialBuckets(0.0001, 4, 8),
		StabilityLevel: metrics.ALPHA,
	})
)

func describe(name, help string) *metrics.Desc {
	return metrics.NewDesc(name, help, nil, nil, metrics.ALPHA, "")
}

// registerMetrics registers the process's metrics, once.
var registerMetrics = sync.OnceFunc(func() {
	legacyregistry.CustomMustRegister(counters)
	legacyregistry.MustRegister(snapshotSeconds)
})

// observeSnapshot notes the building of a snapshot.
func observeSnapshot(elapsed time.Duration, published *snapshot) {
	snapshotSeconds.Observe(elapsed.Seconds())
	counters.lock.Lock()
	defer counters.lock.Unlock()
	counters.current = weak.Make(published)
}

// DescribeWithStability implements metrics.StableCollector.
func (c *counterSet) DescribeWithStability(ch chan<- *metrics.Desc) {
	for i := range summed {
		ch <- summed[i].desc
	}
	ch <- failuresDesc
	ch <- policiesDesc
	ch <- policyDesc
	ch <- handlesDesc
}

// inForce gives the hooks of the snapshot published last.
func (c *counterSet) inForce() []PolicyHook {
	c.lock.Lock()
	defer c.lock.Unlock()
	if current := c.current.Value(); current != nil {
		return current.hooks
	}
	return nil
}

// CollectWithStability implements metrics.StableCollector.
func (c *counterSet) CollectWithStability(ch chan<- metrics.Metric) {
	for i := range summed {
		var total uint64
		for s := range c.shards {
			total += summed[i].of(&c.shards[s])
		}
		ch <- metrics.NewLazyConstMetric(summed[i].desc, metrics.CounterValue, float64(total))
	}
	ch <- metrics.NewLazyConstMetric(failuresDesc, metrics.CounterValue, float64(c.failures.Load()))
	hooks := c.inForce()
	ch <- metrics.NewLazyConstMetric(policiesDesc, metrics.GaugeValue, float64(len(hooks)))
	// A static policy and one of the API may bear one name.
	told := make(map[string]bool, len(hooks))
	for i := range hooks {
		name := hooks[i].Policy.Name
		if policy := hooks[i].Evaluator.policy; policy != nil && !told[name] {
			told[name] = true
			ch <- metrics.NewLazyConstMetric(policyDesc, metrics.CounterValue, float64(policy.Evaluations()), name)
		}
	}
	ch <- metrics.NewLazyConstMetric(handlesDesc, metrics.GaugeValue, float64(cabi.Live()))
}
