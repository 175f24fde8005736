package core

import (
	"slices"
	"sync"
	"sync/atomic"
)

// maxPlans bounds a snapshot's cache of plans. Only clients that vary resources without end can reach it: an API server has
// a few keys per resource that it serves. Beyond it the cache starts anew.
const maxPlans = 8192

// Cache finds plans by key. Readers take no lock; a writer replaces the table. It is not a Go map because hashing every text of a key
// would be most of what a request costs that nothing can match.
type Cache[P any] struct {
	table atomic.Pointer[planTable[P]]
	lock  sync.Mutex
}

// planTable is immutable.
type planTable[P any] struct {
	// buckets are a power of two.
	buckets [][]Entry[P]
	size    int
}

// Entry is a plan with its key.
type Entry[P any] struct {
	hash uint32
	Key  Key
	Plan *P
}

// Find gives the plan of a key, nil if there is none yet.
func (c *Cache[P]) Find(key *Key) *P {
	table := c.table.Load()
	if table == nil {
		return nil
	}
	hash := key.hash()
	bucket := table.buckets[hash&uint32(len(table.buckets)-1)]
	for i := range bucket {
		if entry := &bucket[i]; entry.hash == hash && entry.Key == *key {
			return entry.Plan
		}
	}
	return nil
}

// Add makes the plan of a key, unless another request did meanwhile.
func (c *Cache[P]) Add(key *Key, create func() (*P, error)) (*P, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if found := c.Find(key); found != nil {
		return found, nil
	}
	made, err := create()
	if err != nil {
		return nil, err
	}
	c.table.Store(c.table.Load().with(Entry[P]{hash: key.hash(), Key: *key, Plan: made}))
	return made, nil
}

// Entries are all plans.
func (c *Cache[P]) Entries() []Entry[P] {
	if table := c.table.Load(); table != nil {
		return slices.Concat(table.buckets...)
	}
	return nil
}

// Set makes entries, which are another cache's, the cache's own.
func (c *Cache[P]) Set(entries []Entry[P]) { c.table.Store(newPlanTable(entries)) }

// with gives a table with one entry more.
func (t *planTable[P]) with(added Entry[P]) *planTable[P] {
	entries := []Entry[P]{added}
	if t != nil && t.size < maxPlans {
		entries = append(entries, slices.Concat(t.buckets...)...)
	}
	return newPlanTable(entries)
}

func newPlanTable[P any](entries []Entry[P]) *planTable[P] {
	buckets := 16
	for buckets < 2*len(entries) {
		buckets *= 2
	}
	next := &planTable[P]{buckets: make([][]Entry[P], buckets), size: len(entries)}
	for _, entry := range entries {
		at := entry.hash & uint32(buckets-1)
		next.buckets[at] = append(next.buckets[at], entry)
	}
	return next
}
