// Package versions has no code: its tests compare how the Rust core reads policies and bindings of every version of the API with the
// apiserver's scheme, which decodes, defaults and converts them.
package versions
