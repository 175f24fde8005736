package manifests

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
)

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Every directory is taken by both plugins or by none, with the same error, the same counts and the same decisions. What the loader takes,
// the core compiles.
func TestDirectories(t *testing.T) {
	enable(t)
	taken := 0
	for _, name := range slices.Sorted(maps.Keys(directories)) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "manifests")
			if files := directories[name]; files != nil {
				for name, content := range files {
					put(t, dir, name, &content)
				}
			}
			p := newPair(t, dir)
			if want, got := errorText(p.upErr), errorText(p.celgateEr); want != got {
				t.Fatalf("upstream says %q\ncelgate %q", want, got)
			}
			if want, got := p.upstream.counters(t), p.ours.counters(t); want != got {
				t.Errorf("upstream counts %+v, celgate %+v", want, got)
			}
			if p.upErr != nil {
				t.Logf("refused: %v", p.upErr)
				return
			}
			taken++
			outcomes, difference := p.outcomes(t)
			if difference != "" {
				t.Error(difference)
			}
			if denied := strings.Contains(outcomes["policy"].Status, "static.k8s.io"); !denied {
				t.Errorf("nothing is denied: %s", outcomes["policy"])
			}
		})
	}
	if refused := len(directories) - taken; taken < 20 || refused < 40 {
		t.Errorf("%d directories are taken, %d refused", taken, refused)
	}
}

// Without the feature, a directory is refused.
func TestFeatureOff(t *testing.T) {
	featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.ManifestBasedAdmissionControlConfig, false)
	p := newPair(t, t.TempDir())
	if p.upErr == nil || errorText(p.upErr) != errorText(p.celgateEr) {
		t.Errorf("upstream says %q\ncelgate %q", errorText(p.upErr), errorText(p.celgateEr))
	}
}

// change is what happens to a directory.
type change struct {
	what string
	do   func(t *testing.T, dir string)
	// reloaded and refused are what upstream must say of it; neither means that it is not noticed.
	reloaded, refused bool
	// by denies the policies' creation afterwards, "" if it is allowed.
	by string
}

func write(name, content string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { put(t, dir, name, &content) }
}

func remove(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { put(t, dir, name, nil) }
}

var changes = []change{
	{"another message", write("a.yaml", strings.Replace(both(a), "denied by", "refused by", 1)), true, false, "refused by a"},
	{"broken", write("a.yaml", "{"), false, true, "refused by a"},
	{"invalid", write("a.yaml", policy(a, "  - {expression: \"1\"}\n")), false, true, "refused by a"},
	{"mended", write("a.yaml", both(a)), true, false, "denied by a"},
	{"a second policy", write("b.yaml", both(b)), true, false, "denied by a"},
	{"the first is gone", remove("a.yaml"), true, false, "denied by b"},
	{"no manifest", write("README", "{"), false, false, "denied by b"},
	{"another name of the file", func(t *testing.T, dir string) {
		if err := os.Rename(filepath.Join(dir, "b.yaml"), filepath.Join(dir, "c.yaml")); err != nil {
			t.Fatal(err)
		}
	}, false, false, "denied by b"},
	{"the same again", write("c.yaml", both(b)), false, false, "denied by b"},
	{"a comment", write("c.yaml", "# a comment\n"+both(b)), true, false, "denied by b"},
	{"unbound", write("c.yaml", policy(b)), true, false, ""},
	{"a binding of no policy", write("d.yaml", binding(a, a)), false, true, ""},
	{"its policy", write("a.yaml", policy(a)), true, false, "denied by a"},
	{"a duplicate", write("e.yaml", policy(a)), false, true, "denied by a"},
	{"no longer", remove("e.yaml"), false, false, "denied by a"},
	{"paramKind", write("a.yaml", policy(a, "  paramKind: {apiVersion: v1, kind: ConfigMap}\n")), false, true, "denied by a"},
	{"a list instead", write("a.yaml", list("v1", "List", policy(a))), true, false, "denied by a"},
	{"no directory", func(t *testing.T, dir string) {
		if err := os.Rename(dir, dir+".gone"); err != nil {
			t.Fatal(err)
		}
	}, false, true, "denied by a"},
	{"there again", func(t *testing.T, dir string) {
		if err := os.Rename(dir+".gone", dir); err != nil {
			t.Fatal(err)
		}
	}, false, false, "denied by a"},
	{"all gone", func(t *testing.T, dir string) {
		// The directory is replaced as a whole, as its files would be a binding without its policy for a moment.
		if err := os.Rename(dir, dir+".old"); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}, true, false, ""},
	{"something again", write("z.json", strings.ReplaceAll(list("v1", "List", policy(b), binding(b, b)), "\n\n", "\n")), true, false, "denied by b"},
}

// A directory that changes is taken up or refused by both plugins alike, and decides alike afterwards.
func TestReloads(t *testing.T) {
	enable(t)
	dir := filepath.Join(t.TempDir(), "manifests")
	first := both(a)
	put(t, dir, "a.yaml", &first)
	p := newPair(t, dir)
	if p.upErr != nil || p.celgateEr != nil {
		t.Fatal(p.upErr, p.celgateEr)
	}
	servers := []*server{p.upstream, p.ours}
	for _, change := range changes {
		var before [2]counters
		for i, server := range servers {
			before[i] = server.counters(t)
		}
		change.do(t, dir)
		settled := func() bool {
			for i, server := range servers {
				now := server.counters(t)
				if now.successes-before[i].successes < number(change.reloaded) || now.failures-before[i].failures < number(change.refused) {
					return false
				}
			}
			return true
		}
		for deadline := time.Now().Add(20 * time.Second); !settled() && time.Now().Before(deadline); {
			time.Sleep(interval)
		}
		// Time to notice what should not be noticed.
		time.Sleep(10 * interval)
		for i, server := range servers {
			now := server.counters(t)
			if reloaded := now.successes - before[i].successes; reloaded != number(change.reloaded) {
				t.Errorf("%s: %s reloads %d times", change.what, server.id, reloaded)
			}
			if refused := now.failures > before[i].failures; refused && !change.refused && !transient(change.what) || !refused && change.refused {
				t.Errorf("%s: %s refuses: %v", change.what, server.id, refused)
			}
		}
		outcomes, difference := p.outcomes(t)
		if difference != "" {
			t.Errorf("%s: %s", change.what, difference)
		}
		status := outcomes["policy"].Status
		if change.by == "" && status != "" || !strings.Contains(status, change.by) {
			t.Errorf("%s: the outcome is %s", change.what, outcomes["policy"])
		}
	}
}

// transient says that a change may be seen half done, or follows one that fails until it is seen.
func transient(what string) bool {
	return what == "mended" || what == "no longer" || what == "its policy" || what == "a list instead" || what == "there again" || what == "all gone"
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
