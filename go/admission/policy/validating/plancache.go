package validating

import (
	"slices"
	"sync"
	"sync/atomic"
)

// maxPlans bounds a snapshot's cache of plans. Only clients that vary resources without end can reach it: an API server has
// a few keys per resource that it serves. Beyond it the cache starts anew.
const maxPlans = 8192

// planCache finds plans by key. Readers take no lock; a writer replaces the table. It is not a Go map because hashing every text of a key
// would be most of what a request costs that no policy can match.
type planCache struct {
	table atomic.Pointer[planTable]
	lock  sync.Mutex
}

// planTable is immutable.
type planTable struct {
	// buckets are a power of two.
	buckets [][]planEntry
	size    int
}

type planEntry struct {
	hash uint32
	key  planKey
	plan *plan
}

// find gives the plan of a key, nil if there is none yet.
func (c *planCache) find(key *planKey) *plan {
	table := c.table.Load()
	if table == nil {
		return nil
	}
	hash := key.hash()
	bucket := table.buckets[hash&uint32(len(table.buckets)-1)]
	for i := range bucket {
		if entry := &bucket[i]; entry.hash == hash && entry.key == *key {
			return entry.plan
		}
	}
	return nil
}

// add makes the plan of a key, unless another request did meanwhile.
func (c *planCache) add(key *planKey, create func() (*plan, error)) (*plan, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if found := c.find(key); found != nil {
		return found, nil
	}
	made, err := create()
	if err != nil {
		return nil, err
	}
	c.table.Store(c.table.Load().with(planEntry{hash: key.hash(), key: *key, plan: made}))
	return made, nil
}

// entries are all plans.
func (c *planCache) entries() []planEntry {
	if table := c.table.Load(); table != nil {
		return slices.Concat(table.buckets...)
	}
	return nil
}

// with gives a table with one entry more.
func (t *planTable) with(added planEntry) *planTable {
	entries := []planEntry{added}
	if t != nil && t.size < maxPlans {
		entries = append(entries, slices.Concat(t.buckets...)...)
	}
	return newPlanTable(entries)
}

func newPlanTable(entries []planEntry) *planTable {
	buckets := 16
	for buckets < 2*len(entries) {
		buckets *= 2
	}
	next := &planTable{buckets: make([][]planEntry, buckets), size: len(entries)}
	for _, entry := range entries {
		at := entry.hash & uint32(buckets-1)
		next.buckets[at] = append(next.buckets[at], entry)
	}
	return next
}

// hash looks at a few bytes of a key, which tell resources apart well enough; equality decides.
func (k *planKey) hash() uint32 {
	const multiplier = 0x9E3779B1
	hash := sample(k.resource.Resource)
	hash = hash*multiplier ^ sample(k.kind.Kind)
	hash = hash*multiplier ^ sample(k.resource.Group)
	hash = hash*multiplier ^ sample(k.subresource)
	hash = hash*multiplier ^ sample(string(k.operation))
	hash = hash*multiplier ^ sample(k.resource.Version)
	if k.namespaced {
		hash++
	}
	hash *= multiplier
	return hash ^ hash>>16
}

func sample(text string) uint32 {
	if text == "" {
		return 0
	}
	return uint32(text[0]) | uint32(text[len(text)/2])<<8 | uint32(text[len(text)-1])<<16 | uint32(len(text))<<24
}
