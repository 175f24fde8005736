//go:build cgo

package cabi

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
static void trim(void) { malloc_trim(0); }
#else
static void trim(void) {}
#endif
*/
import "C"

// Trim gives memory that is free in the C library's heaps, where the core's objects are, back to the system: what [runtime/debug.FreeOSMemory]
// does for Go's heap. Other C libraries than glibc do it by themselves.
func Trim() { C.trim() }
