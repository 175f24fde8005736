// Package worlds makes random worlds of policies, bindings, params and namespaces, and requests in them with changes in between, and compares
// what upstream's plugin and celgate's make of each: errors, warnings, audit annotations, metrics.
package worlds
