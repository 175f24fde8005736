package wire

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// randomProjection reads some of a decoded value.
func randomProjection(r *rand.Rand, value any) *Projection {
	if r.IntN(6) == 0 {
		return nil
	}
	p := &Projection{nonempty: r.IntN(3) == 0}
	children := []any{nil}
	switch value := value.(type) {
	case list:
		children = append(children, value.Items...)
	case mapping:
		for key := range value.Entries {
			// A key that is not UTF-8 in the object is not found under its repaired name, as upstream does not find it.
			if r.IntN(3) == 0 && !strings.ContainsRune(key, '\ufffd') {
				p.names = append(p.names, key)
			}
			children = append(children, value.Entries[key])
		}
		if r.IntN(3) == 0 {
			p.names = append(p.names, "no such name")
		}
		slices.Sort(p.names)
		for _, name := range p.names {
			p.fields = append(p.fields, randomProjection(r, value.Entries[name]))
		}
	}
	if _, isList := value.(list); isList && r.IntN(4) > 0 || r.IntN(8) == 0 {
		p.listed, p.elements = true, randomProjection(r, children[r.IntN(len(children))])
	}
	return p
}

// lost says what a part of a value lacks, or has too much, of what a projection takes; it is empty if nothing.
func lost(path string, part, whole any, p *Projection) string {
	if p == nil {
		return difference(path, part, whole)
	}
	switch w := whole.(type) {
	case list:
		g, ok := part.(list)
		if !ok || g.Typed != w.Typed || len(g.Items) != len(w.Items) {
			return fmt.Sprintf("%s: %v instead of %v", path, part, whole)
		}
		for i := range w.Items {
			if p.listed {
				if d := lost(fmt.Sprintf("%s[%d]", path, i), g.Items[i], w.Items[i], p.elements); d != "" {
					return d
				}
			}
		}
		return ""
	case mapping:
		g, ok := part.(mapping)
		if !ok || g.Typed != w.Typed || g.Struct != w.Struct {
			return fmt.Sprintf("%s: %v instead of %v", path, part, whole)
		}
		if p.listed {
			return difference(path, part, whole)
		}
		if p.nonempty && len(g.Entries) == 0 && len(w.Entries) > 0 {
			return path + " looks empty"
		}
		for key := range g.Entries {
			if _, found := w.Entries[key]; !found {
				return fmt.Sprintf("%s.%s is not there", path, key)
			}
		}
		for i, name := range p.names {
			gv, got := g.Entries[name]
			wv, want := w.Entries[name]
			if got != want {
				return fmt.Sprintf("%s.%s is there: %v, should be: %v", path, name, got, want)
			}
			if d := lost(path+"."+name, gv, wv, p.fields[i]); got && d != "" {
				return d
			}
		}
		return ""
	}
	return difference(path, part, whole)
}

func encodeProjected(t testing.TB, obj any, p *Projection) any {
	t.Helper()
	e := Get(1)
	defer e.Put()
	e.SetProjected(0, obj, p)
	return decodeRecord(t, e.Bytes())[0]
}

func TestProjectionsTakeWhatIsRead(t *testing.T) {
	objects := []any{}
	for _, object := range samples() {
		objects = append(objects, object)
	}
	for seed := range int64(100) {
		f := oddFiller(seed)
		for _, object := range []any{&scalars{}, &containers{}, &converters{}, &inlined{}, &metav1.ObjectMeta{}} {
			f.Fill(object)
			objects = append(objects, object)
		}
	}
	for i, object := range objects {
		whole := encodeObject(t, object)
		for seed := range uint64(20) {
			p := randomProjection(rand.New(rand.NewPCG(uint64(i), seed)), whole)
			if d := lost(fmt.Sprintf("%T", object), encodeProjected(t, object, p), whole, p); d != "" {
				t.Fatalf("seed %d: %s", seed, d)
			}
		}
	}
}

func TestProjectionsAreRead(t *testing.T) {
	p, err := ParseProjection([]byte(`{"fields": {"b": true, "a": {"elements": {"nonempty": true}}, "c": {}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.names, []string{"a", "b", "c"}) || p.listed || p.fields[1] != nil {
		t.Errorf("%+v", p)
	}
	if a, c := p.fields[0], p.fields[2]; !a.listed || !a.elements.nonempty || a.nonempty || c == nil || len(c.names) > 0 {
		t.Errorf("a %+v, c %+v", a, c)
	}
	if whole, err := ParseProjection([]byte("true")); whole != nil || err != nil {
		t.Errorf("%v, %v", whole, err)
	}
	for _, bad := range []string{"", "7", `{"fields": {"a": 7}}`, `{"elements": []}`} {
		if _, err := ParseProjection([]byte(bad)); err == nil {
			t.Errorf("%s is no projection", bad)
		}
	}
}

// What is left out is neither written nor looked at, and nothing is allocated.
func TestProjectionsLeaveOutTheRest(t *testing.T) {
	p, err := ParseProjection([]byte(`{"nonempty": true, "fields": {"metadata": {"fields": {"labels": {"fields": {"app": true}}}}, "spec": {"fields": {"containers": {"elements": {"fields": {"image": true}}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, object := range map[string]any{"Pod": pod(), "custom resource": customResource()} {
		whole := len(fmt.Sprint(encodeObject(t, object)))
		if part := len(fmt.Sprint(encodeProjected(t, object, p))); part > whole/4 {
			t.Errorf("%s: %d characters of %d", name, part, whole)
		}
		if raceEnabled {
			continue
		}
		e := Get(1)
		run := func() {
			e.Reset(1)
			e.SetProjected(0, object, p)
			e.Bytes()
		}
		run()
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		e.Put()
	}
	var none *unstructured.Unstructured
	if got := encodeProjected(t, none, p); got != nil {
		t.Errorf("nil is %v", got)
	}
}

func BenchmarkProjected(b *testing.B) {
	p, err := ParseProjection([]byte(`{"fields": {"spec": {"fields": {"containers": {"elements": {"fields": {"image": true, "securityContext": {"fields": {"privileged": true}}}}}, "hostNetwork": true}}}}`))
	if err != nil {
		b.Fatal(err)
	}
	object := pod()
	e := Get(1)
	defer e.Put()
	for b.Loop() {
		e.Reset(1)
		e.SetProjected(0, object, p)
		e.Bytes()
	}
}
