package harness

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/client-go/dynamic"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
)

// Plugin is what the harness asks of an admission plugin.
type Plugin interface {
	admission.ValidationInterface
	admission.InitializationValidator
	initializer.WantsExternalKubeInformerFactory
	initializer.WantsExternalKubeClientSet
	initializer.WantsRESTMapper
	initializer.WantsDynamicClient
	initializer.WantsDrainedNotification
	initializer.WantsUnconditionalAuthorizer
	initializer.WantsExcludedAdmissionResources
}

// Cluster is a plugin over a world's fake clients.
type Cluster struct {
	Plugin  Plugin
	Client  *fake.Clientset
	Dynamic dynamic.Interface
	Objects admission.ObjectInterfaces

	dynamic clienttesting.ObjectTracker
	version int
	// manifests are nil if the world has none.
	manifests *manifests
}

// firstVersion is greater than the resourceVersions that worlds begin with.
const firstVersion = 1000

// Start runs a plugin over a world until ctx ends. The first request waits until the policies are in force.
func Start(ctx context.Context, plugin Plugin, world *World) (*Cluster, error) {
	c, factory, err := prepare(ctx, plugin, world)
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	return c, nil
}

// Prepare does all that Start does but start the informers: the plugin never gets ready.
func Prepare(ctx context.Context, plugin Plugin, world *World) (*Cluster, error) {
	c, _, err := prepare(ctx, plugin, world)
	return c, err
}

func prepare(ctx context.Context, plugin Plugin, world *World) (*Cluster, informers.SharedInformerFactory, error) {
	typed, dynamicObjects := world.objects()
	client := fake.NewClientset(typed...)
	dynamicClient := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(world.scheme(), world.listKinds(), dynamicObjects...)
	if err := track(dynamicClient.Tracker(), world, typed); err != nil {
		return nil, nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	plugin.SetExternalKubeInformerFactory(factory)
	plugin.SetExternalKubeClientSet(client)
	plugin.SetRESTMapper(world.mapper())
	plugin.SetDynamicClient(dynamicClient)
	plugin.SetDrainedNotification(ctx.Done())
	plugin.SetUnconditionalAuthorizer(worldAuthorizer{world})
	plugin.SetExcludedAdmissionResources(excluded)
	var manifests *manifests
	if world.Static != nil {
		manifests = newManifests(world.Static)
		if err := manifests.attach(ctx, plugin); err != nil {
			return nil, nil, err
		}
	}
	if err := plugin.ValidateInitialization(); err != nil {
		return nil, nil, err
	}
	c := &Cluster{Plugin: plugin, Client: client, Dynamic: dynamicClient, Objects: Objects("v1", "v2", "v3"), dynamic: dynamicClient.Tracker(), version: firstVersion, manifests: manifests}
	return c, factory, nil
}

// excluded are the resources that no policy judges: those that kube-apiserver's initializer gives (pkg/kubeapiserver/admission/exclusion).
var excluded = []schema.GroupResource{
	{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"},
	{Group: "authentication.k8s.io", Resource: "tokenreviews"},
	{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"},
	{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
	{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"},
	{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"},
}

// objects are the world's objects by the client that serves them.
func (w *World) objects() (typed, custom []runtime.Object) {
	for _, object := range w.Namespaces {
		typed = append(typed, object)
	}
	for _, object := range w.Policies {
		typed = append(typed, object)
	}
	for _, object := range w.Bindings {
		typed = append(typed, object)
	}
	for _, object := range w.Webhooks {
		typed = append(typed, object)
	}
	for _, object := range w.Params {
		if _, ok := object.(*unstructured.Unstructured); ok {
			custom = append(custom, object)
		} else {
			typed = append(typed, object)
		}
	}
	return typed, custom
}

// track gives typed params to the dynamic client too, as it serves every kind of a real cluster.
func track(tracker clienttesting.ObjectTracker, w *World, typed []runtime.Object) error {
	for _, object := range w.Params {
		if _, ok := object.(*unstructured.Unstructured); ok {
			continue
		}
		copied, err := asUnstructured(object)
		if err != nil {
			return err
		}
		resource, _ := meta.UnsafeGuessKindToResource(copied.GroupVersionKind())
		if err := tracker.Create(resource, copied, copied.GetNamespace()); err != nil {
			return fmt.Errorf("%s: %w", resource, err)
		}
	}
	return nil
}

// scheme knows what the dynamic client serves.
func (w *World) scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, kind := range w.Kinds {
		scheme.AddKnownTypeWithName(kind.Kind, &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(listKind(kind.Kind), &unstructured.UnstructuredList{})
	}
	return scheme
}

func (w *World) listKinds() map[schema.GroupVersionResource]string {
	kinds := map[schema.GroupVersionResource]string{corev1.SchemeGroupVersion.WithResource("configmaps"): "ConfigMapList"}
	for _, kind := range w.Kinds {
		kinds[kind.Resource] = kind.Kind.Kind + "List"
	}
	return kinds
}

func listKind(kind schema.GroupVersionKind) schema.GroupVersionKind {
	return kind.GroupVersion().WithKind(kind.Kind + "List")
}

// mapper knows a few built-in kinds and the world's kinds.
func (w *World) mapper() meta.RESTMapper {
	if w.Mapper != nil {
		return w.Mapper
	}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	for _, kind := range w.Kinds {
		var scope meta.RESTScope = meta.RESTScopeRoot
		if kind.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		mapper.AddSpecific(kind.Kind, kind.Resource, kind.Resource, scope)
	}
	return mapper
}

// asUnstructured is a copy of an object as dynamic clients have it.
func asUnstructured(object runtime.Object) (*unstructured.Unstructured, error) {
	if custom, ok := object.(*unstructured.Unstructured); ok {
		return custom.DeepCopy(), nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, err
	}
	copied := &unstructured.Unstructured{Object: content}
	copied.SetGroupVersionKind(paramKind(object))
	return copied, nil
}

// paramKind is a param's kind; typed ones do not tell it themselves.
func paramKind(param runtime.Object) schema.GroupVersionKind {
	kinds, _, err := clientgoscheme.Scheme.ObjectKinds(param)
	if err != nil || len(kinds) == 0 {
		return param.GetObjectKind().GroupVersionKind()
	}
	return kinds[0]
}
