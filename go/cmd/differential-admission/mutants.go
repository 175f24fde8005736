//go:build mutants

package main

import "github.com/celgate/celgate/go/internal/cabi"

// plant plants a bug in the core; shows says which tests must find it.
var (
	plant = cabi.Plant
	shows = cabi.MutantShows
)
