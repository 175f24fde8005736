//go:build cgo && gcstress

package cabi

import "runtime"

// stressGC collects between the reading of a handle's pointer and its use, so that a missing KeepAlive is found.
func stressGC() { runtime.GC() }
