package verifying

import (
	"context"
	"io"
	"runtime"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/celgate/celgate/go/admission/policy/validating"
	"github.com/celgate/celgate/go/internal/answer"
)

// PluginName is the plugin's name, that of upstream's plugin, whose place it takes.
const PluginName = upstream.PluginName

// Register registers the plugin.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(config io.Reader) (admission.Interface, error) { return NewPlugin(config) })
}

// patience is how long celgate's engine may take for one request; what takes longer is counted as failed.
const patience = 30 * time.Second

// Plugin is upstream's plugin, which decides, with celgate's beside it.
type Plugin struct {
	*upstream.Plugin
	celgate *validating.Plugin
	// decide is celgate's answer.
	decide func(context.Context, admission.Attributes, admission.ObjectInterfaces) error
	// free has a place for each comparison that may run now. When there is none, a request is not compared.
	free chan struct{}
}

var (
	_ admission.ValidationInterface               = &Plugin{}
	_ admission.InitializationValidator           = &Plugin{}
	_ initializer.WantsExcludedAdmissionResources = &Plugin{}
	_ initializer.WantsManifestLoaders            = &Plugin{}
)

// NewPlugin makes the plugin from its configuration, which may be nil and is that of both engines. It fails if celgate's engine is missing
// from the binary.
func NewPlugin(configFile io.Reader) (*Plugin, error) {
	forUpstream, forCelgate, err := twice(configFile)
	if err != nil {
		return nil, err
	}
	p := &Plugin{free: make(chan struct{}, 4*runtime.GOMAXPROCS(0))}
	if p.celgate, err = validating.NewPlugin(forCelgate); err != nil {
		return nil, err
	}
	p.decide = p.celgate.Validate
	if p.Plugin, err = upstream.NewPlugin(forUpstream); err != nil {
		return nil, err
	}
	registerMetrics()
	return p, nil
}

// Validate answers as upstream does, and has celgate's answer compared with it later.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, o admission.ObjectInterfaces) error {
	theirs := &observed{Attributes: a, warnings: &answer.Warnings{To: ctx}}
	start := time.Now()
	err := p.Plugin.Validate(warning.WithWarningRecorder(ctx, theirs.warnings), theirs, o)
	theirs.err, theirs.elapsed = err, time.Since(start)
	if ctx.Err() != nil {
		// Upstream may have been interrupted; where, is chance.
		count(skipped)
		return err
	}
	select {
	case p.free <- struct{}{}:
		request := copyOf(a)
		go func() {
			defer func() { <-p.free }()
			p.compare(context.WithoutCancel(ctx), request, o, theirs)
		}()
	default:
		count(skipped)
	}
	return err
}

// compare lets celgate's plugin decide the request, and notes how its answer compares with upstream's.
func (p *Plugin) compare(ctx context.Context, request admission.Attributes, o admission.ObjectInterfaces, theirs *observed) {
	defer func() {
		if reason := recover(); reason != nil {
			logFailure(request, reason)
			count(failed)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ours := &observed{Attributes: request, warnings: &answer.Warnings{}}
	start := time.Now()
	ours.err = p.decide(warning.WithWarningRecorder(ctx, ours.warnings), witness{ours}, o)
	ours.elapsed = time.Since(start)
	observe(theirs.elapsed, ours.elapsed)
	switch {
	case ctx.Err() != nil:
		logFailure(request, ctx.Err())
		count(failed)
	case isNotReady(ours.err) || isNotReady(theirs.err):
		// Either may know its policies a moment before the other does.
		count(notReady)
	default:
		differences := differencesOf(theirs, ours)
		if len(differences) == 0 {
			count(same)
			return
		}
		logDifference(request, theirs, ours, differences)
		count(different)
	}
}

// Wait waits until all comparisons that have begun are made; requests that come meanwhile may not be compared.
func (p *Plugin) Wait() {
	for range cap(p.free) {
		p.free <- struct{}{}
	}
	for range cap(p.free) {
		<-p.free
	}
}

// copyOf copies a request, whose objects may be changed once it is answered.
func copyOf(a admission.Attributes) admission.Attributes {
	return admission.NewAttributesRecord(copyObject(a.GetObject()), copyObject(a.GetOldObject()), a.GetKind(), a.GetNamespace(), a.GetName(),
		a.GetResource(), a.GetSubresource(), a.GetOperation(), copyObject(a.GetOperationOptions()), a.IsDryRun(), a.GetUserInfo())
}

func copyObject(object kuberuntime.Object) kuberuntime.Object {
	if object == nil {
		return nil
	}
	return object.DeepCopyObject()
}

// What follows gives both plugins what the API server gives one.

// SetEnabled switches both on or off.
func (p *Plugin) SetEnabled(enabled bool) {
	p.Plugin.SetEnabled(enabled)
	p.celgate.SetEnabled(enabled)
}

// SetExcludedAdmissionResources gives the resources that no policy may intercept.
func (p *Plugin) SetExcludedAdmissionResources(resources []schema.GroupResource) {
	p.Plugin.SetExcludedAdmissionResources(resources)
	p.celgate.SetExcludedAdmissionResources(resources)
}

// SetExternalKubeInformerFactory gives the informers of policies, bindings and namespaces.
func (p *Plugin) SetExternalKubeInformerFactory(factory informers.SharedInformerFactory) {
	p.Plugin.SetExternalKubeInformerFactory(factory)
	p.celgate.SetExternalKubeInformerFactory(factory)
}

// SetExternalKubeClientSet gives the client for what informers do not have yet.
func (p *Plugin) SetExternalKubeClientSet(client kubernetes.Interface) {
	p.Plugin.SetExternalKubeClientSet(client)
	p.celgate.SetExternalKubeClientSet(client)
}

// SetRESTMapper gives the mapper that finds the resources of params.
func (p *Plugin) SetRESTMapper(mapper meta.RESTMapper) {
	p.Plugin.SetRESTMapper(mapper)
	p.celgate.SetRESTMapper(mapper)
}

// SetDynamicClient gives the client for params; each of the plugins watches them for itself.
func (p *Plugin) SetDynamicClient(client dynamic.Interface) {
	p.Plugin.SetDynamicClient(client)
	p.celgate.SetDynamicClient(client)
}

// SetDrainedNotification tells when the server has stopped.
func (p *Plugin) SetDrainedNotification(stop <-chan struct{}) {
	p.Plugin.SetDrainedNotification(stop)
	p.celgate.SetDrainedNotification(stop)
}

// SetUnconditionalAuthorizer gives the authorizer; it is asked by both.
func (p *Plugin) SetUnconditionalAuthorizer(authorizer authorizer.UnconditionalAuthorizer) {
	p.Plugin.SetUnconditionalAuthorizer(authorizer)
	p.celgate.SetUnconditionalAuthorizer(authorizer)
}

// SetAPIServerID gives the server's name in the metrics of manifests.
func (p *Plugin) SetAPIServerID(id string) {
	p.Plugin.SetAPIServerID(id)
	p.celgate.SetAPIServerID(id)
}

// SetManifestLoaders gives the functions that read static policies.
func (p *Plugin) SetManifestLoaders(loaders *initializer.ManifestLoaders) {
	p.Plugin.SetManifestLoaders(loaders)
	p.celgate.SetManifestLoaders(loaders)
}

// ValidateInitialization starts both.
func (p *Plugin) ValidateInitialization() error {
	if err := p.Plugin.ValidateInitialization(); err != nil {
		return err
	}
	return p.celgate.ValidateInitialization()
}
