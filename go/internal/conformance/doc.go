// Package conformance runs cel-spec's tests with cel-go and with the Rust core, both in Kubernetes' environment.
//
// The tests are read from the module cache, where cel-go's own dependency on cel.dev/expr puts them. Not all of them can hold in this
// environment; excluded.txt lists those, and each run proves that cel-go does not give the expected result for them either.
package conformance
