package workloads

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// Plugin is what all plugins are. Whoever makes one gives it its authorizer, which the versions of upstream name differently.
type Plugin interface {
	admission.ValidationInterface
	admission.InitializationValidator
	initializer.WantsExternalKubeInformerFactory
	initializer.WantsExternalKubeClientSet
}

// PolicyPlugin is what plugins of policies are besides.
type PolicyPlugin interface {
	Plugin
	initializer.WantsRESTMapper
	initializer.WantsDynamicClient
	initializer.WantsDrainedNotification
}

// WebhookPlugin is what plugins of webhooks are besides.
type WebhookPlugin interface {
	Plugin
	WaitForReady() bool
}

// AllowAll answers authorization checks; the workloads ask none.
var AllowAll authorizer.AuthorizerFunc = func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
	return authorizer.DecisionAllow, "", nil
}

// Running is a plugin over its own informers.
type Running struct {
	admission.ValidationInterface
	Engine  string
	Started time.Duration
	// StartedCPU is the CPU time that it took to start.
	StartedCPU time.Duration

	stop chan struct{}
}

// StartPolicies runs a plugin over w and waits until its policies are in force: until the probe is denied.
func StartPolicies(engine string, p PolicyPlugin, w *World) (*Running, error) {
	w.addProbe()
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	r := &Running{ValidationInterface: p, Engine: engine, stop: make(chan struct{})}
	p.SetRESTMapper(mapper)
	p.SetDynamicClient(dynamicfake.NewSimpleDynamicClient(clientgoscheme.Scheme, w.params()...))
	p.SetDrainedNotification(r.stop)
	return r, r.start(p, w, func() error {
		for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
			err := SendProbe(r)
			if isDenial(err) {
				return nil
			}
			if time.Now().After(deadline) {
				return fmt.Errorf("the policies are not in force: the probe gives %v", err)
			}
		}
	})
}

// SendProbe sends the request that the probe policy denies.
func SendProbe(r *Running) error { return r.Validate(context.Background(), probe(), versionedObjects) }

// StartWebhooks runs a plugin over w and waits until its webhooks are in force.
func StartWebhooks(engine string, p WebhookPlugin, w *World) (*Running, error) {
	r := &Running{ValidationInterface: p, Engine: engine, stop: make(chan struct{})}
	return r, r.start(p, w, func() error {
		if !p.WaitForReady() {
			return errors.New("the webhooks are not in force")
		}
		return nil
	})
}

func (r *Running) start(p Plugin, w *World, wait func() error) error {
	client := fake.NewSimpleClientset(w.Objects()...)
	factory := informers.NewSharedInformerFactory(client, 0)
	p.SetExternalKubeInformerFactory(factory)
	p.SetExternalKubeClientSet(client)
	if err := p.ValidateInitialization(); err != nil {
		return fmt.Errorf("%s: %w", r.Engine, err)
	}
	began, cpu := time.Now(), CPUTime()
	factory.Start(r.stop)
	factory.WaitForCacheSync(r.stop)
	if err := wait(); err != nil {
		r.Close()
		return fmt.Errorf("%s: %w", r.Engine, err)
	}
	r.Started, r.StartedCPU = time.Since(began), CPUTime()-cpu
	return nil
}

func isDenial(err error) bool {
	status, ok := err.(interface{ Status() metav1.Status })
	return ok && status.Status().Reason == metav1.StatusReasonInvalid
}

// Close ends the plugin.
func (r *Running) Close() { close(r.stop) }

// Wait waits for what a plugin still does for requests that it has answered.
func (r *Running) Wait() {
	if p, ok := r.ValidationInterface.(interface{ Wait() }); ok {
		p.Wait()
	}
}
