//go:build !race && !asan && !gcstress

package soak

// plain says that times and the process's memory are the program's own, not those of an instrument.
const plain = true
