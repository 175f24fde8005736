package main

import (
	"context"
	"fmt"

	celgate "github.com/celgate/celgate/go/admission/policy/validating"
	apiextensionsscheme "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/scheme"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	k8sscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/generated/openapi"

	"github.com/celgate/celgate/go/cmd/kube-apiserver/internal/policystatus"
)

// checkTypes keeps the status of policies up to date until ctx ends, as kube-controller-manager does where there is one.
func (e *engine) checkTypes(ctx context.Context, config *rest.Config) error {
	config = rest.AddUserAgent(config, policystatus.FieldManager)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("type checking: %w", err)
	}
	klog.InfoS("Policies are type checked", "engine", e)
	return policystatus.Run(ctx, client, e.typeChecker(client))
}

// typeChecker finds schemas of built-in kinds in this program, and those of custom resources in what the server publishes.
func (e *engine) typeChecker(client kubernetes.Interface) policystatus.TypeChecker {
	builtIn := resolver.NewDefinitionsSchemaResolver(openapi.GetOpenAPIDefinitions, k8sscheme.Scheme, apiextensionsscheme.Scheme)
	schemas := &policystatus.Schemas{BuiltIn: builtIn, Published: &resolver.ClientDiscoveryResolver{Discovery: client.Discovery()}}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	if *e == engineCelgate {
		return &celgate.TypeChecker{SchemaResolver: schemas, RestMapper: mapper}
	}
	return &upstream.TypeChecker{SchemaResolver: schemas, RestMapper: mapper}
}
