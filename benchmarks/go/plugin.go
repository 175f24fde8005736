package main

import (
	"context"
	"fmt"
	"time"

	celgate "github.com/celgate/celgate/go/admission/policy/validating"
	"github.com/celgate/celgate/go/admission/policy/verifying"
	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// engines are the two that are compared, upstream's first.
var engines = []string{"upstream", "celgate"}

// world is what a workload installs.
type world struct {
	policies   []*v1.ValidatingAdmissionPolicy
	bindings   []*v1.ValidatingAdmissionPolicyBinding
	configMaps []*corev1.ConfigMap
	// webhooks, if there are any, are the world of the webhook plugin instead.
	webhooks *v1.ValidatingWebhookConfiguration
}

// plugin is what both engines' plugins are.
type plugin interface {
	admission.ValidationInterface
	admission.InitializationValidator
	initializer.WantsExternalKubeInformerFactory
	initializer.WantsExternalKubeClientSet
	initializer.WantsRESTMapper
	initializer.WantsDynamicClient
	initializer.WantsDrainedNotification
	initializer.WantsUnconditionalAuthorizer
}

// running is a plugin over its own informers.
type running struct {
	admission.ValidationInterface
	engine  string
	stop    chan struct{}
	started time.Duration
	// startedCPU is the CPU time that it took to start.
	startedCPU time.Duration
}

// allowAll answers authorization checks; the workloads ask none.
type allowAll struct{}

func (allowAll) Authorize(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}

func newPlugin(engine string) (plugin, error) {
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

// start runs an engine's plugin over w and waits until probe, which a policy must deny, is denied.
func start(engine string, w *world, namespaces []*corev1.Namespace, probe admission.Attributes, objects admission.ObjectInterfaces) (*running, error) {
	if w.webhooks != nil {
		return startWebhooks(engine, w, namespaces)
	}
	var initial []runtime.Object
	for _, o := range namespaces {
		initial = append(initial, o)
	}
	for _, o := range w.policies {
		initial = append(initial, o)
	}
	for _, o := range w.bindings {
		initial = append(initial, o)
	}
	var params []runtime.Object
	for _, o := range w.configMaps {
		params = append(params, o)
	}
	initial = append(initial, params...)
	client := fake.NewSimpleClientset(initial...)
	factory := informers.NewSharedInformerFactory(client, 0)
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	p, err := newPlugin(engine)
	if err != nil {
		return nil, err
	}
	r := &running{ValidationInterface: p, engine: engine, stop: make(chan struct{})}
	p.SetExternalKubeInformerFactory(factory)
	p.SetExternalKubeClientSet(client)
	p.SetRESTMapper(mapper)
	p.SetDynamicClient(dynamicfake.NewSimpleDynamicClient(clientgoscheme.Scheme, params...))
	p.SetDrainedNotification(r.stop)
	p.SetUnconditionalAuthorizer(allowAll{})
	if err := p.ValidateInitialization(); err != nil {
		return nil, err
	}
	began, cpu := time.Now(), cpuTime()
	factory.Start(r.stop)
	factory.WaitForCacheSync(r.stop)
	for deadline := began.Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		err := r.Validate(context.Background(), probe, objects)
		if err != nil && isDenial(err) {
			r.started, r.startedCPU = time.Since(began), cpuTime()-cpu
			return r, r.settle(probe, objects)
		}
		if time.Now().After(deadline) {
			r.close()
			return nil, fmt.Errorf("%s: the policies are not in force: the probe gives %v", engine, err)
		}
	}
}

func isDenial(err error) bool {
	status, ok := err.(interface{ Status() metav1.Status })
	return ok && status.Status().Reason == metav1.StatusReasonInvalid
}

func (r *running) close() { close(r.stop) }
