// Package manifests has no code: its tests give the same directories of manifests to upstream's plugin and to celgate's, both with
// kube-apiserver's loader, and compare what is accepted, what is said, what is counted and what is decided.
package manifests
