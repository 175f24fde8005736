// Package expression compiles and evaluates bare CEL expressions with the Rust core, for tests and tools. It links a library of its own
// (cargo build --profile differential --features mutants), so no program can have both this package and its parent.
package expression
