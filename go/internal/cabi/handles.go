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

// own frees ptr when owner becomes unreachable. The cleanup gets the C pointer, never the owner.
func own[T, P any](owner *T, free func(P), ptr P) {
	live.Add(1)
	runtime.AddCleanup(owner, func(ptr P) {
		free(ptr)
		live.Add(-1)
	}, ptr)
}
