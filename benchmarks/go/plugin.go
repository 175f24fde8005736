package main

import (
	"fmt"

	celgate "github.com/celgate/celgate/go/admission/policy/validating"
	"github.com/celgate/celgate/go/admission/policy/verifying"
	celgatewebhooks "github.com/celgate/celgate/go/admission/webhook/validating"
	"k8s.io/apiserver/pkg/admission/initializer"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	upstreamwebhooks "k8s.io/apiserver/pkg/admission/plugin/webhook/validating"

	"github.com/celgate/celgate/benchmarks/workloads"
)

// engines are the two that are compared, upstream's first.
var engines = []string{"upstream", "celgate"}

// policyPlugin and webhookPlugin are what both engines' plugins are.
type policyPlugin interface {
	workloads.PolicyPlugin
	initializer.WantsUnconditionalAuthorizer
}

type webhookPlugin interface {
	workloads.WebhookPlugin
	initializer.WantsUnconditionalAuthorizer
}

func newPolicyPlugin(engine string) (policyPlugin, error) {
	switch engine {
	case "upstream":
		return upstream.NewPlugin(nil)
	case "celgate":
		return celgate.NewPlugin(nil)
	case verify:
		return verifying.NewPlugin(nil)
	default:
		return nil, fmt.Errorf("unknown engine %q", engine)
	}
}

func newWebhookPlugin(engine string) (webhookPlugin, error) {
	if engine == "upstream" {
		return upstreamwebhooks.NewValidatingAdmissionWebhook(nil)
	}
	return celgatewebhooks.NewValidatingAdmissionWebhook(nil)
}

// start runs an engine's plugin over w.
func start(engine string, w *workloads.World) (*workloads.Running, error) {
	if w.Webhooks != nil {
		p, err := newWebhookPlugin(engine)
		if err != nil {
			return nil, err
		}
		p.SetUnconditionalAuthorizer(workloads.AllowAll)
		return workloads.StartWebhooks(engine, p, w)
	}
	p, err := newPolicyPlugin(engine)
	if err != nil {
		return nil, err
	}
	p.SetUnconditionalAuthorizer(workloads.AllowAll)
	r, err := workloads.StartPolicies(engine, p, w)
	if err != nil {
		return nil, err
	}
	if engine == verify {
		err = settle(r)
	}
	return r, err
}
