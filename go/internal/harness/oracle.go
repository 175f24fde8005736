package harness

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	upstream "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// Oracle is upstream's dispatcher over hooks that are put together here, in a fixed order: upstream's own source gives policies, bindings and
// params in the order of Go maps. All decisions are upstream's code.
type Oracle struct {
	state      *State
	dispatcher generic.Dispatcher[upstream.PolicyHook]
	hooks      []upstream.PolicyHook
	static     handSource
	compiled   map[string]compiledUpstream
	// scopes are those of the param kinds that have been found, kept as long as a policy names them.
	scopes map[schema.GroupVersionKind]meta.RESTScope
	// matched counts policies and bindings that matched or failed to.
	matched atomic.Int64
}

type compiledUpstream struct {
	version   string
	evaluator upstream.Validator
}

// NewOracle makes the oracle of a world.
func NewOracle(world *World) (*Oracle, error) {
	state, err := NewState(world)
	if err != nil {
		return nil, err
	}
	return NewOracleOf(state)
}

// NewOracleOf makes the oracle of a state. Requests may run at the same time, changes and refreshes must not.
func NewOracleOf(state *State) (*Oracle, error) {
	o := &Oracle{state: state, compiled: map[string]compiledUpstream{}, scopes: map[schema.GroupVersionKind]meta.RESTScope{}}
	o.dispatcher = upstream.NewDispatcher(worldAuthorizer{state.world}, countingMatcher{PolicyMatcher: state.matcher(), count: &o.matched})
	return o, o.Refresh(context.Background())
}

// countingMatcher counts bindings that match and policies or bindings whose matching fails.
type countingMatcher struct {
	generic.PolicyMatcher
	count *atomic.Int64
}

// DefinitionMatches implements generic.PolicyMatcher.
func (m countingMatcher) DefinitionMatches(a admission.Attributes, o admission.ObjectInterfaces, policy generic.PolicyAccessor) (bool, schema.GroupVersionResource, schema.GroupVersionKind, error) {
	matches, resource, kind, err := m.PolicyMatcher.DefinitionMatches(a, o, policy)
	if err != nil {
		m.count.Add(1)
	}
	return matches, resource, kind, err
}

// BindingMatches implements generic.PolicyMatcher.
func (m countingMatcher) BindingMatches(a admission.Attributes, o admission.ObjectInterfaces, binding generic.BindingAccessor) (bool, error) {
	matches, err := m.PolicyMatcher.BindingMatches(a, o, binding)
	if matches || err != nil {
		m.count.Add(1)
	}
	return matches, err
}

// Refresh takes over what has changed.
func (o *Oracle) Refresh(context.Context) error {
	policies := list[*v1.ValidatingAdmissionPolicy](o.state, policiesResource)
	bindings := list[*v1.ValidatingAdmissionPolicyBinding](o.state, bindingsResource)
	slices.SortFunc(policies, func(a, b *v1.ValidatingAdmissionPolicy) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(bindings, func(a, b *v1.ValidatingAdmissionPolicyBinding) int { return cmp.Compare(a.Name, b.Name) })
	if err := o.static.refresh(o.state.static); err != nil {
		return err
	}
	o.hooks = slices.Clone(o.static.Hooks())
	named := map[schema.GroupVersionKind]bool{}
	known := map[string]bool{}
	for _, policy := range policies {
		known[policy.Name] = true
		hook := upstream.PolicyHook{Policy: policy, DynamicClient: o.state.dynamicClient(), RESTMapper: o.state.restMapper()}
		var kind *schema.GroupVersionKind
		if paramKind := policy.Spec.ParamKind; paramKind != nil {
			version, err := schema.ParseGroupVersion(paramKind.APIVersion)
			if err != nil {
				continue
			}
			parsed := version.WithKind(paramKind.Kind)
			kind, named[parsed] = &parsed, true
		}
		for _, binding := range bindings {
			if binding.Spec.PolicyName == policy.Name {
				hook.Bindings = append(hook.Bindings, binding)
			}
		}
		if len(hook.Bindings) == 0 {
			continue
		}
		hook.ParamInformer, hook.ParamScope, hook.ConfigurationError = o.params(kind)
		var err error
		if hook.Evaluator, err = o.compile(policy); err != nil {
			return err
		}
		o.hooks = append(o.hooks, hook)
	}
	maps.DeleteFunc(o.compiled, func(name string, _ compiledUpstream) bool { return !known[name] })
	maps.DeleteFunc(o.scopes, func(kind schema.GroupVersionKind, _ meta.RESTScope) bool { return !named[kind] })
	return nil
}

// params gives what upstream's source would for a policy's paramKind.
func (o *Oracle) params(kind *schema.GroupVersionKind) (informers.GenericInformer, meta.RESTScope, error) {
	if kind == nil {
		return nil, nil, nil
	}
	resource, _ := meta.UnsafeGuessKindToResource(*kind)
	if scope, found := o.scopes[*kind]; found {
		return o.state.params(resource), scope, nil
	}
	mapping, err := o.state.restMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, nil, unknownKindError{*kind}
	}
	o.scopes[*kind] = mapping.Scope
	return o.state.params(mapping.Resource), mapping.Scope, nil
}

func (o *Oracle) compile(policy *v1.ValidatingAdmissionPolicy) (upstream.Validator, error) {
	if known, found := o.compiled[policy.Name]; found && known.version == policy.ResourceVersion {
		return known.evaluator, nil
	}
	evaluator, err := compileUpstream(policy)
	if err == nil {
		o.compiled[policy.Name] = compiledUpstream{policy.ResourceVersion, evaluator}
	}
	return evaluator, err
}

// Validate decides a request.
func (o *Oracle) Validate(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces) error {
	return dispatch(ctx, a, objects, o.dispatcher, &o.static, o.hooks)
}

// dispatch does what the plugin does before its dispatcher: it leaves out the hooks that may not judge a request.
func dispatch(ctx context.Context, a admission.Attributes, objects admission.ObjectInterfaces, dispatcher generic.Dispatcher[upstream.PolicyHook],
	static *handSource, hooks []upstream.PolicyHook) error {
	resource := a.GetResource().GroupResource()
	if slices.Contains(excluded, resource) {
		return nil
	}
	if resource.Group == v1.GroupName && slices.Contains(admissionResources, resource.Resource) {
		hooks = static.Hooks()
	}
	return dispatcher.Dispatch(ctx, a, objects, hooks)
}

// admissionResources are those that upstream's generic plugin exempts from policies of the API.
var admissionResources = []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"}

// plain are compilers for policies without variables: making one costs most of what compiling a policy does, and only variables change it.
var plain = sync.Pool{}

// compilerFor gives a compiler for a policy until done is called.
func compilerFor(policy *v1.ValidatingAdmissionPolicy) (compiler *plugincel.CompositedCompiler, done func(), err error) {
	if len(policy.Spec.Variables) > 0 {
		compiler, err = newCompiler()
		return compiler, func() {}, err
	}
	compiler, _ = plain.Get().(*plugincel.CompositedCompiler)
	if compiler == nil {
		compiler, err = newCompiler()
	}
	return compiler, func() { plain.Put(compiler) }, err
}

func newCompiler() (*plugincel.CompositedCompiler, error) {
	return plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
}

// compileUpstream compiles a policy with the parts that upstream's plugin compiles it with.
func compileUpstream(policy *v1.ValidatingAdmissionPolicy) (upstream.Validator, error) {
	compiler, done, err := compilerFor(policy)
	if err != nil {
		return nil, err
	}
	defer done()
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

type unknownKindError struct{ kind schema.GroupVersionKind }

func (e unknownKindError) Error() string {
	return "failed to find resource referenced by paramKind: '" + e.kind.String() + "'"
}

// sortedLister sorts its lists.
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
