package policystatus

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Schemas resolves schemas of built-in kinds, which stay what they are as long as the program runs, and of what the server publishes. Policies that
// come together are often about the same kinds: the schema of a built-in kind is the same object for all of them. It is for one goroutine.
type Schemas struct {
	BuiltIn, Published resolver.SchemaResolver

	resolved map[schema.GroupVersionKind]*spec.Schema
}

// mostResolved is how many schemas are kept: more than one policy can be about, and not all that there are, which are large.
const mostResolved = 16

// ResolveSchema implements [resolver.SchemaResolver].
func (s *Schemas) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	if known := s.resolved[kind]; known != nil {
		return known, nil
	}
	resolved, err := s.BuiltIn.ResolveSchema(kind)
	if errors.Is(err, resolver.ErrSchemaNotFound) {
		return s.Published.ResolveSchema(kind)
	}
	if err != nil {
		return nil, err
	}
	if s.resolved == nil || len(s.resolved) == mostResolved {
		s.resolved = map[schema.GroupVersionKind]*spec.Schema{}
	}
	s.resolved[kind] = resolved
	return resolved, nil
}
