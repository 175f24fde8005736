//go:build !mutants

package main

// Both are nil: the core of this build has no bugs to plant.
var (
	plant func(number int) (count int)
	shows func(number int) (policies, webhooks bool)
)
