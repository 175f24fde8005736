// Package cabi calls the Rust core through its C ABI (include/celgate.h, docs/abi.md). It is the only package that imports "C".
//
// Handles mirror the core's: all but Scratch are immutable and may be used by any goroutine; they are freed when they become
// unreachable, and each keeps alive what it was made from for as long as the core needs it. The core keeps no Go pointer and
// never calls back, which is what the noescape and nocallback promises rest on.
//
// Without cgo the package compiles and Available reports that the engine is missing.
package cabi
