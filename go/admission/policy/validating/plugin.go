package validating

import (
	"context"
	"errors"
	"io"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/config"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"

	"github.com/celgate/celgate/go/internal/cabi"
)

// PluginName is the plugin's name, that of upstream's plugin, whose place it takes.
const PluginName = "ValidatingAdmissionPolicy"

// Register registers the plugin.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(configFile io.Reader) (admission.Interface, error) {
		return NewPlugin(configFile)
	})
}

// Plugin judges requests by ValidatingAdmissionPolicies. Initializers and life cycle are those of upstream's generic plugin; requests
// take their own way.
type Plugin struct {
	*generic.Plugin[PolicyHook]

	enabled    bool
	exempt     *exemptions
	publisher  *publisher
	source     *policySource
	dispatcher *dispatcher
	// static is the source of static policies, nil if there are none.
	static generic.HookSource[PolicyHook]
	// ready stays true once the plugin has been ready.
	ready atomic.Bool
}

var (
	_ admission.Interface                         = &Plugin{}
	_ admission.ValidationInterface               = &Plugin{}
	_ admission.InitializationValidator           = &Plugin{}
	_ initializer.WantsExcludedAdmissionResources = &Plugin{}
	_ initializer.WantsManifestLoaders            = &Plugin{}
)

// errNotReady is what requests get as long as policies are not known.
var errNotReady = errors.New("not yet ready to handle request")

// NewPlugin makes the plugin from its configuration, which may be nil. It fails if the engine is missing from the binary.
func NewPlugin(configFile io.Reader) (*Plugin, error) {
	if err := cabi.Available(); err != nil {
		return nil, err
	}
	cfg, err := config.LoadValidatingConfig(configFile)
	if err != nil {
		return nil, err
	}
	registerMetrics()
	exempt := newExemptions()
	p := &Plugin{exempt: exempt, publisher: &publisher{exempt: exempt}}
	var namespaces corelisters.NamespaceLister
	p.Plugin = generic.NewPlugin(
		admission.NewHandler(admission.Connect, admission.Create, admission.Delete, admission.Update),
		func(factory informers.SharedInformerFactory, _ kubernetes.Interface, client dynamic.Interface, mapper meta.RESTMapper) generic.Source[PolicyHook] {
			namespaces = factory.Core().V1().Namespaces().Lister()
			p.source = newPolicySource(factory, client, mapper, p.publisher.publish)
			return p.source
		},
		func(authz authorizer.UnconditionalAuthorizer, matcher *matching.Matcher, client kubernetes.Interface) generic.Dispatcher[PolicyHook] {
			p.dispatcher = newDispatcher(authz, matcher, namespaces, client, p.exempt)
			return p.dispatcher
		},
	)
	p.SetEnabled(true)
	p.SetStaticManifestsDir(cfg.StaticManifestsDir)
	return p, nil
}

// SetEnabled switches the plugin on or off.
func (p *Plugin) SetEnabled(enabled bool) {
	p.enabled = enabled
	p.Plugin.SetEnabled(enabled)
}

// Refresh takes over at once what the informers know, instead of within the next second: for tests and tools that change policies or
// params and want to see what follows. Informers that it starts end with ctx, as those of the plugin do with the server.
func (p *Plugin) Refresh(ctx context.Context) {
	p.source.notify()
	p.source.refresh(ctx)
	p.source.params.flush()
}

// SetExcludedAdmissionResources gives the resources that no policy may intercept.
func (p *Plugin) SetExcludedAdmissionResources(resources []schema.GroupResource) {
	p.exempt.all.Insert(resources...)
	p.Plugin.SetExcludedAdmissionResources(resources)
}

// Validate judges a request by the policies published last.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if !p.enabled {
		return nil
	}
	if !p.ready.Load() {
		return p.validateUnready(ctx, a, o)
	}
	return p.judge(ctx, a, o)
}

// Dispatch is Validate, so that upstream's way through the generic plugin leads to the same snapshot.
func (p *Plugin) Dispatch(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.Validate(ctx, a, o)
}

// judge judges a request once the plugin is ready. The snapshot's plans know which resources are exempt.
func (p *Plugin) judge(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	s := p.publisher.load()
	if s == nil {
		return admission.NewForbidden(a, errNotReady)
	}
	return p.dispatcher.decide(ctx, a, o, s)
}

// validateUnready judges a request that may have come before the policies. What no API policy may intercept does not wait for them.
func (p *Plugin) validateUnready(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	resource := a.GetResource().GroupResource()
	if p.exempt.fromAll(resource) {
		return nil
	}
	if p.exempt.fromAPI(resource) {
		if p.static == nil {
			return nil
		}
		s := p.publisher.loadStatic()
		if s == nil || !p.static.HasSynced() {
			return admission.NewForbidden(a, errNotReady)
		}
		return p.dispatcher.decide(ctx, a, o, s)
	}
	if !p.WaitForReady() {
		return admission.NewForbidden(a, errNotReady)
	}
	p.ready.Store(true)
	return p.judge(ctx, a, o)
}
