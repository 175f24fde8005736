package harness

import (
	"cmp"
	"context"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	dynamicfake "k8s.io/client-go/dynamic/fake"
)

// Oracle is upstream's dispatcher over hooks that are put together here, in a fixed order: upstream's own source gives policies, bindings and
// params in the order of Go maps. All decisions are upstream's code.
type Oracle struct {
	dispatcher generic.Dispatcher[upstream.PolicyHook]
	hooks      []upstream.PolicyHook
}

// NewOracle makes the oracle of a world.
func NewOracle(world *World) (*Oracle, error) {
	typed, custom := world.objects()
	client := fake.NewClientset(typed...)
	dynamicClient := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(world.scheme(), world.listKinds(), custom...)
	if err := track(dynamicClient.Tracker(), world, typed); err != nil {
		return nil, err
	}
	namespaces := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, namespace := range world.Namespaces {
		if err := namespaces.Add(namespace); err != nil {
			return nil, err
		}
	}
	matcher := matching.NewMatcher(corelisters.NewNamespaceLister(namespaces), client)
	o := &Oracle{dispatcher: upstream.NewDispatcher(worldAuthorizer{world}, generic.NewPolicyMatcher(matcher))}
	mapper := world.mapper()
	policies := slices.SortedFunc(slices.Values(world.Policies), func(a, b *v1.ValidatingAdmissionPolicy) int { return cmp.Compare(a.Name, b.Name) })
	for _, policy := range policies {
		hook := upstream.PolicyHook{Policy: policy, DynamicClient: dynamicClient, RESTMapper: mapper}
		for _, binding := range world.Bindings {
			if binding.Spec.PolicyName == policy.Name {
				hook.Bindings = append(hook.Bindings, binding)
			}
		}
		if len(hook.Bindings) == 0 {
			continue
		}
		slices.SortFunc(hook.Bindings, func(a, b *v1.ValidatingAdmissionPolicyBinding) int { return cmp.Compare(a.Name, b.Name) })
		var usable bool
		if hook.ParamInformer, hook.ParamScope, usable, hook.ConfigurationError = world.params(policy, mapper); !usable {
			continue
		}
		var err error
		if hook.Evaluator, err = compileUpstream(policy); err != nil {
			return nil, err
		}
		o.hooks = append(o.hooks, hook)
	}
	return o, nil
}

// Validate decides a request.
func (o *Oracle) Validate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	return o.dispatcher.Dispatch(ctx, a, objects, o.hooks)
}

// compileUpstream compiles a policy with the parts that upstream's plugin compiles it with.
func compileUpstream(policy *v1.ValidatingAdmissionPolicy) (upstream.Validator, error) {
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, err
	}
	full := plugincel.OptionalVariableDeclarations{HasParams: policy.Spec.ParamKind != nil, HasAuthorizer: true}
	forMessages := plugincel.OptionalVariableDeclarations{HasParams: full.HasParams}
	var variables []plugincel.NamedExpressionAccessor
	for _, variable := range policy.Spec.Variables {
		variables = append(variables, &upstream.Variable{Name: variable.Name, Expression: variable.Expression})
	}
	compiler.CompileAndStoreVariables(variables, full, environment.StoredExpressions)
	var conditions, validations, messages, annotations []plugincel.ExpressionAccessor
	for i := range policy.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[i]))
	}
	for _, v := range policy.Spec.Validations {
		validations = append(validations, &upstream.ValidationCondition{Expression: v.Expression, Message: v.Message, Reason: v.Reason})
		if v.MessageExpression == "" {
			messages = append(messages, nil)
			continue
		}
		messages = append(messages, &upstream.MessageExpressionCondition{MessageExpression: v.MessageExpression})
	}
	for _, annotation := range policy.Spec.AuditAnnotations {
		annotations = append(annotations, &upstream.AuditAnnotationCondition{Key: annotation.Key, ValueExpression: annotation.ValueExpression})
	}
	compile := func(expressions []plugincel.ExpressionAccessor, options plugincel.OptionalVariableDeclarations) plugincel.ConditionEvaluator {
		return compiler.CompileCondition(expressions, options, environment.StoredExpressions)
	}
	var matcher matchconditions.Matcher
	if len(conditions) > 0 {
		matcher = matchconditions.NewMatcher(compile(conditions, full), policy.Spec.FailurePolicy, "policy", "validate", policy.Name)
	}
	return upstream.NewValidator(compile(validations, full), matcher, compile(annotations, full), compile(messages, forMessages), policy.Spec.FailurePolicy, nil), nil
}

// params gives what upstream's source would for a policy's paramKind. usable is false if the policy is left out.
func (w *World) params(policy *v1.ValidatingAdmissionPolicy, mapper meta.RESTMapper) (informer informers.GenericInformer, scope meta.RESTScope, usable bool, err error) {
	if policy.Spec.ParamKind == nil {
		return nil, nil, true, nil
	}
	gv, err := schema.ParseGroupVersion(policy.Spec.ParamKind.APIVersion)
	if err != nil {
		return nil, nil, false, err
	}
	kind := gv.WithKind(policy.Spec.ParamKind.Kind)
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, nil, true, unknownKindError{kind}
	}
	store := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	for _, param := range w.Params {
		if paramKind(param) == kind {
			if err := store.Add(param); err != nil {
				return nil, nil, false, err
			}
		}
	}
	return sortedInformer{lister: sortedLister{cache.NewGenericLister(store, mapping.Resource.GroupResource())}}, mapping.Scope, true, nil
}

type unknownKindError struct{ kind schema.GroupVersionKind }

func (e unknownKindError) Error() string {
	return "failed to find resource referenced by paramKind: '" + e.kind.String() + "'"
}

// sortedInformer is an informer that has synced, whose lists are sorted.
type sortedInformer struct{ lister sortedLister }

func (i sortedInformer) Informer() cache.SharedIndexInformer { return syncedInformer{} }
func (i sortedInformer) Lister() cache.GenericLister         { return i.lister }

type syncedInformer struct{ cache.SharedIndexInformer }

func (syncedInformer) HasSynced() bool { return true }

type sortedLister struct{ cache.GenericLister }

func (l sortedLister) List(selector labels.Selector) ([]runtime.Object, error) {
	return sortParams(l.GenericLister.List(selector))
}

func (l sortedLister) ByNamespace(namespace string) cache.GenericNamespaceLister {
	return sortedNamespaceLister{l.GenericLister.ByNamespace(namespace)}
}

type sortedNamespaceLister struct{ cache.GenericNamespaceLister }

func (l sortedNamespaceLister) List(selector labels.Selector) ([]runtime.Object, error) {
	return sortParams(l.GenericNamespaceLister.List(selector))
}

func sortParams(params []runtime.Object, err error) ([]runtime.Object, error) {
	slices.SortFunc(params, func(a, b runtime.Object) int { return cmp.Compare(paramName(a), paramName(b)) })
	return params, err
}

func paramName(param runtime.Object) string {
	accessor, err := meta.Accessor(param)
	if err != nil {
		return ""
	}
	return accessor.GetNamespace() + "/" + accessor.GetName()
}
