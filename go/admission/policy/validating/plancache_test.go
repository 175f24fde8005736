package validating

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

func cacheKey(i int) *planKey {
	return &planKey{resource: schema.GroupVersionResource{Version: "v1", Resource: fmt.Sprintf("r%ds", i)}, operation: admission.Create}
}

func TestPlanCache(t *testing.T) {
	var cache planCache
	if cache.find(cacheKey(0)) != nil {
		t.Error("an empty cache has a plan")
	}
	if _, err := cache.add(cacheKey(0), func() (*plan, error) { return nil, errors.New("x") }); err == nil || cache.find(cacheKey(0)) != nil {
		t.Error("a plan that could not be made is there")
	}
	const keys = 1000
	plans := make([]*plan, keys)
	for i := range plans {
		plans[i] = &plan{}
		for range 2 { // the second is a request that was late
			if got, err := cache.add(cacheKey(i), func() (*plan, error) { return plans[i], nil }); err != nil || got != plans[i] {
				t.Fatalf("%d: %v", i, err)
			}
		}
	}
	for i := range plans {
		if cache.find(cacheKey(i)) != plans[i] {
			t.Fatalf("%d is lost", i)
		}
	}
	other := *cacheKey(3)
	other.kind.Version = "v2" // no part of the hash
	if cache.find(&other) != nil {
		t.Error("keys that differ are taken for one another")
	}
}

func TestPlanCacheIsBounded(t *testing.T) {
	full := &planTable{buckets: [][]planEntry{make([]planEntry, maxPlans)}, size: maxPlans}
	if next := full.with(planEntry{key: *cacheKey(1)}); next.size != 1 {
		t.Errorf("%d plans", next.size)
	}
}

// A plan that no request asks for grows older with each snapshot that keeps it.
func TestPlansGrowIdle(t *testing.T) {
	before, next := &snapshot{}, &snapshot{}
	p := &plan{view: before}
	for want := 1; want <= 3; want++ {
		if p = p.keep(before, next); p.idle != want || p.view != next {
			t.Errorf("idle in %d snapshots, want %d", p.idle, want)
		}
	}
	p.used.Store(true)
	if p = p.keep(before, next); p.idle != 0 || p.used.Load() {
		t.Errorf("idle in %d snapshots although it was used", p.idle)
	}
}
