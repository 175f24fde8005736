package core

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

func cacheKey(i int) *Key {
	return &Key{Resource: schema.GroupVersionResource{Version: "v1", Resource: fmt.Sprintf("r%ds", i)}, Operation: admission.Create}
}

func TestPlanCache(t *testing.T) {
	var cache Cache[Plan]
	if cache.Find(cacheKey(0)) != nil {
		t.Error("an empty cache has a plan")
	}
	if _, err := cache.Add(cacheKey(0), func() (*Plan, error) { return nil, errors.New("x") }); err == nil || cache.Find(cacheKey(0)) != nil {
		t.Error("a plan that could not be made is there")
	}
	const keys = 1000
	plans := make([]*Plan, keys)
	for i := range plans {
		plans[i] = &Plan{}
		for range 2 { // the second is a request that was late
			if got, err := cache.Add(cacheKey(i), func() (*Plan, error) { return plans[i], nil }); err != nil || got != plans[i] {
				t.Fatalf("%d: %v", i, err)
			}
		}
	}
	for i := range plans {
		if cache.Find(cacheKey(i)) != plans[i] {
			t.Fatalf("%d is lost", i)
		}
	}
	other := *cacheKey(3)
	other.Kind.Version = "v2" // no part of the hash
	if cache.Find(&other) != nil {
		t.Error("keys that differ are taken for one another")
	}
}

func TestPlanCacheIsBounded(t *testing.T) {
	full := &planTable[Plan]{buckets: [][]Entry[Plan]{make([]Entry[Plan], maxPlans)}, size: maxPlans}
	if next := full.with(Entry[Plan]{Key: *cacheKey(1)}); next.size != 1 {
		t.Errorf("%d plans", next.size)
	}
}
