//go:build mutants

package main

import "github.com/celgate/celgate/go/internal/cabi"

// plant plants a bug in the core.
var plant = cabi.Plant
