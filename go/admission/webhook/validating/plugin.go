package validating

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/configuration"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/generic"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/manifest/source"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/features"
	webhookutil "k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"

	"github.com/celgate/celgate/go/internal/cabi"
	"github.com/celgate/celgate/go/internal/core"
)

// PluginName is the plugin's name, that of upstream's plugin, whose place it takes.
const PluginName = "ValidatingAdmissionWebhook"

// Register registers the plugin.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(configFile io.Reader) (admission.Interface, error) {
		return NewValidatingAdmissionWebhook(configFile)
	})
}

// Plugin calls the validating webhooks that a request matches. Initializers, sources and life cycle are those of upstream's generic
// plugin; requests take their own way.
type Plugin struct {
	*generic.Webhook

	clients    *webhookutil.ClientManager
	namespaces core.Namespaces
	authorizer authorizer.UnconditionalAuthorizer
	// api and static are the sources of webhooks; static is nil if there are no manifests.
	api, static generic.Source

	// excluded are resources that no webhook may intercept, if that feature is on.
	excluded       sets.Set[schema.GroupResource]
	excludeEnabled bool
	snapshots      snapshots
	works          sync.Pool
	ready          atomic.Bool
}

var (
	_ admission.ValidationInterface                = &Plugin{}
	_ admission.InitializationValidator            = &Plugin{}
	_ initializer.WantsExternalKubeClientSet       = &Plugin{}
	_ initializer.WantsExternalKubeInformerFactory = &Plugin{}
	_ initializer.WantsExcludedAdmissionResources  = &Plugin{}
	_ initializer.WantsFeatures                    = &Plugin{}
	_ initializer.WantsManifestLoaders             = &Plugin{}
)

// errNotReady is what requests get as long as webhooks are not known.
var errNotReady = errors.New("not yet ready to handle request")

// NewValidatingAdmissionWebhook makes the plugin from its configuration, which may be nil. It fails if the engine is missing from the binary.
func NewValidatingAdmissionWebhook(configFile io.Reader) (*Plugin, error) {
	if err := cabi.Available(); err != nil {
		return nil, err
	}
	registerMetrics()
	p := &Plugin{excluded: sets.New[schema.GroupResource]()}
	p.works.New = func() any { work := core.NewWork(); return &work }
	var err error
	p.Webhook, err = generic.NewWebhook(
		admission.NewHandler(admission.Connect, admission.Create, admission.Delete, admission.Update),
		configFile,
		func(factory informers.SharedInformerFactory, excluded sets.Set[schema.GroupResource]) generic.Source {
			p.api = configuration.NewValidatingWebhookConfigurationManager(factory, excluded)
			return p.api
		},
		func(clients *webhookutil.ClientManager) generic.Dispatcher {
			p.clients = clients
			return (*dispatcher)(p)
		},
	)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// SetManifestLoaders gives the functions that read webhooks from manifests, with the API's defaulting and validation.
func (p *Plugin) SetManifestLoaders(loaders *initializer.ManifestLoaders) {
	if loaders == nil || loaders.LoadValidatingWebhookManifests == nil {
		return
	}
	load := source.ValidatingWebhookLoadFunc(loaders.LoadValidatingWebhookManifests)
	p.SetStaticSourceFactory(func(dir string) (generic.ReloadableSource, error) {
		static := source.NewValidatingSource(dir, p.GetAPIServerID(), load)
		if err := static.LoadInitial(); err != nil {
			return nil, err
		}
		p.static = static
		return static, nil
	})
}

// SetExternalKubeClientSet gives the client that looks namespaces up.
func (p *Plugin) SetExternalKubeClientSet(client kubernetes.Interface) {
	p.namespaces.Client = client
	p.Webhook.SetExternalKubeClientSet(client)
}

// SetExternalKubeInformerFactory gives the informers of webhooks and namespaces.
func (p *Plugin) SetExternalKubeInformerFactory(factory informers.SharedInformerFactory) {
	p.namespaces.Lister = factory.Core().V1().Namespaces().Lister()
	p.Webhook.SetExternalKubeInformerFactory(factory)
}

// SetUnconditionalAuthorizer gives the authorizer that match conditions ask.
func (p *Plugin) SetUnconditionalAuthorizer(authz authorizer.UnconditionalAuthorizer) {
	p.authorizer = authz
	p.Webhook.SetUnconditionalAuthorizer(authz)
}

// SetExcludedAdmissionResources gives the resources that no webhook may intercept, if the feature is on.
func (p *Plugin) SetExcludedAdmissionResources(resources []schema.GroupResource) {
	p.excluded.Insert(resources...)
	p.Webhook.SetExcludedAdmissionResources(resources)
}

// InspectFeatureGates finds out whether virtual resources are excluded.
func (p *Plugin) InspectFeatureGates(gates featuregate.FeatureGate) {
	p.excludeEnabled = gates.Enabled(features.ExcludeAdmissionWebhookVirtualResources)
	p.Webhook.InspectFeatureGates(gates)
}

// Validate calls the webhooks that the request matches.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	if !p.ready.Load() {
		if refused, judged := p.unready(a); judged {
			return refused
		}
	}
	s, err := p.snapshot()
	if err != nil {
		return admission.NewForbidden(a, err)
	}
	return p.decide(ctx, a, o, s)
}

// Dispatch is Validate, so that upstream's way through the generic plugin leads to the same snapshot.
func (p *Plugin) Dispatch(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	return p.Validate(ctx, a, o)
}

// unready is about a request that may have come before the webhooks: judged says that it does not go on. What no API webhook may intercept
// does not wait for them.
func (p *Plugin) unready(a admission.Attributes) (refused error, judged bool) {
	switch p.exemption(a) {
	case exemptFromAll:
		return nil, true
	case exemptFromAPI:
		if p.static == nil {
			return nil, true
		}
		if !p.static.HasSynced() {
			return admission.NewForbidden(a, errNotReady), true
		}
		return nil, false
	}
	if !p.WaitForReady() {
		return admission.NewForbidden(a, errNotReady), true
	}
	p.ready.Store(true)
	return nil, false
}

// exemption says which webhooks may not intercept a request. It depends on the request's kind alone.
type exemption int

const (
	exemptFromNone exemption = iota
	// exemptFromAPI are the admission configuration's own resources: webhooks of the API could lock out their own repair.
	exemptFromAPI
	// exemptFromAll are reviews that authentication and authorization are made of.
	exemptFromAll
)

func (p *Plugin) exemption(a admission.Attributes) exemption {
	switch {
	case p.excludeEnabled && p.excluded.Has(a.GetResource().GroupResource()):
		return exemptFromAll
	case rules.IsExemptAdmissionConfigurationResource(a):
		return exemptFromAPI
	}
	return exemptFromNone
}

// dispatcher decides by webhooks that come another way than through the plugin's own: upstream's generic plugin wants one.
type dispatcher Plugin

// Dispatch calls those of the given webhooks that the request matches.
func (d *dispatcher) Dispatch(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces, hooks []webhook.WebhookAccessor) error {
	p := (*Plugin)(d)
	s, err := p.snapshots.of(nil, hooks)
	if err != nil {
		return admission.NewForbidden(a, err)
	}
	return p.decide(ctx, a, o, s)
}
