package worlds

import (
	"context"
	"slices"

	v1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/celgate/celgate/go/internal/harness"
)

// shrink makes a script smaller as long as it still differs in the same.
func shrink(ctx context.Context, script *harness.Script, prefix string, difference *harness.Difference) (*harness.Script, *harness.Difference) {
	s := &shrinker{ctx: ctx, prefix: prefix, best: script, difference: difference}
	s.steps()
	for changed := true; changed && ctx.Err() == nil; {
		changed = false
		// The edits of a script that became smaller are fewer, so that i may point behind them.
		for i := 0; ; i++ {
			edits := edits(s.best)
			if i >= len(edits) {
				break
			}
			if s.try(edits[i]) {
				changed, i = true, i-1
			}
		}
	}
	return s.best, s.difference
}

type shrinker struct {
	ctx        context.Context
	prefix     string
	best       *harness.Script
	difference *harness.Difference
}

// edit changes a script that is the shrinker's own; false says that there is nothing to change.
type edit func(*harness.Script) bool

// try keeps an edit if the script still differs.
func (s *shrinker) try(e edit) bool {
	copied := clone(s.best)
	if s.ctx.Err() != nil || !e(copied) || len(copied.Steps) == 0 {
		return false
	}
	_, difference, err := compare(s.ctx, copied, s.prefix)
	if err != nil || difference == nil || difference.What != s.difference.What {
		return false
	}
	s.best, s.difference = copied, difference
	return true
}

// steps removes requests, many at a time as long as that works.
func (s *shrinker) steps() {
	if at := s.difference.Step; at >= 0 {
		s.try(func(script *harness.Script) bool { script.Steps = script.Steps[:at+1]; return true })
	}
	for size := len(s.best.Steps); size > 0; size /= 2 {
		for at := 0; at < len(s.best.Steps); {
			end := min(at+size, len(s.best.Steps))
			if !s.try(withoutSteps(at, end, false)) && !s.try(withoutSteps(at, end, true)) {
				at = end
			}
		}
	}
}

// withoutSteps removes requests; their changes come before the next one, if they are kept.
func withoutSteps(at, end int, keep bool) edit {
	return func(script *harness.Script) bool {
		var changes []harness.Change
		for _, step := range script.Steps[at:end] {
			changes = append(changes, step.Changes...)
		}
		if keep && (end == len(script.Steps) || len(changes) == 0) {
			return false
		}
		if keep {
			script.Steps[end].Changes = append(changes, script.Steps[end].Changes...)
		}
		script.Steps = slices.Delete(script.Steps, at, end)
		return true
	}
}

func clone(script *harness.Script) *harness.Script {
	world := *script.World
	world.Policies, world.Bindings, world.Namespaces = copies(world.Policies), copies(world.Bindings), copies(world.Namespaces)
	world.Params, world.Kinds = slices.Clone(world.Params), slices.Clone(world.Kinds)
	if world.Static != nil {
		world.Static = world.Static.DeepCopy()
	}
	copied := &harness.Script{World: &world}
	for _, step := range script.Steps {
		request := *step.Request
		made := harness.Step{Name: step.Name, Request: &request}
		for _, change := range step.Changes {
			if change.Apply != nil {
				change.Apply = change.Apply.DeepCopyObject()
			}
			if change.Static != nil {
				change.Static = change.Static.DeepCopy()
			}
			made.Changes = append(made.Changes, change)
		}
		copied.Steps = append(copied.Steps, made)
	}
	return copied
}

func copies[T interface{ DeepCopy() T }](objects []T) []T {
	var copied []T
	for _, object := range objects {
		copied = append(copied, object.DeepCopy())
	}
	return copied
}

// edits are the ways to make a script smaller, those that help most first.
func edits(script *harness.Script) (all []edit) {
	w := script.World
	removing(&all, len(w.Policies), func(s *harness.Script, i int) { s.World.Policies = slices.Delete(s.World.Policies, i, i+1) })
	removing(&all, len(w.Bindings), func(s *harness.Script, i int) { s.World.Bindings = slices.Delete(s.World.Bindings, i, i+1) })
	if w.Static != nil {
		all = append(all, staticEdits(w.Static, func(s *harness.Script) *harness.Static { return s.World.Static })...)
	}
	removing(&all, len(w.Params), func(s *harness.Script, i int) { s.World.Params = slices.Delete(s.World.Params, i, i+1) })
	removing(&all, len(w.Namespaces), func(s *harness.Script, i int) { s.World.Namespaces = slices.Delete(s.World.Namespaces, i, i+1) })
	removing(&all, len(w.Kinds), func(s *harness.Script, i int) { s.World.Kinds = slices.Delete(s.World.Kinds, i, i+1) })
	for i := range script.Steps {
		all = append(all, withoutSteps(i, i+1, false), withoutSteps(i, i+1, true))
		removing(&all, len(script.Steps[i].Changes), func(s *harness.Script, j int) { s.Steps[i].Changes = slices.Delete(s.Steps[i].Changes, j, j+1) })
		all = append(all, requestEdits(i)...)
	}
	for i := range w.Policies {
		all = append(all, policyEdits(w.Policies[i], func(s *harness.Script) runtime.Object { return s.World.Policies[i] })...)
	}
	for i := range w.Bindings {
		all = append(all, bindingEdits(func(s *harness.Script) runtime.Object { return s.World.Bindings[i] })...)
	}
	for i := range script.Steps {
		for j, change := range script.Steps[i].Changes {
			get := func(s *harness.Script) runtime.Object { return s.Steps[i].Changes[j].Apply }
			if change.Static != nil {
				all = append(all, staticEdits(change.Static, func(s *harness.Script) *harness.Static { return s.Steps[i].Changes[j].Static })...)
			}
			switch object := change.Apply.(type) {
			case *v1.ValidatingAdmissionPolicy:
				all = append(all, policyEdits(object, get)...)
			case *v1.ValidatingAdmissionPolicyBinding:
				all = append(all, bindingEdits(get)...)
			}
		}
	}
	return all
}

func removing(all *[]edit, n int, remove func(*harness.Script, int)) {
	for i := range n {
		*all = append(*all, func(s *harness.Script) bool { remove(s, i); return true })
	}
}

// clearing sets a field to its zero value, if it is not that already.
func clearing[T comparable](field func(*harness.Script) *T) edit {
	return func(s *harness.Script) bool {
		var zero T
		at := field(s)
		changed := *at != zero
		*at = zero
		return changed
	}
}

func requestEdits(i int) []edit {
	return []edit{
		clearing(func(s *harness.Script) *runtime.Object { return &s.Steps[i].Request.OldObject }),
		clearing(func(s *harness.Script) *runtime.Object { return &s.Steps[i].Request.Object }),
		clearing(func(s *harness.Script) *runtime.Object { return &s.Steps[i].Request.Options }),
		clearing(func(s *harness.Script) *bool { return &s.Steps[i].Request.DryRun }),
		clearing(func(s *harness.Script) *bool { return &s.Steps[i].Request.Ended }),
		clearing(func(s *harness.Script) *string { return &s.Steps[i].Request.Subresource }),
		func(s *harness.Script) bool {
			had := s.Steps[i].Request.User != nil
			s.Steps[i].Request.User = nil
			return had
		},
	}
}

// policyEdits make a policy smaller that get finds in a script.
func policyEdits(policy *v1.ValidatingAdmissionPolicy, get func(*harness.Script) runtime.Object) (all []edit) {
	spec := func(s *harness.Script) *v1.ValidatingAdmissionPolicySpec {
		return &get(s).(*v1.ValidatingAdmissionPolicy).Spec
	}
	removing(&all, len(policy.Spec.Validations), func(s *harness.Script, i int) { spec(s).Validations = slices.Delete(spec(s).Validations, i, i+1) })
	removing(&all, len(policy.Spec.MatchConditions), func(s *harness.Script, i int) {
		spec(s).MatchConditions = slices.Delete(spec(s).MatchConditions, i, i+1)
	})
	removing(&all, len(policy.Spec.AuditAnnotations), func(s *harness.Script, i int) {
		spec(s).AuditAnnotations = slices.Delete(spec(s).AuditAnnotations, i, i+1)
	})
	removing(&all, len(policy.Spec.Variables), func(s *harness.Script, i int) { spec(s).Variables = slices.Delete(spec(s).Variables, i, i+1) })
	for i := range policy.Spec.Validations {
		all = append(all,
			clearing(func(s *harness.Script) *string { return &spec(s).Validations[i].MessageExpression }),
			clearing(func(s *harness.Script) *string { return &spec(s).Validations[i].Message }),
			clearing(func(s *harness.Script) **metav1.StatusReason { return &spec(s).Validations[i].Reason }))
	}
	all = append(all, clearing(func(s *harness.Script) **v1.ParamKind { return &spec(s).ParamKind }))
	return append(all, matchEdits(func(s *harness.Script) *v1.MatchResources { return spec(s).MatchConstraints })...)
}

// staticEdits make manifests smaller that get finds in a script.
func staticEdits(static *harness.Static, get func(*harness.Script) *harness.Static) (all []edit) {
	removing(&all, len(static.Policies), func(s *harness.Script, i int) { get(s).Policies = slices.Delete(get(s).Policies, i, i+1) })
	removing(&all, len(static.Bindings), func(s *harness.Script, i int) { get(s).Bindings = slices.Delete(get(s).Bindings, i, i+1) })
	for i, policy := range static.Policies {
		all = append(all, policyEdits(policy, func(s *harness.Script) runtime.Object { return get(s).Policies[i] })...)
	}
	for i := range static.Bindings {
		all = append(all, bindingEdits(func(s *harness.Script) runtime.Object { return get(s).Bindings[i] })...)
	}
	return all
}

func bindingEdits(get func(*harness.Script) runtime.Object) []edit {
	spec := func(s *harness.Script) *v1.ValidatingAdmissionPolicyBindingSpec {
		return &get(s).(*v1.ValidatingAdmissionPolicyBinding).Spec
	}
	return append([]edit{
		clearing(func(s *harness.Script) **v1.MatchResources { return &spec(s).MatchResources }),
		clearing(func(s *harness.Script) **v1.ParamRef { return &spec(s).ParamRef }),
		func(s *harness.Script) bool {
			actions := &spec(s).ValidationActions
			long := len(*actions) > 1
			*actions = (*actions)[:min(1, len(*actions))]
			return long
		},
	}, matchEdits(func(s *harness.Script) *v1.MatchResources { return spec(s).MatchResources })...)
}

func matchEdits(get func(*harness.Script) *v1.MatchResources) []edit {
	selector := func(field func(*v1.MatchResources) **metav1.LabelSelector) edit {
		return func(s *harness.Script) bool {
			match := get(s)
			if match == nil || *field(match) == nil || len((*field(match)).MatchLabels)+len((*field(match)).MatchExpressions) == 0 {
				return false
			}
			*field(match) = &metav1.LabelSelector{}
			return true
		}
	}
	return []edit{
		selector(func(match *v1.MatchResources) **metav1.LabelSelector { return &match.NamespaceSelector }),
		selector(func(match *v1.MatchResources) **metav1.LabelSelector { return &match.ObjectSelector }),
		func(s *harness.Script) bool {
			match := get(s)
			if match == nil || len(match.ExcludeResourceRules) == 0 {
				return false
			}
			match.ExcludeResourceRules = nil
			return true
		},
		func(s *harness.Script) bool {
			match := get(s)
			if match == nil || len(match.ResourceRules) < 2 {
				return false
			}
			match.ResourceRules = match.ResourceRules[1:]
			return true
		},
		func(s *harness.Script) bool {
			match := get(s)
			if match == nil || len(match.ResourceRules) < 2 {
				return false
			}
			match.ResourceRules = match.ResourceRules[:len(match.ResourceRules)-1]
			return true
		},
	}
}
