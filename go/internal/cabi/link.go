//go:build cgo && !mutants

package cabi

/*
#cgo LDFLAGS: ${SRCDIR}/../../../target/release/libcelgate.a -lm
#cgo linux LDFLAGS: -ldl -lpthread
*/
import "C"
