// Package validating is the admission plugin ValidatingAdmissionWebhook with celgate's engine behind it. It takes the place of
// k8s.io/apiserver/pkg/admission/plugin/webhook/validating: the same plugin name, configuration file, initializers, decisions, calls,
// warnings, audit annotations and metrics.
//
// Configuration, sources of webhooks and life cycle are upstream's own (k8s.io/apiserver/pkg/admission/plugin/webhook/generic). A request
// passes through Plugin.Validate (plugin.go), which loads the snapshot of the webhooks in force (snapshot.go) and its plan for this kind of
// request. An empty plan ends it there. Otherwise the engine finds out which webhooks are called (match.go), and these are called (call.go).
package validating
