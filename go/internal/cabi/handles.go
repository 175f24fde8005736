//go:build cgo

package cabi

import (
	"runtime"
	"sync/atomic"
)

// live counts the handles that the core has not got back yet.
var live atomic.Int64

// Live is the number of handles that the core holds for this process; it falls to that of the reachable ones as the collector runs.
func Live() int64 { return live.Load() }

// alone makes a handle large enough to be collected by itself. Go puts smaller values without pointers (C's are none) together, several in 16
// bytes, and collects none of them as long as any is reachable: a handle would live as long as whatever text or number came to lie beside it.
type alone [2]uintptr

// own frees ptr when owner becomes unreachable. The cleanup gets the C pointer, never the owner.
func own[T, P any](owner *T, free func(P), ptr P) {
	live.Add(1)
	runtime.AddCleanup(owner, func(ptr P) {
		free(ptr)
		live.Add(-1)
	}, ptr)
}
