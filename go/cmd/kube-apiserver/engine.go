package main

import (
	"fmt"
	"slices"

	celgate "github.com/celgate/celgate/go/admission/policy/validating"
	"github.com/celgate/celgate/go/admission/policy/verifying"
	celgatewebhook "github.com/celgate/celgate/go/admission/webhook/validating"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	mutatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	mutatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	validatingwebhook "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	kubeoptions "k8s.io/kubernetes/pkg/kubeapiserver/options"
)

// engine names the implementation of the plugins ValidatingAdmissionPolicy and ValidatingAdmissionWebhook. It is a pflag.Value.
type engine string

const (
	engineCelgate  engine = "celgate"
	engineUpstream engine = "upstream"
	// engineVerify is upstream's engine with celgate's beside it; webhooks, which must not be called twice, are upstream's alone.
	engineVerify engine = "verify"
)

// engines are all of them.
var engines = []engine{engineCelgate, engineUpstream, engineVerify}

func (e *engine) String() string { return string(*e) }

// Type is the word that --help shows for the value.
func (e *engine) Type() string { return "string" }

// Set accepts the name of an engine.
func (e *engine) Set(name string) error {
	if !slices.Contains(engines, engine(name)) {
		return fmt.Errorf("unknown engine, choose %s, %s or %s", engineCelgate, engineUpstream, engineVerify)
	}
	*e = engine(name)
	return nil
}

func (e *engine) usage() string {
	return fmt.Sprintf("The engine that evaluates ValidatingAdmissionPolicy, and which validating webhooks a request calls: %s, %s (the one built into Kubernetes) or %s "+
		"(upstream's decides; celgate's answers about policies are compared with it, counted in celgate_verify_requests_total, and differences are logged).",
		engineCelgate, engineUpstream, engineVerify)
}

// check finds out, before anything is started, whether the engine is part of this binary: a build
// without cgo has no celgate engine, and must not admit anything in its name.
func (e *engine) check() error {
	if *e == engineUpstream {
		return nil
	}
	if _, err := celgate.NewPlugin(nil); err != nil {
		return fmt.Errorf("--admission-engine=%s: %w", *e, err)
	}
	return nil
}

// plugins registers what upstream's server registers, with the engine's plugins under the names
// ValidatingAdmissionPolicy and ValidatingAdmissionWebhook. A name can be registered once, so choosing
// one at run time means a set of our own; a test compares its names with upstream's.
func (e *engine) plugins() *admission.Plugins {
	plugins := admission.NewPlugins()
	kubeoptions.RegisterAllAdmissionPlugins(plugins)
	lifecycle.Register(plugins)
	mutatingpolicy.Register(plugins)
	mutatingwebhook.Register(plugins)
	switch *e {
	case engineUpstream:
		upstream.Register(plugins)
		validatingwebhook.Register(plugins)
	case engineVerify:
		verifying.Register(plugins)
		validatingwebhook.Register(plugins)
	default:
		celgate.Register(plugins)
		celgatewebhook.Register(plugins)
	}
	return plugins
}
