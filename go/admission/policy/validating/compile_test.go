package validating

import (
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func storedPolicy(name, uid, version string) *Policy {
	return &Policy{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid), ResourceVersion: version}}
}

func TestCompiledOncePerVersion(t *testing.T) {
	made := 0
	create := func(*Policy) (int, error) { made++; return made, nil }
	var cache compiled[*Policy, int]
	first := storedPolicy("a", "u", "1")
	for _, step := range []struct {
		what   string
		object *Policy
		want   int
	}{
		{"first", first, 1},
		{"same object", first, 1},
		{"same version listed anew", storedPolicy("a", "u", "1"), 1},
		{"new version", storedPolicy("a", "u", "2"), 2},
		{"another object of that name", storedPolicy("a", "v", "2"), 3},
		{"no version", storedPolicy("a", "v", ""), 4},
		{"no version either", storedPolicy("a", "v", ""), 5},
	} {
		if got, err := cache.get(step.object, create); err != nil || got != step.want {
			t.Errorf("%s: %d, want %d (%v)", step.what, got, step.want, err)
		}
	}
	cache.sweep()
	cache.sweep()
	if len(cache.entries) != 0 {
		t.Errorf("%d entries are kept that nothing uses", len(cache.entries))
	}
}

func TestCompileErrorsAreNotCached(t *testing.T) {
	var cache compiled[*Policy, int]
	policy := storedPolicy("a", "u", "1")
	if _, err := cache.get(policy, func(*Policy) (int, error) { return 0, errors.New("x") }); err == nil {
		t.Error("no error")
	}
	if got, err := cache.get(policy, func(*Policy) (int, error) { return 7, nil }); err != nil || got != 7 {
		t.Errorf("%d %v", got, err)
	}
}

func TestFill(t *testing.T) {
	var cache compiled[*Policy, string]
	var objects []*Policy
	for i := range 100 {
		objects = append(objects, storedPolicy(fmt.Sprint(i), "u", "1"))
	}
	cache.fill(objects, func(p *Policy) (string, error) {
		if p.Name == "7" {
			return "", errors.New("x")
		}
		return "filled " + p.Name, nil
	})
	for _, object := range objects {
		got, err := cache.get(object, func(*Policy) (string, error) { return "got", nil })
		if want := map[bool]string{true: "got", false: "filled " + object.Name}[object.Name == "7"]; err != nil || got != want {
			t.Errorf("%s: %q %v", object.Name, got, err)
		}
	}
}
