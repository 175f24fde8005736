package validating

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maxKinds is how many kinds one rule may name; where it names more, the rest of it and all later rules go unchecked.
const maxKinds = 10

// kinds are those that the policy's resource rules name without wildcards, by group, version and kind.
func (c *TypeChecker) kinds(policy *v1.ValidatingAdmissionPolicy) []schema.GroupVersionKind {
	if policy.Spec.MatchConstraints == nil {
		return nil
	}
	found := map[schema.GroupVersionKind]bool{}
	refreshed := false
rules:
	for _, rule := range policy.Spec.MatchConstraints.ResourceRules {
		count := 0
		for _, resource := range namedResources(&rule.Rule) {
			kinds, err := c.RestMapper.KindsFor(resource)
			if err != nil && !refreshed {
				// The mapper may not have seen it yet.
				refreshed = true
				meta.MaybeResetRESTMapper(c.RestMapper)
				kinds, err = c.RestMapper.KindsFor(resource)
			}
			if err != nil {
				continue
			}
			for _, kind := range kinds {
				if kind.Empty() {
					continue
				}
				found[kind] = true
				if count++; count == maxKinds {
					break rules
				}
			}
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
}

// namedResources are a rule's resources in a fixed order; none if its groups or versions have a wildcard. Subresources do not count.
func namedResources(rule *v1.Rule) []schema.GroupVersionResource {
	wild := func(name string) bool { return strings.Contains(name, "*") }
	if slices.ContainsFunc(rule.APIGroups, wild) || slices.ContainsFunc(rule.APIVersions, wild) {
		return nil
	}
	var named []schema.GroupVersionResource
	for _, group := range slices.Sorted(slices.Values(rule.APIGroups)) {
		for _, version := range slices.Sorted(slices.Values(rule.APIVersions)) {
			for _, resource := range slices.Sorted(slices.Values(rule.Resources)) {
				if !strings.ContainsAny(resource, "*/") {
					named = append(named, schema.GroupVersionResource{Group: group, Version: version, Resource: resource})
				}
			}
		}
	}
	return named
}
