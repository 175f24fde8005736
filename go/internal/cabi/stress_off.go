//go:build cgo && !gcstress

package cabi

func stressGC() {}
