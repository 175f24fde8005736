//go:build cgo && mutants

package cabi

/*
#cgo CFLAGS: -DCELGATE_EXPRESSIONS -DCELGATE_MUTANTS
#cgo LDFLAGS: ${SRCDIR}/../../../target/differential/libcelgate.a -lm
#cgo linux LDFLAGS: -ldl -lpthread
#include "celgate.h"
*/
import "C"

// Plant plants one of the bugs of policies and webhooks that tests must find; 0 takes it out again. It gives how many there are: 1 to that number.
// The library is that of `cargo build --profile differential --features mutants`.
func Plant(number int) int { return int(C.celgate_policy_mutant(C.uint32_t(number))) }

// MutantShows says whether the test of policies, and that of webhooks, must find a bug.
func MutantShows(number int) (policies, webhooks bool) {
	in := C.celgate_policy_mutant_shows(C.uint32_t(number))
	return in&1 != 0, in&2 != 0
}
