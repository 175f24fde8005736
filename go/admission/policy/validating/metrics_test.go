package validating

import (
	"strings"
	"testing"

	"k8s.io/component-base/metrics/legacyregistry"
)

func TestMetrics(t *testing.T) {
	registerMetrics()
	saved := counters.shards[3].bytes.Load()
	counters.shards[3].bytes.Add(5)
	counters.shards[4].bytes.Add(6)
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, family := range families {
		if strings.HasPrefix(family.GetName(), "celgate_") && family.GetMetric()[0].GetCounter() != nil {
			found[family.GetName()] = family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	for i := range summed {
		name := strings.Split(strings.Split(summed[i].desc.String(), `"`)[1], `"`)[0]
		if _, ok := found[name]; !ok {
			t.Errorf("%s is not exported", name)
		}
	}
	if _, ok := found["celgate_core_failures_total"]; !ok {
		t.Error("celgate_core_failures_total is not exported")
	}
	if got := found["celgate_encoded_bytes_total"]; got < float64(saved+11) {
		t.Errorf("the copies are not summed: %v", got)
	}
}
