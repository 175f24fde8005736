//go:build race

package cabi

const raceEnabled = true
