package policystatus

import (
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/cel/openapi/resolver"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// resolverFunc is a SchemaResolver.
type resolverFunc func(schema.GroupVersionKind) (*spec.Schema, error)

func (f resolverFunc) ResolveSchema(kind schema.GroupVersionKind) (*spec.Schema, error) {
	return f(kind)
}

func TestSchemasOfBuiltInKindsAreKept(t *testing.T) {
	broken := errors.New("the schema is broken")
	schemas := &Schemas{
		BuiltIn: resolverFunc(func(kind schema.GroupVersionKind) (*spec.Schema, error) {
			switch kind.Group {
			case "":
				return new(spec.Schema), nil
			case "broken":
				return nil, broken
			}
			return nil, fmt.Errorf("no kind %v: %w", kind, resolver.ErrSchemaNotFound)
		}),
		Published: resolverFunc(func(schema.GroupVersionKind) (*spec.Schema, error) { return new(spec.Schema), nil }),
	}
	resolve := func(group string, number int) *spec.Schema {
		t.Helper()
		resolved, err := schemas.ResolveSchema(schema.GroupVersionKind{Group: group, Version: "v1", Kind: fmt.Sprintf("Kind%d", number)})
		if err != nil || resolved == nil {
			t.Fatal(resolved, err)
		}
		return resolved
	}
	if first := resolve("", 0); resolve("", 0) != first {
		t.Error("a built-in kind has two schemas")
	}
	if first := resolve("example.com", 0); resolve("example.com", 0) == first {
		t.Error("the schema of a custom resource is kept, which can change")
	}
	if _, err := schemas.ResolveSchema(schema.GroupVersionKind{Group: "broken"}); !errors.Is(err, broken) {
		t.Error(err)
	}
	for i := range 3 * mostResolved {
		if resolve("", i); len(schemas.resolved) > mostResolved {
			t.Fatalf("%d schemas are kept", len(schemas.resolved))
		}
	}
}
