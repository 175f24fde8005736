//go:build race || asan || gcstress

package soak

const plain = false
