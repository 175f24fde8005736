// Package workloads has what the plugins are compared on (policies, bindings, params, webhooks, requests), and runs and times a plugin on it. It
// is a module of its own that compiles with k8s.io/apiserver v0.36 and later: which version of upstream is measured, the importing program's
// go.mod says.
package workloads
