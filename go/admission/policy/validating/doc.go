// Package validating is the admission plugin ValidatingAdmissionPolicy with celgate's engine behind it. It takes the place of
// k8s.io/apiserver/pkg/admission/plugin/policy/validating: the same plugin name, configuration, initializers, decisions, warnings, audit
// annotations and metrics.
//
// A request passes through Plugin.Validate (plugin.go), which loads the published snapshot (snapshot.go) and its plan for this kind
// of request (plan.go). An empty plan ends it there. Otherwise the dispatcher (dispatcher.go) encodes the request, lets the engine
// evaluate it, answers the engine's questions (questions.go) and turns its report into the outcome (outcome.go). Snapshots are
// built by whoever sees a change: the policy source (source.go), the static manifests (static.go); params (params.go) change beneath them.
//
// TypeChecker (typechecking.go) is apart from that: it finds what is wrong with a policy's expressions for the kinds that it is about, for a
// controller to write into the policy's status.
package validating
