// Package differential compares the Rust core's CEL with cel-go in kube-apiserver's environment, in one process: whether an expression
// compiles, with which text and type, and for each input value, error text and cost.
//
// Expressions come from a generator that follows the declarations of cel-go's environment, and from files of cases. What differs is made
// as small as possible and reported. docs/differences.md lists what may differ; differences.go knows it by name.
package differential
