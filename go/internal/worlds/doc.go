// Package worlds makes random worlds of policies, bindings, params and namespaces, or of webhooks and a server that they call, and requests in them
// with changes in between, manifests included, and compares what upstream's plugin and celgate's make of each: errors, warnings, audit annotations,
// metrics, and what webhooks are sent.
package worlds
